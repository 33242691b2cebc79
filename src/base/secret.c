/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three signs of a secret, in the order in which they are tried at each word:
 *   a key that names one (password=, "api_key": , --token X, Authorization: Bearer X,
 * user:pw@host), the shape of a well-known kind of token (sk-..., ghp_..., AKIA..., a JWT, a
 * private key block), a long word that looks drawn at random. Time is linear in the text: every
 * look ahead is bounded but for values that are then skipped.
 */
#include "secret.h"

#include <stdint.h>
#include <string.h>

enum {
	MASK_MAX = 8,    /* asterisks that a secret becomes */
	KEY_MAX = 64,    /* bytes of a key that are looked at */
	PART_MAX = 16,   /* bytes of a part of a key */
	WORD_MAX = 256,  /* bytes of a word that are judged */
	RANDOM_MIN = 20, /* shortest word that can look random */
};

/* Reads ahead of where it writes in the same buffer: out never overtakes at. */
struct scan {
	char *text;
	size_t bytes;
	size_t at;
	size_t out;
	bool in_url_query; /* a key here was introduced by ? or & */
};

struct parts {
	char text[4][PART_MAX]; /* the last four, lower case */
	unsigned count;
};

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_lower(c) || is_upper(c) || is_digit(c);
}

static char to_lower(char c)
{
	return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_key_char(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

static bool is_word_char(char c)
{
	return is_alnum(c) || c == '+' || c == '/' || c == '_' || c == '-';
}

/* Lists are words, each followed by one blank. */
static const char *list_next(const char *list, size_t *ret_bytes)
{
	*ret_bytes = (size_t)(strchr(list, ' ') - list);
	return list + *ret_bytes + 1;
}

static bool one_of(const char *word, const char *list)
{
	size_t bytes;

	for (const char *next; *list; list = next) {
		next = list_next(list, &bytes);
		if (strlen(word) == bytes && memcmp(word, list, bytes) == 0)
			return true;
	}
	return false;
}

static bool ends_with_one_of(const char *word, const char *list)
{
	size_t bytes = strlen(word);
	size_t tail;

	for (const char *next; *list; list = next) {
		next = list_next(list, &tail);
		if (bytes >= tail && memcmp(word + bytes - tail, list, tail) == 0)
			return true;
	}
	return false;
}

static bool has_prefix(const char *text, size_t bytes, const char *prefix)
{
	size_t need = strlen(prefix);

	return bytes >= need && memcmp(text, prefix, need) == 0;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static void parts_add(struct parts *parts, const char *text, size_t bytes)
{
	char *part;

	if (bytes == 0)
		return;
	if (parts->count == 4)
		memmove(parts->text[0], parts->text[1], sizeof(parts->text) - PART_MAX);
	else
		parts->count++;
	part = parts->text[parts->count - 1];
	/* The end of a long part says more than its beginning: databasepassword. */
	if (bytes > PART_MAX - 1) {
		text += bytes - (PART_MAX - 1);
		bytes = PART_MAX - 1;
	}
	for (size_t i = 0; i < bytes; i++)
		part[i] = to_lower(text[i]);
	part[bytes] = 0;
}

/* Cuts a key at separators and at the humps of camelCase (XMLHttp: xml, http). */
static void parts_split(struct parts *parts, const char *key, size_t bytes)
{
	size_t from = 0;

	if (bytes > KEY_MAX) {
		key += bytes - KEY_MAX;
		bytes = KEY_MAX;
	}
	parts->count = 0;
	for (size_t i = 0; i < bytes; i++) {
		bool hump = i > from && is_upper(key[i]) &&
			    (is_lower(key[i - 1]) ||
			     (is_upper(key[i - 1]) && i + 1 < bytes && is_lower(key[i + 1])));

		if (!is_alnum(key[i])) {
			parts_add(parts, key + from, i - from);
			from = i + 1;
		} else if (hump) {
			parts_add(parts, key + from, i - from);
			from = i;
		}
	}
	parts_add(parts, key + from, bytes - from);
}

static bool is_secret_part(const char *part)
{
	return ends_with_one_of(part, "password passwd passphrase passcode secret secrets apikey "
				      "accesskey secretkey privatekey authtoken apitoken "
				      "accesstoken credential credentials ") ||
	       one_of(part, "authorization pwd cookie sessionid privkey ");
}

/* The last part says what the value is, the one before says of what. */
static bool is_secret_pair(const char *before, const char *last)
{
	static const char of_key[] =
		"api access private secret auth encryption signing ssh account "
		"storage license master client service session shared host "
		"deploy provider ";
	/* Vocabulary of language models, not of logins. */
	static const char of_token[] = "eos bos pad unk mask sep cls special next last first per "
				       "num max min end start image audio prev stop each one "
				       "begin text ns ";
	static const char of_pass[] = "forward backward first second next each one last per ";

	if (strcmp(last, "key") == 0)
		return one_of(before, of_key);
	if (strcmp(last, "token") == 0)
		return !one_of(before, of_token);
	if (strcmp(last, "pass") == 0)
		return *before && !one_of(before, of_pass);
	return strcmp(last, "auth") == 0;
}

bool wti_secret_is_key(const char *name, size_t bytes)
{
	struct parts parts;

	parts_split(&parts, name, bytes);
	for (unsigned i = 0; i < parts.count; i++)
		if (is_secret_part(parts.text[i]))
			return true;
	if (parts.count == 0)
		return false;
	return is_secret_pair(parts.count > 1 ? parts.text[parts.count - 2] : "",
			      parts.text[parts.count - 1]);
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static const struct shape {
	const char *prefix;
	unsigned rest_min;
} shapes[] = {
	{"sk-", 16},         {"sk_live_", 8}, {"sk_test_", 8}, {"pk_live_", 8},  {"rk_live_", 8},
	{"ghp_", 16},        {"gho_", 16},    {"ghu_", 16},    {"ghs_", 16},     {"ghr_", 16},
	{"github_pat_", 16}, {"glpat-", 10},  {"AKIA", 12},    {"ASIA", 12},     {"xoxb-", 8},
	{"xoxp-", 8},        {"xoxa-", 8},    {"xoxr-", 8},    {"xoxs-", 8},     {"xoxe-", 8},
	{"xapp-", 8},        {"hf_", 16},     {"AIza", 30},    {"ya29.", 16},    {"npm_", 20},
	{"pypi-", 20},       {"SG.", 20},     {"whsec_", 16},  {"dckr_pat_", 8}, {"eyJ", 20},
};

/* The words of a token may be joined by dots: a JWT has three. */
static size_t shape_bytes(const char *text, size_t bytes)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t end = strlen(shapes[i].prefix);
		size_t rest = 0;
		bool mixed = false;

		if (!has_prefix(text, bytes, shapes[i].prefix))
			continue;
		for (; end < bytes && (is_word_char(text[end]) || text[end] == '.'); end++, rest++)
			mixed |= is_digit(text[end]) || is_upper(text[end]);
		if (rest >= shapes[i].rest_min && mixed)
			return end;
	}
	return 0;
}

/* The letter pairs that make up seven eighths of English words and of identifiers. */
static bool is_familiar(char a, char b)
{
	/* After each capital: what often follows that letter. */
	static const char follows[] =
		"AbcdgilmnprstBaeiluCaehiklortuDaeioEacdefglmnprstvxFaefiouGeiHaeioIabc"
		"defglmnorstvzJKeLadeilostuyMaeiopNacdegiostuOcdlmnprstuvwPaeloprtuQuRa"
		"degimnorstySacehiopstuTaehiorstuyUbelmnprstVaeiWahiXtYZe";
	const char *at;

	if (is_lower(a) != is_lower(b) || is_digit(a) || is_digit(b))
		return false;
	at = strchr(follows, to_lower(a) - 'a' + 'A') + 1;
	while (is_lower(*at) && *at != to_lower(b))
		at++;
	return *at == to_lower(b);
}

struct tally {
	size_t lower, upper, digit, other, hex, familiar, changes;
};

static void tally_word(struct tally *tally, const char *text, size_t bytes)
{
	*tally = (struct tally){0};
	for (size_t i = 0; i < bytes; i++) {
		char c = text[i];

		tally->lower += is_lower(c);
		tally->upper += is_upper(c);
		tally->digit += is_digit(c);
		tally->other += !is_alnum(c);
		tally->hex += is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
		if (i + 1 < bytes && is_alnum(c) && is_alnum(text[i + 1])) {
			tally->familiar += is_familiar(c, text[i + 1]);
			tally->changes += is_lower(c) != is_lower(text[i + 1]) ||
					  is_upper(c) != is_upper(text[i + 1]);
		}
	}
}

/*
 * Letters of base64, base32 or hexadecimal, 20 or more, in which words do not show: fewer than a
 * quarter of the pairs are familiar (at random one in twelve would be, in identifiers half are), or
 * somewhat more where two letters in five change between upper case, lower case and digits.
 * A word with many separators is an identifier or a path; its pieces are judged when they come.
 */
static bool looks_random(const char *text, size_t bytes)
{
	struct tally tally;
	size_t letters;

	if (bytes < RANDOM_MIN)
		return false;
	tally_word(&tally, text, bytes);
	letters = tally.lower + tally.upper;
	if (tally.hex == bytes && !(tally.lower && tally.upper))
		return tally.digit >= 4 && letters >= 2;
	if (tally.other * 10 > bytes || letters * 10 < bytes * 4)
		return false;
	if (!!tally.lower + !!tally.upper + !!tally.digit < 2)
		return false;
	return tally.familiar * 4 < bytes ||
	       (tally.familiar * 5 < bytes * 2 && tally.changes * 5 > bytes * 2);
}

static size_t random_bytes(const char *text, size_t bytes)
{
	size_t end = 0;

	while (end < bytes && end < WORD_MAX && is_word_char(text[end]))
		end++;
	if (!looks_random(text, end))
		return 0;
	while (end < bytes && (is_word_char(text[end]) || text[end] == '='))
		end++;
	return end;
}

/* ---- Masking -------------------------------------------------------------------------------- */

static void copy(struct scan *scan, size_t bytes)
{
	memmove(scan->text + scan->out, scan->text + scan->at, bytes);
	scan->out += bytes;
	scan->at += bytes;
}

static void mask(struct scan *scan, size_t bytes)
{
	size_t stars = bytes < MASK_MAX ? bytes : MASK_MAX;

	memset(scan->text + scan->out, '*', stars);
	scan->out += stars;
	scan->at += bytes;
}

size_t wti_secret_mask_all(char *text, size_t bytes)
{
	struct scan scan = {.text = text, .bytes = bytes};

	mask(&scan, bytes);
	return scan.out;
}

static size_t skip_blanks(const char *text, size_t at, size_t bytes)
{
	while (at < bytes && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/* From the end of a key to the value that belongs to it; 0 if none does. */
static size_t value_offset(const char *text, size_t key_bytes, size_t bytes)
{
	size_t at = key_bytes;
	size_t after;

	if (at < bytes && text[at] == '\\')
		at++; /* a quote within a quoted text */
	if (at < bytes && (text[at] == '"' || text[at] == '\''))
		at++;
	after = skip_blanks(text, at, bytes);
	if (after < bytes && (text[after] == '=' || text[after] == ':')) {
		after++;
		if (after < bytes && (text[after] == '=' || text[after] == '>'))
			after++;
		return skip_blanks(text, after, bytes);
	}
	if (after == at)
		return 0;
	if (has_prefix(text + after, bytes - after, "is "))
		return skip_blanks(text, after + 3, bytes);
	if (text[0] == '-' && after < bytes && text[after] != '-')
		return after;
	return 0;
}

static size_t value_bytes(const char *text, size_t bytes, bool whole_line)
{
	size_t end = 0;

	while (end < bytes && text[end] != '\n' && text[end] != '"' && text[end] != '\'') {
		if (!whole_line && is_space(text[end]))
			break;
		end += text[end] == '\\' ? 2 : 1;
	}
	return end < bytes ? end : bytes;
}

/* Within quotes a value may hold blanks; it ends at the same quote, escaped if that was. */
static size_t quoted_bytes(const char *text, size_t bytes, char quote, bool escaped)
{
	size_t end = 0;

	if (escaped)
		quote = '\\';

	while (end < bytes && text[end] != quote && text[end] != '\n')
		end += text[end] == '\\' ? 2 : 1;
	return end < bytes ? end : bytes;
}

/* Values that say that there is none, and small numbers where they may count tokens. */
static bool is_harmless(const char *value, size_t bytes, bool may_count)
{
	static const char words[] = "none null true false yes no nil unset ";
	char word[8];
	size_t digits = 0;

	while (bytes && (value[bytes - 1] == ',' || value[bytes - 1] == ')'))
		bytes--;
	if (bytes == 0)
		return true;
	if (bytes >= sizeof(word))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		word[i] = to_lower(value[i]);
		digits += is_digit(value[i]);
	}
	word[bytes] = 0;
	return one_of(word, words) || (may_count && digits == bytes);
}

/* The word before the value that says how it is encoded stays: Bearer, Basic. */
static size_t scheme_bytes(const char *text, size_t bytes)
{
	const char *list = "bearer basic token digest ";
	size_t scheme;

	for (const char *next; *list; list = next) {
		size_t i = 0;

		next = list_next(list, &scheme);
		while (i <= scheme && i < bytes && to_lower(text[i]) == list[i])
			i++;
		if (i == scheme + 1)
			return i;
	}
	return 0;
}

static bool key_ends_with(const char *key, size_t bytes, const char *list)
{
	struct parts parts;

	parts_split(&parts, key, bytes);
	return parts.count && one_of(parts.text[parts.count - 1], list);
}

static bool mask_value(struct scan *scan, size_t key, size_t offset)
{
	/* Headers of HTTP, whose value is the rest of the line. */
	bool whole_line = key_ends_with(scan->text + scan->at, key, "authorization cookie ");
	bool may_count = key_ends_with(scan->text + scan->at, key, "token ");
	const char *text = scan->text + scan->at;
	size_t left = scan->bytes - scan->at;
	bool escaped = false;
	size_t value;

	if (offset < left && text[offset] == '\\') {
		escaped = true;
		offset++;
	}
	if (offset < left && (text[offset] == '"' || text[offset] == '\'')) {
		offset++;
		value = quoted_bytes(text + offset, left - offset, text[offset - 1], escaped);
	} else {
		value = value_bytes(text + offset, left - offset, whole_line);
	}
	if (is_harmless(text + offset, value, may_count))
		return false;
	if (!whole_line && scheme_bytes(text + offset, left - offset))
		value = value_bytes(text + offset, left - offset, true);
	if (scheme_bytes(text + offset, value)) {
		size_t scheme = scheme_bytes(text + offset, value);

		offset += scheme;
		value -= scheme;
	}
	copy(scan, offset);
	mask(scan, value);
	return true;
}

/* Keys that are secret in the query of a URL only. */
static bool is_query_key(const char *key, size_t bytes)
{
	return key_ends_with(key, bytes, "sig key signature code ");
}

static bool try_key(struct scan *scan)
{
	const char *text = scan->text + scan->at;
	size_t left = scan->bytes - scan->at;
	size_t key = 0;
	size_t offset;

	while (key < left && is_key_char(text[key]))
		key++;
	if (key == 0)
		return false;
	offset = scheme_bytes(text, left < 7 ? left : 7);
	if (offset == 7 && to_lower(text[0]) == 'b' && value_bytes(text + 7, left - 7, false) >= 8)
		return mask_value(scan, key, offset);
	if (!wti_secret_is_key(text, key) && !(scan->in_url_query && is_query_key(text, key)))
		return false;
	offset = value_offset(text, key, left);
	if (offset == 0 || offset >= left)
		return false;
	/* PWD=/where/we/are is the environment's, not a password. */
	if (has_prefix(text, key, "PWD") && text[offset] == '/')
		return false;
	return mask_value(scan, key, offset);
}

/* scheme://user:password@host, at the colon before the slashes. */
static bool try_url(struct scan *scan)
{
	const char *text = scan->text + scan->at;
	size_t left = scan->bytes - scan->at;
	size_t colon = 0;
	size_t at = 3;

	if (!has_prefix(text, left, "://"))
		return false;
	for (; at < left && at < WORD_MAX && !is_space(text[at]) && text[at] != '/'; at++) {
		if (text[at] == ':' && !colon)
			colon = at;
		if (text[at] != '@')
			continue;
		if (!colon)
			return false;
		copy(scan, colon + 1);
		mask(scan, at - colon - 1);
		return true;
	}
	return false;
}

static bool try_private_key(struct scan *scan)
{
	const char *text = scan->text + scan->at;
	size_t left = scan->bytes - scan->at;
	const char *line_end;
	const char *end;
	size_t first;

	if (!has_prefix(text, left, "-----BEGIN "))
		return false;
	line_end = memchr(text + 11, '-', left - 11);
	if (!line_end || !memmem(text, line_end - text, "PRIVATE KEY", 11))
		return false;
	first = line_end - text;
	while (first < left && text[first] == '-')
		first++;
	end = memmem(text + first, left - first, "-----END", 8);
	copy(scan, first);
	mask(scan, end ? (size_t)(end - text) - first : left - first);
	return true;
}

static bool try_word(struct scan *scan)
{
	const char *text = scan->text + scan->at;
	size_t left = scan->bytes - scan->at;
	size_t secret = shape_bytes(text, left);

	if (!secret && !(scan->at && text[-1] == '_' && text[0] == 'Z')) /* not mangled C++ */
		secret = random_bytes(text, left);
	if (!secret)
		return false;
	mask(scan, secret);
	return true;
}

size_t wti_secret_mask(char *text, size_t bytes)
{
	struct scan scan = {.text = text, .bytes = bytes};
	bool word = true; /* one may begin here */
	bool key = true;

	while (scan.at < bytes) {
		char c = text[scan.at];

		if (c == ':' && try_url(&scan))
			continue;
		if (c == '-' && key && try_private_key(&scan))
			continue;
		if (is_key_char(c) && key && try_key(&scan))
			continue;
		if (is_alnum(c) && word && try_word(&scan))
			continue;
		word = !is_alnum(c);
		key = !is_key_char(c);
		scan.in_url_query = c == '?' || c == '&';
		copy(&scan, 1);
	}
	return scan.out;
}
