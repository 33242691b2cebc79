/* SPDX-License-Identifier: Apache-2.0 */
/* Reading run.json: the few keys that naming and listing runs need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/file.h"
#include "collect/collect.h"
#include "runjson.h"

#define RUNJSON_MAX (16u << 20)

static int64_t count_of(const json_t *root, const char *key)
{
	const json_t *value = json_object_get(root, key);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (int64_t)json_integer_value(value)
		       : -1;
}

static bool is_plain(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					   "0123456789_@%+=:,./-")];
}

/* A word as a shell would take it. */
static void add_word(struct wti_buf *out, const char *word)
{
	if (out->bytes)
		wti_buf_byte(out, ' ');
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

static char *command_of(const json_t *value)
{
	struct wti_buf words;
	json_t *word;
	size_t i;
	char *text;

	wti_buf_init(&words, RUNJSON_MAX);
	json_array_foreach(value, i, word)
	{
		if (json_is_string(word))
			add_word(&words, json_string_value(word));
	}
	text = strdup(wti_buf_cstr(&words));
	wti_buf_release(&words);
	return text;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void take(const json_t *root, const char *folder, struct wti_run *run)
{
	int64_t start_ns = count_of(root, "start_ns");
	bool over;

	snprintf(run->status, sizeof(run->status), "%s",
		 json_string_value(json_object_get(root, "status")));
	over = strcmp(run->status, "running") != 0;
	run->has_json = true;
	run->start_ns = start_ns > 0 ? start_ns : 0;
	run->command = command_of(json_object_get(root, "command"));
	if (json_is_string(json_object_get(root, "directory")))
		run->directory = strdup(json_string_value(json_object_get(root, "directory")));
	run->some_calls =
		json_is_string(json_object_get(json_object_get(root, "syscalls"), "expression"));
	if (over) { /* what the recorder has counted */
		run->duration_ns = count_of(root, "duration_ns");
		run->events = count_of(root, "events");
		run->lost = count_of(root, "lost");
	} else if (wti_run_is_recording(folder)) {
		run->duration_ns = run->start_ns ? now_ns() - run->start_ns : -1;
	} else {
		snprintf(run->status, sizeof(run->status), "abandoned");
	}
}

/* `schema` tells ours from any other program's. */
static bool is_ours(const json_t *root)
{
	return json_is_integer(json_object_get(root, "schema")) &&
	       json_is_string(json_object_get(root, "status")) &&
	       json_is_array(json_object_get(root, "command"));
}

void wti_runjson_load(const char *folder, struct wti_run *run)
{
	struct wti_buf text;
	json_t *root = NULL;
	struct stat st;
	char *path;

	if (asprintf(&path, "%s/run.json", folder) < 0)
		return;
	wti_buf_init(&text, RUNJSON_MAX);
	if (!wti_file_read(path, RUNJSON_MAX, &text, NULL))
		root = json_loadb((const char *)text.data, text.bytes, 0, NULL);
	if (is_ours(root))
		take(root, folder, run);
	if (!stat(path, &st))
		run->written_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	json_decref(root);
	wti_buf_release(&text);
	free(path);
}
