/* SPDX-License-Identifier: Apache-2.0 */
/* Reading run.json: the few keys that naming and listing runs need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "trace/run_folder.h"
#include "runjson.h"

#define RUNJSON_MAX (16u << 20)

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					   "0123456789_@%+=:,./-")];
}

void wti_runjson_word(struct wti_buf *out, const char *word)
{
	if (is_plain(word)) {
		wti_buf_text(out, word);
		return;
	}
	wti_buf_byte(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			wti_buf_text(out, "'\\''");
		else
			wti_buf_byte(out, (uint8_t)*word);
	}
	wti_buf_byte(out, '\'');
}

char *wti_runjson_command(const struct wti_doc *value)
{
	struct wti_buf words;
	char *text;

	wti_buf_init(&words, RUNJSON_MAX);
	for (const struct wti_doc *word = value ? value->first : NULL; word; word = word->next)
		if (word->type == WTI_DOC_STRING) {
			if (words.bytes)
				wti_buf_byte(&words, ' ');
			wti_runjson_word(&words, word->string.data);
		}
	text = wti_buf_status(&words) ? NULL : strdup(wti_buf_cstr(&words));
	wti_buf_release(&words);
	return text;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Locks are those of one kernel. A boot that is not this one ended long ago if the host has our
 * name, and may still last if it has another; without one, as in older runs, the name decides.
 */
const char *wti_runjson_elsewhere(const struct wti_doc *root)
{
	const struct wti_doc *host = wti_doc_get(root, "host");
	const char *name = wti_doc_text(host, "name"), *boot = wti_doc_text(host, "boot");
	char own_name[65] = "", own_boot[WTI_BOOT_ID_BYTES];

	gethostname(own_name, sizeof(own_name) - 1);
	wti_boot_id(own_boot);
	if (!name || !strcmp(name, own_name) || (boot && !strcmp(boot, own_boot)))
		return NULL;
	return name;
}

static int take(const struct wti_doc *root, const char *folder, struct wti_run *run,
		struct wt_err *err)
{
	const char *directory = wti_doc_text(root, "directory");
	const char *label = wti_doc_text(root, "name");
	int64_t start_ns = wti_doc_count(root, "start_ns");
	const char *elsewhere;
	bool over;

	snprintf(run->status, sizeof(run->status), "%s", wti_doc_text(root, "status"));
	over = strcmp(run->status, "running") != 0;
	run->has_json = true;
	run->start_ns = start_ns > 0 ? start_ns : 0;
	run->command = wti_runjson_command(wti_doc_get(root, "command"));
	run->directory = directory ? strdup(directory) : NULL;
	run->label = label ? strdup(label) : NULL;
	if (!run->command || (directory && !run->directory) || (label && !run->label))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	run->some_calls = wti_doc_text(wti_doc_get(root, "syscalls"), "expression");
	if (over) { /* what the recorder has counted */
		run->duration_ns = wti_doc_count(root, "duration_ns");
		run->events = wti_doc_count(root, "events");
		run->lost = wti_doc_count(root, "lost");
	} else if (wti_run_is_recording(folder)) {
		run->duration_ns = run->start_ns ? now_ns() - run->start_ns : -1;
	} else if ((elsewhere = wti_runjson_elsewhere(root))) {
		snprintf(run->elsewhere, sizeof(run->elsewhere), "%.64s", elsewhere);
	} else {
		snprintf(run->status, sizeof(run->status), "abandoned");
	}
	return 0;
}

/* `schema` distinguishes ours from any other program's. */
static bool is_ours(const struct wti_doc *root)
{
	const struct wti_doc *command = wti_doc_get(root, "command");

	return wti_doc_count(root, "schema") >= 0 && wti_doc_text(root, "status") && command &&
	       command->type == WTI_DOC_ARRAY;
}

static int parse(const char *path, const struct wti_buf *text, struct wti_doc **ret_root,
		 struct wt_err *err)
{
	struct wti_doc *root;
	int r = wti_json_parse(path, (const char *)text->data, text->bytes, &root, err);

	if (r)
		return r;
	if (!is_ours(root)) {
		wti_doc_free(root);
		return wti_err(err, WT_E_FORMAT, "'%s' is damaged, or was not written by wheeltap",
			       path);
	}
	*ret_root = root;
	return 0;
}

int wti_runjson_read(const char *folder, struct wti_doc **ret_root, struct wt_err *err)
{
	struct wti_buf text;
	char *path;
	int r;

	*ret_root = NULL;
	if (asprintf(&path, "%s/" WTI_RUN_JSON, folder) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_buf_init(&text, RUNJSON_MAX);
	r = wti_file_read(path, RUNJSON_MAX, &text, err);
	if (r == WT_E_MISSING) /* or a recorder has claimed the folder, and not described it yet */
		r = 0;
	else if (!r && (text.bytes || !wti_run_is_recording(folder)))
		r = parse(path, &text, ret_root, err);
	wti_buf_release(&text);
	free(path);
	return r;
}

static int64_t written_ns(const char *folder)
{
	struct stat st;
	char *path;
	bool is_there;

	if (asprintf(&path, "%s/" WTI_RUN_JSON, folder) < 0)
		return 0;
	is_there = !stat(path, &st);
	free(path);
	return is_there ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

int wti_runjson_load(const char *folder, struct wti_run *run, struct wt_err *err)
{
	struct wti_doc *root;
	struct wt_err damage = {.offset = -1};
	int r = wti_runjson_read(folder, &root, &damage);

	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	if (r)
		snprintf(run->json_damage, sizeof(run->json_damage), "%.255s", damage.message);
	r = 0;
	run->written_ns = written_ns(folder);
	if (root)
		r = take(root, folder, run, err);
	else if (!run->json_damage[0] && wti_run_is_recording(folder))
		snprintf(run->status, sizeof(run->status), "running");
	wti_doc_free(root);
	return r;
}
