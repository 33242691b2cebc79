/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configurations of TrainCheck's collector and of Pytracer, translated into options of
 * `record`. What has no counterpart has none because there is nothing to choose: models are found
 * by themselves, the source is not rewritten, nothing is copied.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"

/* True of `value: true`; the option then gets the word that goes with the key. */
static int take_flag(struct wti_config *config, const struct wti_dialect_key *key,
		     const struct wti_doc *value)
{
	if (value->type != WTI_DOC_BOOL)
		return wti_config_fail(config, value, "bad value for '%s'; expected true or false",
				       key->name);
	return value->boolean ? wti_config_set(config, value, key->option, key->with) : 0;
}

/* A path, or several, from the folder of the file. */
static int take_paths(struct wti_config *config, const struct wti_dialect_key *key,
		      const struct wti_doc *value)
{
	const struct wti_doc *one = value->type == WTI_DOC_ARRAY ? value->first : value;
	int r = 0;

	for (; one && !r; one = value->type == WTI_DOC_ARRAY ? one->next : NULL) {
		const char *path = wti_config_text(config, one);

		if (!path)
			return config->err->code;
		if (path[0])
			r = wti_config_set(config, one, key->option, wti_config_path(config, path));
	}
	return r;
}

/* ---- TrainCheck ------------------------------------------------------------------------------ */

/* It runs scripts in the folder that they are in. */
static const char *folder_of(struct wti_config *config, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;

	if (!slash)
		return ".";
	folder = wti_arena_text(&config->texts, path, (size_t)(slash - path) + (slash == path));
	return folder;
}

/* `with` is what runs the script; a shell script has the last word over what it starts. */
static int take_script(struct wti_config *config, const struct wti_dialect_key *key,
		       const struct wti_doc *value)
{
	const char *text = wti_config_text(config, value), *path;
	const char *slash;

	if (!text)
		return config->err->code;
	if (config->program_count && !strcmp(key->name, "pyscript"))
		return 0;
	path = wti_config_path(config, text);
	if (!path)
		return config->err->code;
	config->program_directory = folder_of(config, path);
	slash = strrchr(path, '/');
	return wti_config_program(config, value,
				  (const char *[]){key->with, slash ? slash + 1 : path}, 2);
}

static int take_format(struct wti_config *config, const struct wti_dialect_key *key,
		       const struct wti_doc *value)
{
	const char *text = wti_config_text(config, value);

	if (text && !strcmp(text, "hash")) /* statistics come in the same pass */
		text = "digest";
	return wti_config_set(config, value, key->option, text);
}

/* Every step is what happens without sampling. */
static int take_interval(struct wti_config *config, const struct wti_dialect_key *key,
			 const struct wti_doc *value)
{
	char *text;

	if (value->type != WTI_DOC_INT || value->integer < 1)
		return wti_config_fail(config, value,
				       "bad value for '%s'; expected a number of at least 1",
				       key->name);
	if (value->integer == 1)
		return 0;
	text = wti_arena_alloc(&config->texts, 32);
	if (text)
		snprintf(text, 32, "every=%lld", (long long)value->integer);
	return wti_config_set(config, value, key->option, text);
}

static const struct wti_dialect_key traincheck_keys[] = {
	{"pyscript", NULL, take_script, "python3"},
	{"shscript", NULL, take_script, "bash"},
	{"modules_to_instr", "modules"},
	{"output_dir", "output"},
	{"only_instr", "dry-run", take_flag, "yes"},
	{"use_full_instr", "detail", take_flag, "full"},
	{"tensor_dump_format", "tensors", take_format},
	{"invariants", "invariants"},
	{"sampling_interval", "sample", take_interval},
	{"warm_up_steps"},
	{"use_config"},
	{"config"},
	{"copy_all_files"},
	{"instr_descriptors"},
	{"profiling"},
	{"debug_mode"},
	{"disable_scan_proxy_in_args"},
	{"API_dump_stack_trace"},
	{"models_to_track"},
	{"model_tracker_style"},
	{"no_auto_var_instr"},
	{"use_torch_compile"},
	{NULL},
};

const struct wti_dialect wti_dialect_traincheck = {"TrainCheck", traincheck_keys};

/* ---- Pytracer -------------------------------------------------------------------------------- */

/* Modules by the beginning of their name, all of their functions. */
static int take_excluded(struct wti_config *config, const struct wti_dialect_key *key,
			 const struct wti_doc *value)
{
	struct wti_buf patterns;
	const char *text = NULL;

	if (value->type != WTI_DOC_ARRAY)
		return wti_config_fail(config, value, "bad value for '%s'; expected a list",
				       key->name);
	wti_buf_init(&patterns, 1u << 20);
	for (const struct wti_doc *one = value->first; one; one = one->next) {
		const char *name = wti_config_text(config, one);

		if (!name)
			break;
		wti_buf_printf(&patterns, "%s%s.*", one == value->first ? "" : ",", name);
	}
	if (!wti_buf_status(&patterns) && value->first)
		text = wti_arena_text(&config->texts, patterns.data, patterns.bytes);
	wti_buf_release(&patterns);
	return value->first ? wti_config_set(config, value, key->option, text) : 0;
}

static const struct wti_dialect_key pytracer_keys[] = {
	{"modules_to_load", "modules"},
	{"modules_to_exclude", "skip", take_excluded},
	{"include_file", "include-file", take_paths},
	{"exclude_file", "exclude-file", take_paths},
	{"io.trace", "name"},
	{"python_modules_path"},
	{"logger.format"},
	{"logger.output"},
	{"logger.color"},
	{"logger.level"},
	{"io.type"},
	{"io.filename"},
	{"io.backtrace"},
	{"io.cache.root"},
	{"io.cache.traces"},
	{"io.cache.stats"},
	{"io.cache.sources"},
	{"io.cache.info"},
	{"io.cache.report"},
	{"io.export.filename"},
	{"io.stats.filename"},
	{"io.stats.callgraph"},
	{"io.report.filename"},
	{"numpy.ufunc"},
	{NULL},
};

const struct wti_dialect wti_dialect_pytracer = {"Pytracer", pytracer_keys};
