/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <string.h>

static bool begins(const char *file, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && !memcmp(file, with, strlen(with));
}

/* What a person typed has no file; neither has what libraries generate. */
static bool is_typed(const char *file, size_t bytes)
{
	return begins(file, bytes, "<stdin>") || begins(file, bytes, "<ipython-input") ||
	       begins(file, bytes, "<python-input");
}

static bool is_library(const char *file, size_t bytes)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python3.",
					      "/lib64/python3."};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (memmem(file, bytes, folders[i], strlen(folders[i])))
			return true;
	return bytes && *file == '<' && !is_typed(file, bytes);
}

bool wti_is_library(const char *file)
{
	return is_library(file, strlen(file));
}

static struct wt_text file_of(const struct wt_reader *reader, uint32_t site)
{
	const struct wt_site *it = wt_reader_site(reader, site);

	return it ? wt_reader_string(reader, it->file) : (struct wt_text){"", 0};
}

bool wti_is_string(const char *file)
{
	return !strcmp(file, "<string>");
}

bool wti_is_string_site(const struct wt_reader *reader, uint32_t site)
{
	struct wt_text file = file_of(reader, site);

	return file.bytes == strlen("<string>") && begins(file.data, file.bytes, "<string>");
}

bool wti_is_library_site(const struct wt_reader *reader, uint32_t site)
{
	struct wt_text file = file_of(reader, site);

	return !file.bytes || is_library(file.data, file.bytes);
}
