/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the file: read, changed under the lock of its folder, replaced as a whole. */
#include "tags.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "trace/run_folder.h"

#define FILE_BYTES_MAX (1u << 16)

struct words {
	char *items[WTI_TAGS_MAX];
	size_t count;
};

int wti_tag_check(const char *word, struct wt_err *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.+-/:@";
	size_t bytes = strlen(word);

	if (!bytes || bytes > WTI_TAG_BYTES_MAX || word[strspn(word, allowed)] || *word == '-')
		return wti_err(err, WT_E_ARG,
			       "'%.80s' cannot be a tag: use at most %u letters, digits and "
			       "_.+-/:@, and no - at the beginning",
			       word, WTI_TAG_BYTES_MAX);
	return 0;
}

bool wti_tags_have(const char *words, const char *tag)
{
	size_t bytes = strlen(tag);

	for (const char *at = words; (at = strstr(at, tag)); at++)
		if ((at == words || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
			return bytes;
	return false;
}

static void release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	words->count = 0;
}

static size_t place_of(const struct words *words, const char *word)
{
	size_t i = 0;

	while (i < words->count && strcmp(words->items[i], word) != 0)
		i++;
	return i;
}

static int add(struct words *words, const char *word, struct wt_err *err)
{
	if (place_of(words, word) < words->count)
		return 0;
	if (words->count == WTI_TAGS_MAX)
		return wti_err(err, WT_E_LIMIT, "a run has at most %u tags", WTI_TAGS_MAX);
	words->items[words->count] = strdup(word);
	return words->items[words->count++] ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

static bool drop(struct words *words, const char *word)
{
	size_t i = place_of(words, word);

	if (i == words->count)
		return false;
	free(words->items[i]);
	words->items[i] = words->items[--words->count];
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What somebody wrote into the file by hand is taken as far as it can be a tag. */
static int load(const char *path, struct words *ret_words, struct wt_err *err)
{
	struct wti_buf text;
	char *next;
	int r;

	ret_words->count = 0;
	wti_buf_init(&text, FILE_BYTES_MAX);
	r = wti_file_read(path, FILE_BYTES_MAX - 1, &text, err);
	if (r == WT_E_MISSING)
		r = 0;
	else if (!r)
		for (char *word = strtok_r((char *)wti_buf_cstr(&text), " \t\r\n", &next);
		     word && !r; word = strtok_r(NULL, " \t\r\n", &next))
			if (!wti_tag_check(word, NULL) && ret_words->count < WTI_TAGS_MAX)
				r = add(ret_words, word, err);
	wti_buf_release(&text);
	if (!r && ret_words->count)
		qsort(ret_words->items, ret_words->count, sizeof(*ret_words->items), by_text);
	return r;
}

static int path_of(const char *folder, char **ret_path, struct wt_err *err)
{
	return asprintf(ret_path, "%s/" WTI_RUN_TAGS, folder) < 0
		       ? wti_err(err, WT_E_NOMEM, "out of memory")
		       : 0;
}

int wti_tags_read(const char *folder, struct wti_buf *ret_words, struct wt_err *err)
{
	struct words words = {.count = 0};
	char *path;
	int r = path_of(folder, &path, err);

	if (r)
		return r;
	r = load(path, &words, err);
	for (size_t i = 0; i < words.count && !r; i++)
		wti_buf_printf(ret_words, "%s%s", i ? " " : "", words.items[i]);
	release(&words);
	free(path);
	return r;
}

static int save(const char *path, struct words *words, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	if (!words->count)
		return unlink(path) ? wti_err_errno(err, "cannot remove", path) : 0;
	qsort(words->items, words->count, sizeof(*words->items), by_text);
	wti_buf_init(&text, FILE_BYTES_MAX);
	for (size_t i = 0; i < words->count; i++)
		wti_buf_printf(&text, "%s\n", words->items[i]);
	r = wti_buf_status(&text) ? wti_err(err, WT_E_NOMEM, "out of memory")
				  : wti_file_replace(path, text.data, text.bytes, err);
	wti_buf_release(&text);
	return r;
}

int wti_tags_change(const char *folder, const char *const *to_add, size_t add_count,
		    const char *const *to_remove, size_t remove_count, bool *ret_changed,
		    struct wt_err *err)
{
	int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct words words = {.count = 0};
	size_t before;
	char *path;
	int r = path_of(folder, &path, err);

	*ret_changed = false;
	if (lock >= 0)
		flock(lock, LOCK_EX); /* where there are no locks, the last one wins */
	r = r ? r : load(path, &words, err);
	for (size_t i = 0; i < remove_count && !r; i++)
		*ret_changed |= drop(&words, to_remove[i]);
	before = words.count;
	for (size_t i = 0; i < add_count && !r; i++)
		r = add(&words, to_add[i], err);
	*ret_changed |= words.count != before;
	if (!r && *ret_changed)
		r = save(path, &words, err);
	release(&words);
	free(path);
	if (lock >= 0)
		close(lock);
	return r;
}
