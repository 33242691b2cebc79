/* SPDX-License-Identifier: Apache-2.0 */
/* Packs read from files; knows where the built-in one is. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/file.h"
#include "packs.h"

/* Beside the program: in a build, or as installed. */
static int find_builtin(const struct wti_front *front, char out[PATH_MAX], struct wt_err *err)
{
	static const char *const places[] = {"packs/pytorch.json",
					     "../share/wheeltap/packs/pytorch.json"};
	const char *slash = strrchr(front->program, '/');

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++)
		if (snprintf(out, PATH_MAX, "%.*s/%s", (int)(slash - front->program),
			     front->program, places[i]) < PATH_MAX &&
		    !access(out, R_OK))
			return 0;
	return wti_err(err, WT_E_IO,
		       "the built-in pack is missing: '%s' is not completely installed",
		       front->program);
}

/* Why it cannot be taken for a pack, and what one is. */
static int not_a_pack(const char *path, int code, struct wt_err *err)
{
	struct wt_err cause = *err;

	if (code == WT_E_NOMEM || code == WT_E_VERSION)
		return code;
	if (code == WT_E_MISSING)
		return wti_err(err, code,
			       "the pack '%.300s' does not exist; give a file that `wheeltap infer "
			       "RUN... -o FILE` wrote, or " WTI_PACK_BUILTIN,
			       path);
	return wti_err_at(err, code, cause.offset,
			  "not a pack: %.380s; give a file that `wheeltap infer RUN... -o FILE` "
			  "wrote, or " WTI_PACK_BUILTIN,
			  cause.message);
}

int wti_pack_open(const struct wti_front *front, const char *path, struct wti_pack **ret_pack,
		  struct wt_err *err)
{
	char builtin[PATH_MAX];
	struct wti_buf text;
	int r;

	if (!strcmp(path, WTI_PACK_BUILTIN)) {
		r = find_builtin(front, builtin, err);
		if (r)
			return r;
		path = builtin;
	}
	wti_buf_init(&text, WTI_DOC_TEXT_MAX + 1);
	r = wti_file_read(path, WTI_DOC_TEXT_MAX, &text, err);
	r = r ? r : wti_pack_read(path, (const char *)text.data, text.bytes, ret_pack, err);
	wti_buf_release(&text);
	return r ? not_a_pack(path, r, err) : 0;
}

int wti_packs_open(const struct wti_front *front, const char *const *paths, size_t count,
		   struct wti_pack **ret_pack, struct wt_err *err)
{
	struct wti_pack *pack = NULL;
	int r = wti_pack_open(front, paths[0], &pack, err);

	if (!r)
		wti_pack_mark(pack, 0);
	for (size_t i = 1; i < count && !r; i++) {
		struct wti_pack *other = NULL;

		r = wti_pack_open(front, paths[i], &other, err);
		if (!r)
			wti_pack_mark(other, i);
		r = r ? r : wti_pack_merge(pack, other, err);
		wti_pack_free(other);
	}
	if (r)
		wti_pack_free(pack);
	else
		*ret_pack = pack;
	return r;
}
