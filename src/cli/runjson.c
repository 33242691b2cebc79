/* SPDX-License-Identifier: Apache-2.0 */
/* Reading run.json: the few keys that naming and listing runs need. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/file.h"
#include "runjson.h"

#define RUNJSON_MAX (16u << 20)

static int64_t seconds_to_ns(double seconds)
{
	return seconds > -9e9 && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
}

/* "2026-03-01T12:30:00.25Z" */
static int64_t parse_moment(const char *text)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ns;

	if (!rest)
		return 0;
	ns = (int64_t)timegm(&tm) * 1000000000;
	if (*rest == '.')
		ns += (int64_t)(strtod(rest, NULL) * 1e9);
	return ns;
}

static int64_t moment_of(const json_t *value)
{
	if (json_is_string(value))
		return parse_moment(json_string_value(value));
	return json_is_number(value) ? seconds_to_ns(json_number_value(value)) : 0;
}

static int64_t count_of(const json_t *value)
{
	return json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
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

	if (json_is_string(value))
		return strdup(json_string_value(value));
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

/* The recorder holds the lock of the folder as long as it lives. */
static bool is_recording(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

static void take(const json_t *root, const char *folder, struct wti_run *run)
{
	const char *status = json_string_value(json_object_get(root, "status"));
	const json_t *duration = json_object_get(root, "duration");

	snprintf(run->status, sizeof(run->status), "%s", status);
	if (!strcmp(status, "running") && !is_recording(folder))
		snprintf(run->status, sizeof(run->status), "abandoned");
	run->has_json = true;
	run->start_ns = moment_of(json_object_get(root, "start"));
	if (json_is_number(duration))
		run->duration_ns = seconds_to_ns(json_number_value(duration));
	run->events = count_of(json_object_get(root, "events"));
	run->lost = count_of(json_object_get(root, "lost"));
	run->command = command_of(json_object_get(root, "command"));
}

void wti_runjson_load(const char *folder, struct wti_run *run)
{
	struct wti_buf text;
	json_t *root = NULL;
	char *path;

	if (asprintf(&path, "%s/run.json", folder) < 0)
		return;
	wti_buf_init(&text, RUNJSON_MAX);
	if (!wti_file_read(path, RUNJSON_MAX, &text, NULL))
		root = json_loadb((const char *)text.data, text.bytes, 0, NULL);
	if (json_is_string(json_object_get(root, "status")) && json_object_get(root, "command"))
		take(root, folder, run);
	json_decref(root);
	wti_buf_release(&text);
	free(path);
}
