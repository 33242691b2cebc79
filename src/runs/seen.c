/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what run.json says of the folders of a run, and which runs can be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "seen.h"
#include "runjson.h"

#define ROOTS 5

struct folders {
	struct wti_root roots[ROOTS];
	char *memory[ROOTS];
	size_t count;
	bool failed; /* memory ran out */
};

/* ---- Folders that have a name ---------------------------------------------------------------- */

static bool is_of_system(const char *path)
{
	static const char *const folders[] = {"/usr/", "/bin/", "/sbin/", "/opt/", "/lib"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return false;
}

static void add_root(struct folders *folders, const char *variable, char *path)
{
	bool is_new = path && *path == '/' && path[1];

	for (size_t i = 0; is_new && i < folders->count; i++)
		is_new = strcmp(folders->roots[i].path, path) != 0;
	if (!is_new || folders->count == ROOTS) {
		free(path);
		return;
	}
	folders->memory[folders->count] = path;
	folders->roots[folders->count++] = (struct wti_root){path, variable};
}

static char *copy(struct folders *folders, const char *text)
{
	char *made = strdup(text);

	folders->failed |= !made;
	return made;
}

/* The folder of a file, seen from `directory`; NULL if it is the system's. */
static char *folder_of(struct folders *folders, const char *file, const char *directory)
{
	char *path = NULL, *slash;

	if (*file == '/')
		path = copy(folders, file);
	else if (!directory)
		return NULL;
	else if (asprintf(&path, "%s/%s", directory, file) < 0) {
		folders->failed = true;
		return NULL;
	}
	slash = path ? strrchr(path, '/') : NULL;
	if (!slash || is_of_system(path)) {
		free(path);
		return NULL;
	}
	*slash = 0;
	return path;
}

/* The program's own folder: of its executable, or of the script that an interpreter runs. */
static void add_program(struct folders *folders, const struct wti_doc *root, const char *directory)
{
	const struct wti_doc *command = wti_doc_get(root, "command");
	const char *executable = wti_doc_text(wti_doc_get(root, "executable"), "path");

	if (executable)
		add_root(folders, "$PROGRAM", folder_of(folders, executable, directory));
	for (const struct wti_doc *word = command && command->first ? command->first->next : NULL;
	     word; word = word->next) {
		if (word->type != WTI_DOC_STRING || *word->string.data == '-')
			continue;
		if (strchr(word->string.data, '/'))
			add_root(folders, "$SCRIPT",
				 folder_of(folders, word->string.data, directory));
		break;
	}
}

static void add_roots(struct folders *folders, const struct wti_doc *root, const char *user_home)
{
	const char *directory = wti_doc_text(root, "directory");

	if (directory)
		add_root(folders, "$CWD", copy(folders, directory));
	add_program(folders, root, directory);
	if (user_home)
		add_root(folders, "$HOME", copy(folders, user_home));
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int look(const struct wti_front *front, struct wti_seen_run *seen,
		const struct folders *folders, struct wt_result *result, struct wt_err *err)
{
	struct wti_effects_options options = {.roots = folders->roots,
					      .root_count = folders->count,
					      .ret_effects = &seen->effects,
					      .place = wti_finder_place,
					      .opaque = seen->finder};
	int r;

	wti_front_progress(front, 0);
	r = wt_inspect(wt_inspector_by_name("effects"), seen->opened.trace, NULL, &options, result,
		       front->progress, front->cookie, err);
	wti_front_progress(front, WTI_PROGRESS_OVER);
	if (!r && seen->effects.left_out_count)
		wt_result_note(result, "'%s' uses more things than can be kept: %llu were left out",
			       seen->opened.run.name,
			       (unsigned long long)seen->effects.left_out_count);
	if (!r && seen->effects.order_is_cut)
		wt_result_note(result, "'%s' is too long for its order to be compared as a whole",
			       seen->opened.run.name);
	return r;
}

int wti_seen_open(const struct wti_front *front, const char *word, struct wti_seen_run *ret_seen,
		  struct wt_result *result, struct wt_err *err)
{
	struct wti_seen_run seen = {.is_whole = true};
	struct folders folders = {.count = 0};
	const char *expression;
	struct wti_doc *root = NULL;
	int r = wti_open(front, word, &seen.opened, err);

	if (r)
		return r;
	seen.finder = wti_finder_new();
	if (seen.opened.run.is_folder)
		r = wti_runjson_read(seen.opened.run.path, &root, err);
	add_roots(&folders, root, front->user_home);
	expression = wti_doc_text(wti_doc_get(root, "syscalls"), "expression");
	seen.recorded = strdup(expression ? expression : "all");
	wti_doc_free(root);
	if (!r && (folders.failed || !seen.recorded || !seen.finder))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : look(front, &seen, &folders, result, err);
	if (!r)
		wti_finder_note(seen.finder, result);
	for (size_t i = 0; i < folders.count; i++)
		free(folders.memory[i]);
	if (r) {
		wti_seen_close(&seen);
		return r;
	}
	if (wti_note_damage(&seen.opened, result) || seen.effects.lost_count)
		seen.is_whole = false;
	*ret_seen = seen;
	return 0;
}

void wti_seen_close(struct wti_seen_run *seen)
{
	wti_effects_release(&seen->effects);
	free(seen->recorded);
	wti_finder_free(seen->finder);
	wti_close(&seen->opened);
	*seen = (struct wti_seen_run){0};
}

int wti_seen_fit(const struct wti_seen_run *seen, struct wt_err *err)
{
	const char *name = seen->opened.run.name;

	if (!seen->effects.has_tasks || !seen->effects.syscall_count)
		return wti_err(
			err, WT_E_FORMAT,
			"'%s' has no system calls: record it with `wheeltap record --syscalls`",
			name);
	if (seen->effects.lost_count)
		return wti_err(
			err, WT_E_FORMAT,
			"'%s' lost %llu events, so what it did not do is unknown: record it again",
			name, (unsigned long long)seen->effects.lost_count);
	if (!seen->is_whole)
		return wti_err(err, WT_E_FORMAT, "'%s' is damaged: record it again", name);
	if (!strcmp(seen->opened.run.status, "running"))
		return wti_err(err, WT_E_BUSY, "'%s' is still being recorded: wait for its end",
			       name);
	return 0;
}

bool wti_seen_doubt(const struct wti_seen_run *seen, struct wt_result *result)
{
	char why[512];

	if (!wti_unseen(&seen->effects.unseen, WTI_ABOUT_ALL & ~WTI_ABOUT_PLACES, why, sizeof(why)))
		return false;
	wt_result_note(result, "'%s' may have done more than was seen: %s", seen->opened.run.name,
		       why);
	return true;
}

/* ---- Several -------------------------------------------------------------------------------- */

void wti_seen_close_all(struct wti_seen_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wti_seen_close(&runs[i]);
	free(runs);
}

int wti_seen_open_all(const struct wti_front *front, const char *const *words, size_t count,
		      struct wti_seen_run **ret_runs, struct wt_result *result, struct wt_err *err)
{
	struct wti_seen_run *runs = calloc(count, sizeof(*runs));
	size_t opened = 0;
	int r = runs ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");

	while (!r && opened < count) {
		r = wti_seen_open(front, words[opened], &runs[opened], result, err);
		opened += !r;
		r = r ? r : wti_seen_fit(&runs[opened - 1], err);
		if (!r && strcmp(runs[opened - 1].recorded, runs[0].recorded))
			r = wti_err(err, WT_E_ARG,
				    "'%s' was recorded with --syscalls=%s and '%s' with %s: record "
				    "all in the same way",
				    runs[0].opened.run.name, runs[0].recorded,
				    runs[opened - 1].opened.run.name, runs[opened - 1].recorded);
	}
	if (r) {
		wti_seen_close_all(runs, opened);
		return r;
	}
	*ret_runs = runs;
	return 0;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static bool locate(const void *opaque, uint32_t stack, char *ret_file, size_t file_bytes,
		   uint32_t *ret_line)
{
	const struct wti_seen_run *seen = opaque;
	bool is_site = stack & WTI_STACK_IS_SITE;
	const struct wt_reader *reader = wt_trace_stream(
		seen->opened.trace, is_site ? seen->effects.call_stream : seen->effects.stream);
	const struct wt_site *site;
	struct wt_text file;

	if (!reader)
		return false;
	if (!is_site)
		return wti_finder_locate(seen->finder, reader, stack, ret_file, file_bytes,
					 ret_line);
	site = wt_reader_site(reader, stack & ~WTI_STACK_IS_SITE);
	if (!site)
		return false;
	file = wt_reader_string(reader, site->file);
	snprintf(ret_file, file_bytes, "%.*s", (int)file.bytes, file.data);
	*ret_line = site->line;
	return true;
}

struct wti_locator wti_seen_locator(const struct wti_seen_run *seen)
{
	return (struct wti_locator){locate, seen};
}
