/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay would execute, before it does: every program of the run with its kernels, and one
 * code for all of them. The code is of the bytes themselves, so whoever has agreed to it has agreed
 * to nothing else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sha.h"
#include "base/text.h"
#include "replay.h"
#include "store.h"

enum { KERNELS_SHOWN = 8 };

static const char *const made_of[] = {"source", "NATIVE CODE", "intermediate code",
				      "kernels of the driver", "other programs"};

static void add_text(struct wti_sha *sha, const char *text)
{
	wti_sha_add(sha, text, strlen(text) + 1);
}

static void add_kernels(const struct wti_replay_plan *plan, uint32_t program, struct wti_sha *sha,
			struct wti_buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->object_count; i++) {
		const struct wti_replay_plan_object *object = &plan->objects[i];

		if (object->type != WT_DEVICE_OBJECT_TYPE_KERNEL || object->parent != program)
			continue;
		add_text(sha, object->name);
		if (count++ < KERNELS_SHOWN)
			wti_textf(out, "%s%s", count > 1 ? ", " : " with ", object->name);
	}
	if (count > KERNELS_SHOWN)
		wti_textf(out, " and %zu more", count - KERNELS_SHOWN);
}

static void add_program(const struct wti_replay_plan *plan, uint32_t index, int store,
			struct wti_sha *sha, struct wti_buf *out)
{
	const struct wti_replay_plan_object *object = &plan->objects[index];
	struct wti_buf content;
	const char *why;

	wti_buf_init(&content, SIZE_MAX);
	why = wti_replay_store_read(store, object->hash, 0, &content);
	wti_sha_add(sha, content.data ? content.data : (const uint8_t *)"", content.bytes);
	add_text(sha, object->options ? object->options : "");
	wti_textf(out, "program %016" PRIx64 " (%s, %zu bytes%s%s%s)", object->hash,
		  object->flags < sizeof(made_of) / sizeof(*made_of) ? made_of[object->flags]
								     : "unknown",
		  content.bytes, object->options && *object->options ? ", options " : "",
		  object->options ? object->options : "", why ? ", missing" : "");
	add_kernels(plan, index, sha, out);
	wti_buf_byte(out, '\n');
	wti_buf_release(&content);
}

bool wti_replay_is_agreed(const char *yes, const char *code)
{
	size_t bytes = strlen(code);

	return bytes && !strncmp(yes, code, bytes) && (!yes[bytes] || yes[bytes] == ',');
}

bool wti_replay_is_named(const char *yes, uint64_t hash)
{
	char name[20];
	int bytes = snprintf(name, sizeof(name), ",%016" PRIx64, hash);

	for (const char *at = strchr(yes, ','); at; at = strchr(at + 1, ','))
		if (!strncmp(at, name, (size_t)bytes) && (!at[bytes] || at[bytes] == ','))
			return true;
	return false;
}

int wti_replay_consent(const struct wt_trace *trace, const char *folder,
		       char ret_code[WTI_REPLAY_CODE_BYTES], struct wti_buf *out,
		       struct wt_err *err)
{
	int store = wti_replay_store_open(folder), r = 0;
	uint8_t digest[WTI_SHA256_BYTES];
	size_t op_count = 0;
	struct wti_sha sha;

	wti_sha_init(&sha, true);
	for (size_t i = 0; !r && i < wt_trace_stream_count(trace); i++) {
		struct wti_replay_plan plan;

		r = wti_replay_plan_read(trace, i, &plan, err);
		if (r)
			break;
		op_count += plan.op_count;
		for (uint32_t k = 0; k < plan.object_count; k++)
			if (plan.objects[k].type == WT_DEVICE_OBJECT_TYPE_PROGRAM)
				add_program(&plan, k, store, &sha, out);
		wti_replay_plan_release(&plan);
	}
	wti_replay_store_close(store);
	wti_sha_end(&sha, digest);
	for (size_t i = 0; i + 2 < WTI_REPLAY_CODE_BYTES; i += 2)
		snprintf(ret_code + i, 3, "%02x", digest[i / 2]);
	return r || op_count ? r : wti_replay_no_work(err);
}
