/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ended. A judgement of a run that crashed is one of its beginning, which a reader has to
 * know before anything else. run.json has the status; the exception is only on the console, which
 * the run folder has a copy of: of that the type and the line are taken, not the message.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "ending.h"
#include "inspect/core/library.h"
#include "runjson.h"
#include "trace/run_folder.h"

/* The last of it may be the ends of two files (collect/redirect.c), of which one has no error. */
enum { TAIL_BYTES = 1 << 20, EXIT_OF_EXCEPTION = 1, SIGNALS = 128 };

/* ---- The exception -------------------------------------------------------------------------- */

struct thrown {
	char type[96]; /* empty: none is known */
	char file[512];
	long line;
	long rank;      /* that the line was printed for; -1: not known */
	bool is_own;    /* the file is the program's, not a library's */
	bool is_string; /* it may be: what was given to `python -c` */
	bool is_script; /* it lies in a folder `bin`, and has called a library */
};

/* The end of console.log, to be freed; NULL: there is none. */
static char *read_tail(const char *folder)
{
	char *path = NULL, *text = NULL;
	struct stat info;
	ssize_t bytes = -1;
	int fd;

	if (asprintf(&path, "%s/" WTI_RUN_CONSOLE, folder) < 0)
		return NULL;
	fd = wti_open_regular(path, NULL);
	free(path);
	if (fd < 0)
		return NULL;
	text = fstat(fd, &info) ? NULL : malloc(TAIL_BYTES + 1);
	if (text)
		bytes = wti_pread_all(
			fd, text, TAIL_BYTES,
			info.st_size > TAIL_BYTES ? (uint64_t)info.st_size - TAIL_BYTES : 0);
	if (text)
		text[bytes > 0 ? bytes : 0] = '\0';
	close(fd);
	return text;
}

/* The "/bin/" of a script directly in such a folder; NULL: it lies in another. */
static const char *bin_of(const char *script)
{
	const char *bin = NULL;

	for (const char *next = script; (next = strstr(next, "/bin/"));)
		bin = next++;
	return bin && !strchr(bin + 5, '/') ? bin : NULL;
}

/* `v/bin/torchrun`, which calls `v/lib/python3.12/site-packages/torch/...`: a script that belongs
 * to an environment, also where that lies in the folder of the program. */
static bool is_of_environment(const char *script, const char *library)
{
	const char *bin = bin_of(script);

	return bin && !strncmp(script, library, (size_t)(bin - script)) &&
	       !strncmp(library + (bin - script), "/lib", 4);
}

/* `  File "train.py", line 12, in main`: the innermost of the program's own counts. */
static bool take_frame(struct thrown *thrown, const char *line)
{
	const char *begin = strstr(line, "File \""), *end;
	char file[sizeof(thrown->file)];
	bool is_own;
	int bytes;

	if (!begin || line[strspn(line, " |+")] != 'F')
		return false;
	begin += strlen("File \"");
	end = strstr(begin, "\", line ");
	if (!end)
		return false;
	bytes = (int)(end - begin);
	snprintf(file, sizeof(file), "%.*s", bytes, begin);
	is_own = !wti_is_library(file);
	if (thrown->is_string && !is_own && !wti_is_string(file))
		return true;
	if (thrown->is_own && !is_own && !is_of_environment(thrown->file, begin)) {
		thrown->is_script |= bin_of(thrown->file) != NULL;
		return true;
	}
	thrown->is_script = false;
	memcpy(thrown->file, file, sizeof(file));
	thrown->line = strtol(end + strlen("\", line "), NULL, 10);
	thrown->is_own = is_own;
	thrown->is_string = wti_is_string(file);
	return true;
}

/* `ValueError: ...` or `torch.cuda.OutOfMemoryError`, at the margin. */
static bool take_type(struct thrown *thrown, const char *line)
{
	size_t bytes = 0;

	while (isalnum((unsigned char)line[bytes]) || line[bytes] == '_' || line[bytes] == '.')
		bytes++;
	if (!bytes || (line[bytes] && line[bytes] != ':') || !isalpha((unsigned char)line[0]) ||
	    bytes >= sizeof(thrown->type))
		return false;
	snprintf(thrown->type, sizeof(thrown->type), "%.*s", (int)bytes, line);
	return true;
}

/* The rank that torchrun says failed first. */
struct root {
	long rank; /* -1: it says nothing */
	long code; /* its exit status; below 0: a signal */
};

/* `  rank      : 1 (local_rank: 1)` */
static bool read_number(const char *text, const char *key, long *ret)
{
	const char *at = strstr(text, key), *end = at ? strpbrk(at + 1, ":\n") : NULL;

	if (!end || *end != ':')
		return false;
	*ret = strtol(end + 1, NULL, 10);
	return true;
}

static struct root root_of(const char *text)
{
	struct root root = {.rank = -1};
	const char *at = NULL;

	for (const char *next = text; (next = strstr(next, "Root Cause (first observed failure)"));)
		at = next++;
	if (at && read_number(at, "\n  rank ", &root.rank))
		read_number(at, "\n  exitcode ", &root.code);
	return root;
}

/* `[rank1]: `: which torch puts before each line of a traceback; -1: it is not there. */
static long take_rank(char **line)
{
	char *end = strncmp(*line, "[rank", 5) ? NULL : strstr(*line, "]: ");
	long rank = end ? strtol(*line + 5, NULL, 10) : -1;

	if (end)
		*line = end + 3;
	return rank;
}

/* What starts a program and fails because that did, which has its own traceback further up. Its
 * script need not lie beside its library: `~/.local/bin/torchrun`, `/usr/bin/torchrun`. */
static bool is_launcher(const struct thrown *thrown)
{
	static const char *const types[] = {"ChildFailedError", "CalledProcessError"};
	size_t bytes = strlen(thrown->type);

	if (thrown->is_own && !thrown->is_script)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (bytes >= strlen(types[i]) &&
		    !strcmp(thrown->type + bytes - strlen(types[i]), types[i]))
			return true;
	return false;
}

/* The last traceback of what a console showed, or that of the rank which failed first. */
static void find_thrown(struct thrown *ret, char *text, long root)
{
	struct thrown open = {0};
	bool is_open = false;
	long rank;

	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		rank = take_rank(&line);
		if (rank >= 0 && root >= 0 && rank != root)
			continue;
		if (!strncmp(line, "Traceback (most recent", 22)) {
			open = (struct thrown){.rank = rank};
			is_open = true;
		} else if (is_open && !take_frame(&open, line) && take_type(&open, line)) {
			if (!*ret->type || !is_launcher(&open))
				*ret = open;
			is_open = false;
		}
	}
}

/* Where standard error went if console.log cannot have any of it; NULL: it can. */
static const char *unkept_errors(const struct wti_doc *root)
{
	const struct wti_doc *list = wti_doc_get(wti_doc_get(root, "console"), "redirected");

	for (const struct wti_doc *one = list ? list->first : NULL; one; one = one->next) {
		const char *stream = wti_doc_text(one, "stream");

		if (stream && !strcmp(stream, "stderr") && wti_doc_count(one, "kept_bytes") < 0)
			return wti_doc_text(one, "to");
	}
	return NULL;
}

/* It left no traceback: a signal, or an exit without an exception. */
static void add_root(struct wti_buf *out, const struct root *root)
{
	bool is_signal = root->code < 0 && root->code > -SIGNALS;
	const char *name = is_signal ? strsignal((int)-root->code) : NULL;

	if (name)
		wti_textf(out, ", rank %ld ended by signal %ld (%s)", root->rank, -root->code,
			  name);
	else
		wti_textf(out, ", rank %ld ended with exit status %ld", root->rank, root->code);
}

static void add_thrown(struct wti_buf *out, const struct wti_run *run, const struct wti_doc *root)
{
	size_t bytes = run->directory ? strlen(run->directory) : 0;
	struct root first = {.rank = -1};
	struct thrown thrown = {0};
	char *text = read_tail(run->path);
	const char *file;

	if (text) {
		first = root_of(text);
		find_thrown(&thrown, text, first.rank);
	}
	free(text);
	if (!*thrown.type && unkept_errors(root)) {
		wti_textf(out, ", error output went to '%s' and was not recorded",
			  unkept_errors(root));
		return;
	}
	if (!*thrown.type)
		return;
	if (is_launcher(&thrown) && first.rank >= 0 && first.code) {
		add_root(out, &first);
		return;
	}
	file = thrown.file;
	if (bytes && !strncmp(file, run->directory, bytes) && file[bytes] == '/')
		file += bytes + 1;
	wti_textf(out, ", %s", thrown.type);
	if (thrown.rank >= 0)
		wti_textf(out, " of rank %ld", thrown.rank);
	if (*file)
		wti_textf(out, " at %s:%ld", file, thrown.line);
}

/* ---- The sentence --------------------------------------------------------------------------- */

/* Every run is in step 0 from its beginning on, also one that never trains. */
static void add_step(struct wti_buf *out, int64_t step, uint64_t steps)
{
	if (step > 0 || (!step && steps))
		wti_textf(out, " in step %lld", (long long)step);
	else if (!step)
		wti_buf_text(out, " before its first step had ended");
}

bool wti_ended_early(const char *status)
{
	static const char *const early[] = {"failed", "killed", "interrupted", "abandoned"};

	for (size_t i = 0; i < sizeof(early) / sizeof(*early); i++)
		if (!strcmp(status, early[i]))
			return true;
	return false;
}

static const char rest[] = "; what would have come after that is not measured\n";

/* "exit status 1, ValueError at train.py:12"; false: it is not known. */
static bool add_status(struct wti_buf *out, const struct wti_run *run, const struct wti_doc *root)
{
	int64_t exit_status = wti_doc_count(root, "exit_status");

	if (exit_status < 0)
		return false;
	wti_textf(out, "exit status %lld", (long long)exit_status);
	if (exit_status == EXIT_OF_EXCEPTION)
		add_thrown(out, run, root);
	return true;
}

/* "signal 9 (Killed)"; false: there was none. */
static bool add_signal(struct wti_buf *out, const struct wti_doc *root)
{
	int64_t number = wti_doc_count(root, "signal");
	const char *name = number > 0 ? strsignal((int)number) : NULL;

	if (name)
		wti_textf(out, "signal %lld (%s)", (long long)number, name);
	return name;
}

static void add_failed(struct wti_buf *out, const struct wti_run *run, const struct wti_doc *root,
		       int64_t step, uint64_t steps)
{
	wti_buf_text(out, "run failed");
	add_step(out, step, steps);
	if (wti_doc_count(root, "exit_status") >= 0)
		wti_buf_text(out, ": ");
	add_status(out, run, root);
	wti_buf_text(out, rest);
}

static void add_killed(struct wti_buf *out, const char *how, const struct wti_doc *root,
		       int64_t step, uint64_t steps)
{
	wti_textf(out, "run was %s", how);
	add_step(out, step, steps);
	if (wti_doc_count(root, "signal") > 0)
		wti_buf_text(out, " by ");
	add_signal(out, root);
	wti_buf_text(out, rest);
}

bool wti_ending_cause(struct wti_buf *out, const struct wti_run *run)
{
	struct wti_doc *root = NULL;
	bool is_known = false;

	if (run->has_json && !wti_runjson_read(run->path, &root, NULL) && root) {
		if (!strcmp(run->status, "failed"))
			is_known = add_status(out, run, root);
		else if (wti_ended_early(run->status))
			is_known = add_signal(out, root);
	}
	wti_doc_free(root);
	return is_known;
}

static void add_finished(struct wti_buf *out, uint64_t steps)
{
	if (steps)
		wti_textf(out, "run finished after %llu step%s\n", (unsigned long long)steps,
			  steps == 1 ? "" : "s");
	else
		wti_buf_text(out, "run finished; no training step was recorded\n");
}

/* No Python of it was recorded: why. */
static void add_unrecorded(struct wti_buf *out, const struct wti_doc *root)
{
	const struct wti_doc *python = wti_doc_get(root, "python");
	const char *why = wti_doc_text(python, "why");

	if (python && !wti_doc_count(python, "joined") && why)
		wti_textf(out, "its Python was not recorded: %s\n", why);
}

void wti_ending_words(struct wti_buf *out, const struct wti_run *run)
{
	struct wt_err err = {.offset = -1};
	struct wti_doc *root = NULL;
	int64_t number = -1;
	bool is_failed = !strcmp(run->status, "failed");

	if (!wti_runjson_read(run->path, &root, &err) && root)
		number = wti_doc_count(root, is_failed ? "exit_status" : "signal");
	wti_textf(out, is_failed ? "%s" : "was %s", run->status);
	if (is_failed && number >= 0)
		wti_textf(out, " with exit status %lld", (long long)number);
	else if (number > 0)
		wti_textf(out, " by signal %lld (%s)", (long long)number, strsignal((int)number));
	wti_doc_free(root);
}

/* What is missing may be whole steps, or some of the events of steps that are there. */
static void add_damaged(struct wti_buf *out, uint64_t steps)
{
	wti_buf_text(out, "its trace is damaged");
	if (steps)
		wti_textf(out, ": events of %llu step%s could be read, not all of them",
			  (unsigned long long)steps, steps == 1 ? "" : "s");
	wti_buf_text(out, "; what is missing is not judged\n");
}

void wti_ending_text(struct wti_buf *out, const struct wti_run *run, int64_t step, uint64_t steps,
		     bool is_damaged)
{
	struct wt_err err = {.offset = -1};
	struct wti_doc *root = NULL;

	if (!run->has_json || wti_runjson_read(run->path, &root, &err) || !root) {
		wti_buf_text(out, "how the run ended is unknown: it has no run.json\n");
		return;
	}
	if (!strcmp(run->status, "finished") && is_damaged)
		wti_buf_text(out, "run finished\n");
	else if (!strcmp(run->status, "finished"))
		add_finished(out, steps);
	else if (!strcmp(run->status, "failed"))
		add_failed(out, run, root, step, steps);
	else if (!strcmp(run->status, "killed") || !strcmp(run->status, "interrupted"))
		add_killed(out, run->status, root, step, steps);
	else if (run->elsewhere[0])
		wti_textf(out,
			  "run ended, or is still being recorded, on '%s': judged up to step "
			  "%lld\n",
			  run->elsewhere, (long long)(step > 0 ? step : 0));
	else if (!strcmp(run->status, "running"))
		wti_textf(out, "run is still being recorded: judged up to step %lld\n",
			  (long long)(step > 0 ? step : 0));
	else
		wti_buf_text(out, "the recorder ended before the run did; what came after that is "
				  "not measured\n");
	if (is_damaged)
		add_damaged(out, steps);
	add_unrecorded(out, root);
	wti_doc_free(root);
}
