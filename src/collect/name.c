/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how interpreters and launchers get what they are to run. Ten runs called python say
 * nothing; what was meant is the script.
 */
#include "name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include "interpreter.h"

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words != NULL;
}

/* Cut between characters, not within one. */
static void copy(const char *from, size_t bytes, char out[WTI_NAME_BYTES])
{
	size_t used = 0, length;

	while (used < bytes) {
		length = wti_utf8_length(from + used, bytes - used);
		length = length ? length : 1;
		if (used + length >= WTI_NAME_BYTES)
			break;
		memcpy(out + used, from + used, length);
		used += length;
	}
	out[used] = 0;
}

/* "models/train.py" is train, "models/" is models. */
static void name_file(const char *path, char out[WTI_NAME_BYTES])
{
	size_t bytes = strlen(path), begin;

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	begin = bytes;
	while (begin && path[begin - 1] != '/')
		begin--;
	if (bytes - begin > 3 && !strncmp(path + bytes - 3, ".py", 3))
		bytes -= 3;
	copy(path + begin, bytes - begin, out);
}

/* Which of a launcher's options take a word is not known here, but scripts end in .py. */
static bool name_launched(char *const *words, char out[WTI_NAME_BYTES])
{
	for (size_t i = 0; words[i]; i++) {
		size_t bytes = strlen(words[i]);

		if ((!strcmp(words[i], "-m") || !strcmp(words[i], "--module")) && words[i + 1] &&
		    words[i + 1][0] != '-') {
			copy(words[i + 1], strlen(words[i + 1]), out);
			return true;
		}
		if (words[i][0] != '-' && bytes > 3 && !strcmp(words[i] + bytes - 3, ".py")) {
			name_file(words[i], out);
			return true;
		}
	}
	return false;
}

static void name_module(const char *module, char *const *rest, char out[WTI_NAME_BYTES])
{
	static const char *const launchers[] = {"torch.distributed.run", "torch.distributed.launch",
						"accelerate.commands.launch", NULL};

	if (!is_one_of(module, launchers) || !name_launched(rest, out))
		copy(module, strlen(module), out);
}

static bool name_script(char *const *words, char out[WTI_NAME_BYTES]);

/* What stands behind the interpreter's options; false: it reads its input, or -c. */
static bool name_python(char *const *words, char out[WTI_NAME_BYTES])
{
	size_t i = 0;

	for (; words[i] && words[i][0] == '-'; i++) {
		const char *at = words[i] + 1;

		if (!*at)
			return false;
		if (*at == '-') {
			i += !strcmp(at, "-check-hash-based-pycs") && words[i + 1];
			continue;
		}
		at += strcspn(at, "cmWX"); /* the rest of the word, or the next one, is theirs */
		if (*at == 'c')
			return false;
		if (*at == 'm' && !at[1] && !words[i + 1])
			return false;
		if (*at == 'm') {
			name_module(at[1] ? at + 1 : words[i + 1], words + i + 1 + !at[1], out);
			return true;
		}
		i += *at && !at[1] && words[i + 1];
	}
	return words[i] && name_script(words + i, out);
}

static bool name_script(char *const *words, char out[WTI_NAME_BYTES])
{
	static const char *const launchers[] = {"torchrun", "accelerate", "deepspeed", NULL};

	name_file(words[0], out);
	if (is_one_of(out, launchers))
		name_launched(words + 1, out);
	return true;
}

void wti_name_copy(const char *name, char ret_name[WTI_NAME_BYTES])
{
	copy(name, strlen(name), ret_name);
}

void wti_name_of(char *const *argv, char ret_name[WTI_NAME_BYTES])
{
	if (!wti_is_python(argv[0]) || !name_python(argv + 1, ret_name))
		name_script(argv, ret_name);
	if (!ret_name[0])
		copy(argv[0], strlen(argv[0]), ret_name);
}

/* Words of a shell end at these, or mean something else with them. */
static bool separates(char c)
{
	return strchr("/\\ '\"`$*?[]<>|&;()#!", c);
}

void wti_name_plain(const char *name, char ret_plain[WTI_NAME_BYTES])
{
	size_t bytes = strlen(name), used = 0;

	for (size_t i = 0, length; i < bytes && used < WTI_NAME_BYTES - 1; i += length) {
		bool stays = true;

		length = wti_harmless_length(name + i, bytes - i);
		if (!length || separates(name[i]) || (!used && strchr(".-~", name[i])))
			stays = false;
		length = length ? length : 1;
		if (stays && used + length >= WTI_NAME_BYTES)
			break;
		if (stays)
			memcpy(ret_plain + used, name + i, length);
		else
			ret_plain[used] = '_';
		used += stays ? length : 1;
	}
	ret_plain[used] = 0;
}
