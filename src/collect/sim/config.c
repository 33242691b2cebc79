/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a simulation: their defaults, and reading them from TOML. The table below is the
 * whole of it: a key is a row. Bounds keep every later multiplication within 64 bits.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "base/toml.h"

#include "sim.h"

#define PERCENT(p) ((p)*WTI_SIM_SHARE_ONE / 100u)
#define DRAWN WTI_SIM_JITTER_DRAWN
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Defaults ----------------------------------------------------------------------------- */

static const struct wti_sim_kernel default_kernels[] = {
	{"layer_norm", "4096x1x1/256x1x1", WTI_SIM_FORWARD, 9200, 50, DRAWN},
	{"gemm_qkv", "96x32x1/128x1x1", WTI_SIM_FORWARD, 84000, 80, DRAWN},
	{"attention", "64x12x8/128x1x1", WTI_SIM_FORWARD, 121000, 85, DRAWN},
	{"gemm_projection", "32x32x1/128x1x1", WTI_SIM_FORWARD, 46500, 75, DRAWN},
	{"add_residual", "8192x1x1/256x1x1", WTI_SIM_FORWARD, 7100, 45, DRAWN},
	{"layer_norm", "4096x1x1/256x1x1", WTI_SIM_FORWARD, 9200, 50, DRAWN},
	{"gemm_up", "128x32x1/128x1x1", WTI_SIM_FORWARD, 132000, 85, DRAWN},
	{"gelu", "16384x1x1/256x1x1", WTI_SIM_FORWARD, 14300, 45, DRAWN},
	{"gemm_down", "32x32x1/128x1x1", WTI_SIM_FORWARD, 128000, 85, DRAWN},
	{"add_residual", "8192x1x1/256x1x1", WTI_SIM_FORWARD, 7100, 45, DRAWN},
	{"gemm_logits", "250x32x1/128x1x1", WTI_SIM_HEAD, 198000, 90, DRAWN},
	{"cross_entropy", "4096x1x1/512x1x1", WTI_SIM_HEAD, 31000, 60, DRAWN},
	{"cross_entropy_backward", "4096x1x1/512x1x1", WTI_SIM_HEAD, 28500, 60, DRAWN},
	{"gemm_logits_backward", "32x32x1/128x1x1", WTI_SIM_HEAD, 195000, 90, DRAWN},
	{"gemm_down_backward", "128x32x1/128x1x1", WTI_SIM_BACKWARD, 130000, 70, DRAWN},
	{"gelu_backward", "16384x1x1/256x1x1", WTI_SIM_BACKWARD, 15800, 45, DRAWN},
	{"gemm_up_backward", "32x32x1/128x1x1", WTI_SIM_BACKWARD, 134000, 70, DRAWN},
	{"layer_norm_backward", "4096x1x1/256x1x1", WTI_SIM_BACKWARD, 18400, 50, DRAWN},
	{"gemm_projection_backward", "32x32x1/128x1x1", WTI_SIM_BACKWARD, 48000, 65, DRAWN},
	{"attention_backward", "64x12x8/128x1x1", WTI_SIM_BACKWARD, 192000, 80, DRAWN},
	{"gemm_qkv_backward", "32x32x1/128x1x1", WTI_SIM_BACKWARD, 86500, 70, DRAWN},
	{"layer_norm_backward", "4096x1x1/256x1x1", WTI_SIM_BACKWARD, 18400, 50, DRAWN},
	{"gemm_down_weights", "32x128x1/128x1x1", WTI_SIM_WEIGHT, 126000, 40, DRAWN},
	{"gemm_up_weights", "128x32x1/128x1x1", WTI_SIM_WEIGHT, 128500, 40, DRAWN},
	{"gemm_projection_weights", "32x32x1/128x1x1", WTI_SIM_WEIGHT, 45000, 35, DRAWN},
	{"gemm_qkv_weights", "96x32x1/128x1x1", WTI_SIM_WEIGHT, 82000, 40, DRAWN},
	{"clip_gradients", "320x1x1/512x1x1", WTI_SIM_OPTIMIZER, 38000, 70, DRAWN},
	{"adam", "320x1x1/512x1x1", WTI_SIM_OPTIMIZER, 64000, 80, DRAWN},
	{"adam", "320x1x1/512x1x1", WTI_SIM_OPTIMIZER, 64000, 80, DRAWN},
	{"adam", "320x1x1/512x1x1", WTI_SIM_OPTIMIZER, 64000, 80, DRAWN},
};

void wti_sim_config_init(struct wti_sim_config *config)
{
	*config = (struct wti_sim_config){
		.seed = 1,
		.events = 1000000,
		.start_ns = 1000000000,
		.devices = 2,
		.layers = 12,
		.host = WTI_SIM_HOST_SPANS,
		.edges = true,
		.side_queue = true,
		.launch_ns = 3100,
		.launch_gap_ns = 1900,
		.queue_gap_ns = 1700,
		.step_ns = 60000,
		.jitter_share = PERCENT(15),
		.transfer_jitter_share = PERCENT(4),
		.outlier_share = WTI_SIM_SHARE_ONE / 400,
		.link_bytes_per_us = 24000,
		.link_devices = 2,
		.batch_bytes = 4 << 20,
		.offload_layers = 4,
		.offload_bytes = 8 << 20,
		.bucket_layers = 3,
		.layer_bytes = 14 << 20,
		.fabric_bytes_per_us = 180000,
		.collective_load_percent = 15,
		.kernel_count = COUNT_OF(default_kernels),
	};
	memcpy(config->kernels, default_kernels, sizeof(default_kernels));
}

/* ---- Keys --------------------------------------------------------------------------------- */

enum key_type { KEY_U32, KEY_U64, KEY_BOOL, KEY_SHARE, KEY_TEXT, KEY_CHOICE, KEY_TABLE };

struct key {
	const char *name;
	enum key_type type;
	size_t offset;            /* into the struct that the table fills */
	uint64_t min;             /* of numbers */
	uint64_t max;             /* of numbers; bytes of a text, with its NUL */
	const char *const *words; /* of a choice, ends with NULL; the value is the index */
	const struct key *keys;   /* of a table, ends with a name of NULL */
};

static const char *const host_words[] = {"spans", "marks", "none", NULL};
static const char *const phase_words[] = {"forward",         "head",      "backward",
					  "weight_gradient", "optimizer", NULL};

#define AT(member) offsetof(struct wti_sim_config, member)
#define NS_MAX 1000000000u
#define BYTES_MAX (1ull << 40) /* of a copy; see duration_of() in sim_program.c */

static const struct key timing_keys[] = {
	{"launch_ns", KEY_U32, AT(launch_ns), 1, NS_MAX},
	{"launch_gap_ns", KEY_U32, AT(launch_gap_ns), 0, NS_MAX},
	{"queue_gap_ns", KEY_U32, AT(queue_gap_ns), 0, NS_MAX},
	{"tell_ns", KEY_U32, AT(emit_ns), 0, NS_MAX},
	{"step_ns", KEY_U32, AT(step_ns), 0, NS_MAX},
	{"jitter", KEY_SHARE, AT(jitter_share), 0, WTI_SIM_SHARE_ONE / 4},
	{"transfer_jitter", KEY_SHARE, AT(transfer_jitter_share), 0, WTI_SIM_SHARE_ONE / 4},
	{"outliers", KEY_SHARE, AT(outlier_share), 0, WTI_SIM_SHARE_ONE},
	{NULL},
};

static const struct key copy_keys[] = {
	{"bytes_per_us", KEY_U32, AT(link_bytes_per_us), 1, UINT32_MAX},
	{"devices_per_link", KEY_U32, AT(link_devices), 1, WTI_SIM_DEVICES_MAX},
	{"batch_bytes", KEY_U64, AT(batch_bytes), 1, BYTES_MAX},
	{"offload_layers", KEY_U32, AT(offload_layers), 0, WTI_SIM_LAYERS_MAX},
	{"offload_bytes", KEY_U64, AT(offload_bytes), 1, BYTES_MAX},
	{NULL},
};

static const struct key collective_keys[] = {
	{"bucket_layers", KEY_U32, AT(bucket_layers), 1, WTI_SIM_LAYERS_MAX},
	{"layer_bytes", KEY_U64, AT(layer_bytes), 1, BYTES_MAX},
	{"bytes_per_us", KEY_U32, AT(fabric_bytes_per_us), 1, UINT32_MAX},
	{"load_percent", KEY_U32, AT(collective_load_percent), 0, 100},
	{NULL},
};

static const struct key top_keys[] = {
	{"seed", KEY_U64, AT(seed), 0, INT64_MAX},
	{"events", KEY_U64, AT(events), 1, WTI_SIM_EVENTS_MAX},
	{"start_ns", KEY_U64, AT(start_ns), 1, 1ull << 61},
	{"devices", KEY_U32, AT(devices), 1, WTI_SIM_DEVICES_MAX},
	{"layers", KEY_U32, AT(layers), 1, WTI_SIM_LAYERS_MAX},
	{"host", KEY_CHOICE, AT(host), .words = host_words},
	{"edges", KEY_BOOL, AT(edges)},
	{"stamps", KEY_BOOL, AT(stamps)},
	{"side_queue", KEY_BOOL, AT(side_queue)},
	{"stream_per_device", KEY_BOOL, AT(stream_per_device)},
	{"timing", KEY_TABLE, .keys = timing_keys},
	{"copy", KEY_TABLE, .keys = copy_keys},
	{"collective", KEY_TABLE, .keys = collective_keys},
	{"kernel", KEY_TABLE}, /* an array of tables, read by load_kernels() */
	{NULL},
};

#undef AT
#define AT(member) offsetof(struct wti_sim_kernel, member)

static const struct key kernel_keys[] = {
	{"name", KEY_TEXT, AT(name), 1, sizeof(((struct wti_sim_kernel *)0)->name)},
	{"geometry", KEY_TEXT, AT(geometry), 0, sizeof(((struct wti_sim_kernel *)0)->geometry)},
	{"phase", KEY_CHOICE, AT(phase), .words = phase_words},
	{"mean_ns", KEY_U32, AT(mean_ns), 1, NS_MAX},
	{"load_percent", KEY_U32, AT(load_percent), 1, 100},
	{"jitter", KEY_SHARE, AT(jitter_share), 0, WTI_SIM_SHARE_ONE / 4},
	{NULL},
};

/* ---- Reading ------------------------------------------------------------------------------ */

struct source {
	const char *path;
	struct wt_err *err;
};

static int wrong(const struct source *source, const struct wti_doc *value, const char *expected)
{
	return wti_err(source->err, WT_E_FORMAT, "wrong value for '%s' at %s:%u:%u: give %s",
		       value->key ? value->key : "", source->path, value->line, value->column,
		       expected);
}

static int read_number(const struct source *source, const struct wti_doc *value,
		       const struct key *key, void *target)
{
	char expected[80];
	uint64_t number = (uint64_t)value->integer;

	if (value->type != WTI_DOC_INT || value->integer < 0 || number < key->min ||
	    number > key->max) {
		snprintf(expected, sizeof(expected), "a whole number from %llu to %llu",
			 (unsigned long long)key->min, (unsigned long long)key->max);
		return wrong(source, value, expected);
	}
	if (key->type == KEY_U32)
		memcpy(target, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
	else
		memcpy(target, &number, sizeof(number));
	return 0;
}

static int read_share(const struct source *source, const struct wti_doc *value,
		      const struct key *key, void *target)
{
	char expected[80];
	double share = value->type == WTI_DOC_INT ? (double)value->integer : value->number;
	double max = (double)key->max / WTI_SIM_SHARE_ONE;
	uint32_t fixed;

	if ((value->type != WTI_DOC_FLOAT && value->type != WTI_DOC_INT) ||
	    !(share >= 0 && share <= max)) {
		snprintf(expected, sizeof(expected), "a share from 0 to %g", max);
		return wrong(source, value, expected);
	}
	fixed = (uint32_t)(share * WTI_SIM_SHARE_ONE);
	memcpy(target, &fixed, sizeof(fixed));
	return 0;
}

static int read_text(const struct source *source, const struct wti_doc *value,
		     const struct key *key, char *target)
{
	char expected[80];

	if (value->type != WTI_DOC_STRING || value->string.bytes < key->min ||
	    value->string.bytes >= key->max || memchr(value->string.data, 0, value->string.bytes)) {
		snprintf(expected, sizeof(expected), "a text of %llu to %llu bytes",
			 (unsigned long long)key->min, (unsigned long long)key->max - 1);
		return wrong(source, value, expected);
	}
	memcpy(target, value->string.data, value->string.bytes);
	target[value->string.bytes] = 0;
	return 0;
}

static int read_choice(const struct source *source, const struct wti_doc *value,
		       const struct key *key, void *target)
{
	char expected[160] = "one of";
	size_t at = strlen(expected);

	for (uint32_t i = 0; key->words[i]; i++) {
		if (value->type == WTI_DOC_STRING && strlen(key->words[i]) == value->string.bytes &&
		    !memcmp(key->words[i], value->string.data, value->string.bytes)) {
			memcpy(target, &i, sizeof(i));
			return 0;
		}
		at += (size_t)snprintf(expected + at, sizeof(expected) - at, " \"%s\"",
				       key->words[i]);
	}
	return wrong(source, value, expected);
}

static int read_table(const struct source *source, const struct wti_doc *table,
		      const struct key *keys, void *target);

static int read_value(const struct source *source, const struct wti_doc *value,
		      const struct key *key, void *target)
{
	char *at = (char *)target + key->offset;

	switch (key->type) {
	case KEY_U32:
	case KEY_U64:
		return read_number(source, value, key, at);
	case KEY_SHARE:
		return read_share(source, value, key, at);
	case KEY_TEXT:
		return read_text(source, value, key, at);
	case KEY_CHOICE:
		return read_choice(source, value, key, at);
	case KEY_BOOL:
		if (value->type != WTI_DOC_BOOL)
			return wrong(source, value, "true or false");
		memcpy(at, &value->boolean, sizeof(value->boolean));
		return 0;
	case KEY_TABLE:
		/* One level deep, as the table of keys is. */
		return key->keys ? read_table(source, value, key->keys, target) : 0;
	}
	return 0;
}

static int unknown_key(const struct source *source, const struct wti_doc *value,
		       const struct key *keys)
{
	const char *names[COUNT_OF(top_keys)];
	const char *meant;
	size_t count = 0;

	while (keys[count].name && count < COUNT_OF(names)) {
		names[count] = keys[count].name;
		count++;
	}
	meant = wti_suggest(value->key, names, count);
	if (meant)
		return wti_err(source->err, WT_E_FORMAT,
			       "unknown key '%s' at %s:%u:%u: did you mean '%s'?", value->key,
			       source->path, value->line, value->column, meant);
	return wti_err(source->err, WT_E_FORMAT,
		       "unknown key '%s' at %s:%u:%u: docs/sim.md lists the known keys", value->key,
		       source->path, value->line, value->column);
}

static int read_table(const struct source *source, const struct wti_doc *table,
		      const struct key *keys, void *target)
{
	if (table->type != WTI_DOC_TABLE)
		return wrong(source, table, "a table");
	for (const struct wti_doc *value = table->first; value; value = value->next) {
		const struct key *key = keys;
		int r;

		while (key->name && strcmp(key->name, value->key))
			key++;
		r = key->name ? read_value(source, value, key, target)
			      : unknown_key(source, value, keys);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_kernel(const struct source *source, const struct wti_doc *table,
		       struct wti_sim_kernel *kernel)
{
	*kernel = (struct wti_sim_kernel){.load_percent = 80, .jitter_share = DRAWN};
	if (read_table(source, table, kernel_keys, kernel) < 0)
		return WT_E_FORMAT;
	if (!kernel->name[0] || !kernel->mean_ns)
		return wti_err(source->err, WT_E_FORMAT,
			       "incomplete kernel at %s:%u:%u: give 'name' and 'mean_ns'",
			       source->path, table->line, table->column);
	return 0;
}

/* The first kernel of a file replaces all of the defaults. */
static int read_kernels(const struct source *source, const struct wti_doc *list,
			struct wti_sim_config *config)
{
	if (!list)
		return 0;
	if (list->type != WTI_DOC_ARRAY)
		return wrong(source, list, "[[kernel]] tables");
	config->kernel_count = 0;
	for (const struct wti_doc *table = list->first; table; table = table->next) {
		int r;

		if (config->kernel_count == WTI_SIM_KERNELS_MAX)
			return wti_err(source->err, WT_E_LIMIT,
				       "too many kernels at %s:%u:%u: at most %d are allowed",
				       source->path, table->line, table->column,
				       WTI_SIM_KERNELS_MAX);
		r = read_kernel(source, table, &config->kernels[config->kernel_count]);
		if (r < 0)
			return r;
		config->kernel_count++;
	}
	return 0;
}

int wti_sim_config_load(struct wti_sim_config *config, const char *path, struct wt_err *err)
{
	struct source source = {path, err};
	struct wti_sim_config copy = *config;
	struct wti_doc *root;
	int r = wti_toml_load(path, &root, err);

	if (r < 0)
		return r;
	r = read_table(&source, root, top_keys, &copy);
	if (r == 0)
		r = read_kernels(&source, wti_doc_get(root, "kernel"), &copy);
	wti_doc_free(root);
	if (r == 0)
		*config = copy;
	return r;
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void write_value(const struct key *key, const void *source, struct wti_json *json)
{
	const char *at = (const char *)source + key->offset;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (key->type == KEY_U64)
		memcpy(&wide, at, sizeof(wide));
	else if (key->type != KEY_BOOL && key->type != KEY_TEXT)
		memcpy(&narrow, at, sizeof(narrow));
	wti_json_key(json, key->name);
	if (key->type == KEY_TEXT)
		wti_json_text(json, at);
	else if (key->type == KEY_BOOL)
		wti_json_bool(json, *(const bool *)at);
	else if (key->type == KEY_CHOICE)
		wti_json_text(json, key->words[narrow]);
	else if (key->type == KEY_SHARE && narrow == DRAWN)
		wti_json_null(json);
	else if (key->type == KEY_SHARE)
		wti_json_f64(json, (double)narrow / WTI_SIM_SHARE_ONE);
	else
		wti_json_u64(json, key->type == KEY_U64 ? wide : narrow);
}

static void write_values(const struct key *keys, const void *source, struct wti_json *json)
{
	wti_json_object(json);
	for (const struct key *key = keys; key->name; key++)
		write_value(key, source, json);
	wti_json_object_end(json);
}

void wti_sim_config_write(const struct wti_sim_config *config, struct wti_json *json)
{
	wti_json_object(json);
	for (const struct key *key = top_keys; key->name; key++) {
		if (key->type != KEY_TABLE) {
			write_value(key, config, json);
		} else if (key->keys) {
			wti_json_key(json, key->name);
			write_values(key->keys, config, json);
		}
	}
	wti_json_key(json, "kernel");
	wti_json_array(json);
	for (size_t i = 0; i < config->kernel_count; i++)
		write_values(kernel_keys, &config->kernels[i], json);
	wti_json_array_end(json);
	wti_json_object_end(json);
}
