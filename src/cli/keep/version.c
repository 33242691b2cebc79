/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `version`: which wheeltap this is, what it reads, and what it is made of. */
#include <elfutils/libdwfl.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/library.h"
#include "cli/record/python.h"
#include "cli/report.h"
#include "probe.h"
#include "trace/block.h"
#include "trace/protocol.h"

#define AGENT_PREFIX "_wheeltap.cpython-3"

struct version_options {
	bool json;
	bool verbose;
};

static void put_format(struct wt_result *result)
{
	char text[64];

	snprintf(text, sizeof(text), "%u.%u", WTI_FORMAT_MAJOR, WTI_FORMAT_MINOR);
	wt_result_fact_text(result, "format", "trace format", text);
	snprintf(text, sizeof(text), "%u", WTI_PROTOCOL);
	wt_result_fact_text(result, "protocol", "protocol of agents", text);
}

static void put_build(struct wt_result *result)
{
	struct utsname name;
	char text[128];

	snprintf(text, sizeof(text), "%s, with glibc %d.%d", __VERSION__, __GLIBC__,
		 __GLIBC_MINOR__);
	wt_result_fact_text(result, "compiler", "compiled by", text);
	wt_result_fact_text(result, "glibc", "runs with glibc", gnu_get_libc_version());
	if (!uname(&name)) {
		snprintf(text, sizeof(text), "%.60s %.60s", name.release, name.machine);
		wt_result_fact_text(result, "kernel", "kernel", text);
	}
}

static void put_libraries(struct wt_result *result)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "zstd %s, zlib %s, sqlite %s, sodium %s, xxhash %u.%u.%u, elfutils %s, yaml %s",
		 ZSTD_versionString(), zlibVersion(), sqlite3_libversion(), sodium_version_string(),
		 XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100,
		 XXH_versionNumber() % 100, dwfl_version(NULL), yaml_get_version_string());
	wt_result_fact_text(result, "libraries", "libraries", text);
	wt_result_fact_text(result, "linked", "linked",
			    wti_library_none() ? "into the program, with glibc"
			    : wti_library_is_linked_in((const void *)(uintptr_t)ZSTD_versionString)
				    ? "into the program"
				    : "shared");
}

/* "3.9" of "/.../_wheeltap.cpython-39-x86_64-linux-gnu.so" */
static void put_agent(struct wti_buf *out, const char *path)
{
	const char *at = strstr(path, AGENT_PREFIX);

	if (!at)
		return;
	at += sizeof(AGENT_PREFIX) - 1;
	wti_buf_printf(out, "%s3.%.*s", out->bytes ? ", " : "", (int)strcspn(at, "-."), at);
}

static void put_matches(struct wti_buf *out, const char *home, const char *pattern,
			void (*put)(struct wti_buf *, const char *))
{
	char path[PATH_MAX + 64];
	glob_t found;

	snprintf(path, sizeof(path), "%s/wheeltap/%s", home, pattern);
	if (!glob(path, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			put(out, found.gl_pathv[i]);
	globfree(&found);
}

/* "2.9.1+cpu-d0f2af8b" of "/.../shim-torch-2.9.1+cpu-d0f2af8b.so" */
static void put_shim(struct wti_buf *out, const char *path)
{
	const char *name = strrchr(path, '/') + sizeof("/shim-torch-") - 1;

	wti_buf_printf(out, "%s%.*s", out->bytes ? ", " : "", (int)strlen(name) - 3, name);
}

static void put_list(struct wt_result *result, const char *key, const char *label, const char *home,
		     const char *pattern, void (*put)(struct wti_buf *, const char *))
{
	struct wti_buf out;

	wti_buf_init(&out, 4096);
	put_matches(&out, home, pattern, put);
	wt_result_fact_text(result, key, label, out.bytes ? wti_buf_cstr(&out) : "none");
	wti_buf_release(&out);
}

/* What comes with it; agents that were built later are for `env`. */
static void put_python(struct wt_result *result)
{
	char home[PATH_MAX], path[PATH_MAX + 64], sources[128];

	if (!wti_python_home(home)) {
		wt_result_fact_text(result, "python", "Python package", "not installed");
		return;
	}
	wt_result_fact_text(result, "python", "Python package", home);
	snprintf(path, sizeof(path), "%s/wheeltap/source/identity", home);
	if (wti_probe_line(path, sources, sizeof(sources)))
		wt_result_fact_text(result, "sources", "sources of agents", sources);
	put_list(result, "agents", "agents for CPython", home, AGENT_PREFIX "*.so", put_agent);
	put_list(result, "shims", "shims for torch", home, "shim-torch-*.so", put_shim);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct version_options *options = opaque;
	struct wt_result result;
	int code;

	if (!options->json && !options->verbose)
		return wti_print("wheeltap " WTI_VERSION "\n", sizeof("wheeltap " WTI_VERSION))
			       ? WTI_EXIT_CLEAN
			       : WTI_EXIT_ENVIRONMENT;
	wt_result_init(&result, "version");
	wt_result_set_status(&result, "clean");
	wt_result_fact_text(&result, "version", "version", WTI_VERSION);
	if (options->verbose) {
		put_format(&result);
		put_build(&result);
		put_libraries(&result);
		put_python(&result);
	}
	code = wti_report_result(&result, options->json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"verbose", 'v', WTI_OPT_FLAG, NULL, NULL,
	 "also print what it reads, what it was built with, and which agents come with it",
	 offsetof(struct version_options, verbose)},
	WTI_OPTION_JSON(struct version_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_version = {
	.name = "version",
	.arguments = "",
	.summary = "print the version of wheeltap",
	.description = "Prints the version of this program. Traces of a newer format are refused "
		       "with the version that wrote them; an agent and a recorder whose "
		       "protocols differ do not work together, and both report it.",
	.options = options,
	.options_bytes = sizeof(struct version_options),
	.group = "keep",
	.run = run,
};
