/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what the command line adds to packs: a warning, and standard output. */
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "front.h"
#include "packs.h"
#include "report.h"

#define OUTPUT_MAX ((size_t)1 << 30)

struct wti_pack *wti_pack_builtin(void)
{
	struct wti_front front = wti_front_here(NULL);
	struct wt_err err = {.offset = -1};
	struct wti_pack *pack = NULL;

	if (wti_pack_open(&front, WTI_PACK_BUILTIN, &pack, &err))
		wti_warn("%s", err.message);
	return pack;
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
