/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where goldens are, and who may read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "golden_store.h"

static bool is_path(const char *name)
{
	size_t bytes = strlen(name);

	return strchr(name, '/') || (bytes > 5 && !strcmp(name + bytes - 5, ".toml"));
}

char *wti_golden_path(const char *folder, const char *name)
{
	char *path;

	if (is_path(name))
		return strdup(name);
	return asprintf(&path, "%s/%s.toml", folder, name) < 0 ? NULL : path;
}

int wti_golden_load(const char *path, struct wti_golden *ret_golden, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_GOLDEN_BYTES_MAX);
	r = wti_file_read(path, WTI_GOLDEN_BYTES_MAX, &text, err);
	r = r ? r : wti_golden_read(path, (const char *)text.data, text.bytes, ret_golden, err);
	wti_buf_release(&text);
	return r;
}

static int make_folder(const char *path, mode_t mode, struct wt_err *err)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int r;

	if (!slash || slash == path)
		return 0;
	folder = strndup(path, (size_t)(slash - path));
	if (!folder)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_mkdirs(folder, mode, err);
	free(folder);
	return r;
}

int wti_golden_save(const char *path, const struct wti_golden *golden, mode_t mask,
		    struct wt_err *err)
{
	struct wti_buf text;
	int r = make_folder(path, 0777 & ~mask, err);

	wti_buf_init(&text, WTI_GOLDEN_BYTES_MAX);
	wti_golden_write(golden, &text);
	if (!r && wti_buf_status(&text))
		r = wti_err(err, wti_buf_status(&text), "the golden is too large to be reviewed");
	r = r ? r : wti_file_replace(path, text.data, text.bytes, err);
	if (!r)
		chmod(path, 0666 & ~mask);
	wti_buf_release(&text);
	return r;
}
