/* SPDX-License-Identifier: Apache-2.0 */
/* Making the folder, refusing one that is in use, and what run.json says of a run that no program
 * made. */
#include "folder.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"

#define PATH_BYTES 4096
#define RUN_SCHEMA 1  /* of run.json, as the recorder writes it */
#define NAME_BYTES 32 /* more than the longest name of a file in the folder */

int wti_sim_folder_make(const char *folder, struct wt_err *err)
{
	struct wti_folder made;

	if (strlen(folder) + NAME_BYTES > PATH_BYTES)
		return wti_err(err, WT_E_LIMIT, "path too long '%s': choose a shorter one", folder);
	return wti_folder_make(&made, folder, err);
}

static void put_u64(struct wti_json *json, const char *key, uint64_t value)
{
	wti_json_key(json, key);
	wti_json_u64(json, value);
}

static void put_run(struct wti_json *json, const struct wti_sim_options *options,
		    const struct wti_sim_summary *summary)
{
	char seed[24];

	wti_json_object(json);
	put_u64(json, "schema", RUN_SCHEMA);
	wti_json_member(json, "name", "sim");
	wti_json_member(json, "status", "finished");
	wti_json_key(json, "command");
	wti_json_array(json);
	wti_json_text(json, "wheeltap");
	wti_json_text(json, "sim");
	if (options->all_kinds) {
		wti_json_text(json, "--kinds");
		wti_json_text(json, "all");
	}
	wti_json_array_end(json);
	put_u64(json, "duration_ns", summary->duration_ns);
	put_u64(json, "exit_status", 0);
	wti_json_key(json, "config");
	wti_sim_config_write(options->config, json);
	wti_json_key(json, "seeds");
	wti_json_object(json);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)options->config->seed);
	wti_json_member(json, "sim", seed);
	wti_json_object_end(json);
	put_u64(json, "events", summary->events);
	put_u64(json, "bytes", summary->bytes);
	put_u64(json, "lost", 0);
	wti_json_object_end(json);
}

int wti_sim_json_finish(struct wti_buf *text, const char *path, struct wt_err *err)
{
	int r;

	wti_buf_byte(text, '\n');
	r = wti_buf_status(text);
	r = r ? wti_err(err, r, "out of memory for '%s'", path)
	      : wti_file_replace(path, text->data, text->bytes, err);
	wti_buf_release(text);
	return r;
}

int wti_sim_folder_finish(const struct wti_sim_options *options,
			  const struct wti_sim_summary *summary, struct wt_err *err)
{
	char path[PATH_BYTES];
	struct wti_buf text;
	struct wti_json json;

	snprintf(path, sizeof(path), "%s/run.json", options->folder);
	wti_buf_init(&text, 1 << 20);
	wti_json_init(&json, &text, true);
	put_run(&json, options, summary);
	return wti_sim_json_finish(&text, path, err);
}
