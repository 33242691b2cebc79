/* SPDX-License-Identifier: Apache-2.0 */
/* Packs read from files and written to them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/file.h"
#include "packs.h"
#include "report.h"

#define OUTPUT_MAX ((size_t)1 << 30)

int wti_pack_open(const char *path, struct wti_pack **ret_pack, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_DOC_TEXT_MAX + 1);
	r = wti_file_read(path, WTI_DOC_TEXT_MAX, &text, err);
	r = r ? r : wti_pack_read(path, (const char *)text.data, text.bytes, ret_pack, err);
	wti_buf_release(&text);
	return r;
}

int wti_packs_open(const char *const *paths, size_t count, struct wti_pack **ret_pack,
		   struct wt_err *err)
{
	struct wti_pack *pack = NULL;
	int r = wti_pack_open(paths[0], &pack, err);

	for (size_t i = 1; i < count && !r; i++) {
		struct wti_pack *other = NULL;

		r = wti_pack_open(paths[i], &other, err);
		r = r ? r : wti_pack_merge(pack, other, err);
		wti_pack_free(other);
	}
	if (r)
		wti_pack_free(pack);
	else
		*ret_pack = pack;
	return r;
}

int wti_save_text(const char *path, struct wti_buf *text, struct wt_err *err)
{
	if (wti_buf_status(text))
		return wti_err(err, wti_buf_status(text), "out of memory writing '%s'", path);
	if (!strcmp(path, "-"))
		return wti_print_buf(text) ? 0 : wti_err(err, WT_E_IO, "cannot write");
	return wti_file_replace(path, text->data, text->bytes, err);
}

int wti_pack_save(const char *path, const struct wti_pack *pack, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, OUTPUT_MAX);
	wti_pack_write(&text, pack);
	r = wti_save_text(path, &text, err);
	wti_buf_release(&text);
	return r;
}

const char *wti_today(char out[16])
{
	time_t now = time(NULL);
	struct tm day;

	localtime_r(&now, &day);
	strftime(out, 16, "%Y-%m-%d", &day);
	return out;
}
