/* SPDX-License-Identifier: Apache-2.0 */
/* How far two correct runs may differ, as a file that other verbs take (docs/digits.md). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/json_read.h"
#include "digits.h"
#include "quantile.h"
#include "tally.h"

#define TOLERANCES_MAX ((size_t)1 << 20)
#define FILE_BYTES_MAX ((size_t)64 << 20)
#define FORMAT "wheeltap-tolerances"
#define VERSION 1
#define PART_WORTH .5

void wti_tolerances_init(struct wti_tolerances *tolerances)
{
	*tolerances = (struct wti_tolerances){0};
	wti_map_init(&tolerances->index, TOLERANCES_MAX);
}

void wti_tolerances_release(struct wti_tolerances *tolerances)
{
	wti_map_release(&tolerances->index);
	free(tolerances->all);
}

static struct wti_tolerance *entry_of(struct wti_tolerances *tolerances, const char *key)
{
	uint64_t *slot = wti_map_text(&tolerances->index, key, strlen(key));

	if (!slot || (!*slot && wti_grow_zeroed(&tolerances->all, tolerances->count + 1,
						&tolerances->capacity, TOLERANCES_MAX)))
		return NULL;
	if (!*slot)
		*slot = ++tolerances->count;
	return &tolerances->all[*slot - 1];
}

/* "=loss @8": values 8 to 15 of that name. */
static void key_at(const char *key, uint64_t occurrence, char ret_key[WTI_VALUE_KEY_BYTES])
{
	uint64_t first = occurrence ? (uint64_t)1 << (63 - __builtin_clzll(occurrence)) : 1;

	snprintf(ret_key, WTI_VALUE_KEY_BYTES, "%.4000s @%" PRIu64, key, first);
}

static struct wti_tolerance *widen_by(struct wti_tolerances *tolerances, const char *key,
				      double absolute, double relative, unsigned mantissa)
{
	struct wti_tolerance *one = entry_of(tolerances, key);

	if (!one)
		return NULL;
	one->absolute = fmax(one->absolute, absolute);
	one->relative = fmax(one->relative, relative);
	one->mantissa = mantissa;
	one->values++;
	return one;
}

int wti_tolerances_add(struct wti_tolerances *tolerances, const char *key, double absolute,
		       double relative, unsigned mantissa)
{
	const struct wti_tolerance *all = widen_by(tolerances, key, absolute, relative, mantissa);
	char part[WTI_VALUE_KEY_BYTES];

	if (all) {
		key_at(key, all->values, part);
		all = widen_by(tolerances, part, absolute, relative, mantissa);
	}
	if (all)
		return 0;
	tolerances->left_out++;
	return tolerances->index.failed ? WT_E_NOMEM : 0;
}

/*
 * Two runs may lie on both sides of the mean, and few runs show less than the whole scatter: by as
 * much as the confidence says. Never less than two units of the last digit.
 */
void wti_tolerances_widen(struct wti_tolerances *tolerances, double confidence)
{
	double freedom = tolerances->runs > 1 ? tolerances->runs - 1 : 1;
	double factor = 2 * sqrt(freedom / wti_chi2_quantile((1 - confidence) / 2, freedom));

	for (size_t i = 0; i < tolerances->count; i++) {
		struct wti_tolerance *one = &tolerances->all[i];

		one->absolute *= factor;
		one->relative = fmax(one->relative * factor, ldexp(2, -(int)one->mantissa));
	}
}

static const struct wti_tolerance *find(const struct wti_tolerances *tolerances, const char *key,
					size_t bytes)
{
	const uint64_t *slot = wti_map_find_text(&tolerances->index, key, bytes);

	return slot && *slot ? &tolerances->all[*slot - 1] : NULL;
}

const struct wti_tolerance *wti_tolerances_find_at(const struct wti_tolerances *tolerances,
						   const char *key, uint64_t occurrence)
{
	const struct wti_tolerance *part;
	char text[WTI_VALUE_KEY_BYTES];

	key_at(key, occurrence, text);
	part = find(tolerances, text, strlen(text));
	return part ? part : find(tolerances, key, strlen(key));
}

/* Of a part that is hardly narrower than the whole the whole is enough. */
static bool is_worth(const struct wti_tolerances *tolerances, const struct wti_map_entry *entry)
{
	const char *at = memrchr(entry->text, '@', entry->bytes);
	const struct wti_tolerance *one = &tolerances->all[entry->value - 1], *all = NULL;

	if (at > entry->text && at[-1] == ' ')
		all = find(tolerances, entry->text, (size_t)(at - 1 - entry->text));
	return !all || one->absolute < PART_WORTH * all->absolute ||
	       one->relative < PART_WORTH * all->relative;
}

int wti_tolerances_write(const struct wti_tolerances *tolerances, const char *path,
			 struct wt_err *err)
{
	struct wti_json json;
	struct wti_buf out;
	int r;

	wti_buf_init(&out, FILE_BYTES_MAX);
	wti_json_init(&json, &out, true);
	wti_json_object(&json);
	wti_json_key(&json, "format");
	wti_json_text(&json, FORMAT);
	wti_json_key(&json, "version");
	wti_json_u64(&json, VERSION);
	wti_json_key(&json, "runs");
	wti_json_u64(&json, tolerances->runs);
	wti_json_key(&json, "noise");
	wti_json_text(&json, tolerances->noise);
	wti_json_key(&json, "values");
	wti_json_object(&json);
	for (size_t i = 0; i < tolerances->index.count; i++) {
		const struct wti_map_entry *entry = &tolerances->index.entries[i];
		const struct wti_tolerance *one =
			entry->value ? &tolerances->all[entry->value - 1] : NULL;

		if (!one || !is_worth(tolerances, entry))
			continue;
		wti_json_key_n(&json, entry->text, entry->bytes);
		wti_json_object(&json);
		wti_json_key(&json, "absolute");
		wti_json_f64(&json, one->absolute);
		wti_json_key(&json, "relative");
		wti_json_f64(&json, one->relative);
		wti_json_key(&json, "values");
		wti_json_u64(&json, one->values);
		wti_json_object_end(&json);
	}
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(&out, '\n');
	r = wti_buf_status(&out) ? wti_err(err, WT_E_LIMIT, "too many tolerances for '%s'", path)
				 : wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

static double number_of(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	if (value && value->type == WTI_DOC_FLOAT)
		return value->number;
	return value && value->type == WTI_DOC_INT ? (double)value->integer : NAN;
}

static int take_values(const char *path, const struct wti_doc *values,
		       struct wti_tolerances *tolerances, struct wt_err *err)
{
	for (const struct wti_doc *at = values->first; at; at = at->next) {
		struct wti_tolerance *one;
		double absolute = at->type == WTI_DOC_TABLE ? number_of(at, "absolute") : NAN;
		double relative = at->type == WTI_DOC_TABLE ? number_of(at, "relative") : NAN;

		if (!(absolute >= 0) || !(relative >= 0))
			return wti_err(
				err, WT_E_FORMAT,
				"%s:%u: '%s' needs numbers 'absolute' and 'relative', 0 or more",
				path, at->line, at->key);
		one = entry_of(tolerances, at->key);
		if (!one)
			return wti_err(err, WT_E_NOMEM, "out of memory");
		one->absolute = absolute;
		one->relative = relative;
	}
	return 0;
}

static int take_file(const char *path, const struct wti_doc *root,
		     struct wti_tolerances *tolerances, struct wt_err *err)
{
	const char *format = wti_doc_text(root, "format");
	const struct wti_doc *values = wti_doc_get(root, "values");

	if (!format || strcmp(format, FORMAT))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' is no file of tolerances: `wheeltap digits --tolerances -o "
			       "FILE` writes one",
			       path);
	if (wti_doc_count(root, "version") != VERSION)
		return wti_err(err, WT_E_VERSION,
			       "'%s' has format version %lld; this wheeltap reads only version %d",
			       path, (long long)wti_doc_count(root, "version"), VERSION);
	if (!values || values->type != WTI_DOC_TABLE)
		return wti_err(err, WT_E_FORMAT, "'%s' has no table 'values'", path);
	return take_values(path, values, tolerances, err);
}

int wti_tolerances_read(const char *path, struct wti_tolerances *ret_tolerances, struct wt_err *err)
{
	struct wti_tolerances tolerances;
	struct wti_doc *root = NULL;
	struct wti_buf text;
	int r;

	wti_buf_init(&text, FILE_BYTES_MAX);
	wti_tolerances_init(&tolerances);
	r = wti_file_read(path, FILE_BYTES_MAX, &text, err);
	r = r ? r : wti_json_parse(path, (const char *)text.data, text.bytes, &root, err);
	r = r ? r : take_file(path, root, &tolerances, err);
	wti_doc_free(root);
	wti_buf_release(&text);
	if (r)
		wti_tolerances_release(&tolerances);
	else
		*ret_tolerances = tolerances;
	return r;
}
