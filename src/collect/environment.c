/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what is worth keeping of a machine, and what of an environment may be kept. */
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/secret.h"
#include "base/text.h"
#include "trace/protocol.h"

#include "environment.h"

#define SCAN_BYTES (1 << 20)
#define EXECUTABLE_BYTES_MAX (64ull << 20)

/* What changes how a training run computes, and nothing else. Globs over the name. */
static const char *const allowed[] = {
	"BLIS_*",
	"CUBLAS_*",
	"CUDA_*",
	"CUDNN_*",
	"GOMP_*",
	"GPU_*",
	"GROUP_RANK",
	"GROUP_WORLD_SIZE",
	"HIP_VISIBLE_DEVICES",
	"KMP_*",
	"LANG",
	"LC_ALL",
	"LOCAL_RANK",
	"LOCAL_WORLD_SIZE",
	"MALLOC_ARENA_MAX",
	"MKL_*",
	"NCCL_*",
	"NUMEXPR_*",
	"NVIDIA_TF32_OVERRIDE",
	"OMP_*",
	"OPENBLAS_*",
	"PL_GLOBAL_SEED",
	"PYTHONHASHSEED",
	"PYTHONOPTIMIZE",
	"PYTORCH_*",
	"RANK",
	"ROCR_VISIBLE_DEVICES",
	"SEED",
	"TF_CPP_*",
	"TF_CUDNN_*",
	"TF_DETERMINISTIC_OPS",
	"TF_ENABLE_*",
	"TF_FORCE_GPU_ALLOW_GROWTH",
	"TF_NUM_*",
	"TF_XLA_FLAGS",
	"TORCH_*",
	"TOKENIZERS_PARALLELISM",
	"TZ",
	"VECLIB_*",
	"WORLD_SIZE",
	"XLA_*",
};

bool wti_environment_allows(const char *name, size_t bytes)
{
	if (wti_secret_is_key(name, bytes))
		return false;
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (wti_glob(allowed[i], name, bytes))
			return true;
	return false;
}

static void read_cpu(char out[128])
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "re");

	out[0] = 0;
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = 0;
		snprintf(out, 128, "%s", colon);
		break;
	}
	if (file)
		fclose(file);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" of os-release(5). */
static void read_os(char out[128])
{
	static const char key[] = "PRETTY_NAME=";
	char line[512];
	FILE *file = fopen("/etc/os-release", "re");

	out[0] = 0;
	while (file && fgets(line, sizeof(line), file)) {
		char *value = line + sizeof(key) - 1;

		if (strncmp(line, key, sizeof(key) - 1) != 0)
			continue;
		value += strspn(value, "\"'");
		value[strcspn(value, "\"'\n")] = 0;
		snprintf(out, 128, "%.127s", value);
		break;
	}
	if (file)
		fclose(file);
}

static uint32_t count_cpus(void)
{
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return (uint32_t)CPU_COUNT(&set);
	return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* An executable that is linked with an agent has the agent's name, or its variable's, in it. */
static bool names_agent(const char *path)
{
	char *part = malloc(SCAN_BYTES);
	int fd = wti_open_regular(path, NULL);
	bool found = false;

	for (uint64_t at = 0; part && fd >= 0 && !found && at < EXECUTABLE_BYTES_MAX;) {
		ssize_t n = wti_pread_all(fd, part, SCAN_BYTES, at);

		if (n <= 0)
			break;
		found = memmem(part, (size_t)n, "libwheeltap", 11) ||
			memmem(part, (size_t)n, WTI_ENV, sizeof(WTI_ENV) - 1);
		if (n < SCAN_BYTES)
			break;
		at += SCAN_BYTES - 64; /* it may lie across the border */
	}
	free(part);
	if (fd >= 0)
		close(fd);
	return found;
}

void wti_environment_look(struct wti_environment *environment, const char *executable,
			  char *const *variables)
{
	struct utsname names;
	struct sysinfo info;

	memset(environment, 0, sizeof(*environment));
	if (!getcwd(environment->directory, sizeof(environment->directory)))
		environment->directory[0] = 0;
	if (!uname(&names)) {
		snprintf(environment->host, sizeof(environment->host), "%s", names.nodename);
		snprintf(environment->kernel, sizeof(environment->kernel), "%s %s %s",
			 names.sysname, names.release, names.machine);
	}
	if (!sysinfo(&info))
		environment->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	read_cpu(environment->cpu);
	read_os(environment->os);
	snprintf(environment->libc, sizeof(environment->libc), "glibc %s", gnu_get_libc_version());
	environment->cpu_count = count_cpus();
	if (!realpath(executable, environment->executable))
		snprintf(environment->executable, sizeof(environment->executable), "%s",
			 executable);
	wti_build_id(executable, environment->build_id);
	environment->has_agent = names_agent(executable);
	wti_git_look(&environment->git, variables);
}

/* ---- Into JSON ------------------------------------------------------------------------------ */

static void masked_text(struct wti_json *json, const char *text, bool whole)
{
	size_t bytes = strlen(text);
	char *copy = malloc(bytes + 16);

	if (!copy) {
		wti_json_null(json);
		return;
	}
	memcpy(copy, text, bytes);
	bytes = whole ? wti_secret_mask_all(copy, bytes) : wti_secret_mask(copy, bytes);
	wti_json_text_n(json, copy, bytes);
	free(copy);
}

void wti_json_masked(struct wti_json *json, const char *text)
{
	masked_text(json, text, false);
}

/* "--password", "-token": an option whose value is the next word. */
static bool announces_secret(const char *word)
{
	return word[0] == '-' && !strchr(word, '=') && wti_secret_is_key(word, strlen(word));
}

void wti_json_command(struct wti_json *json, char *const *argv)
{
	wti_json_array(json);
	for (size_t i = 0; argv[i]; i++)
		masked_text(json, argv[i], i && announces_secret(argv[i - 1]));
	wti_json_array_end(json);
}

void wti_mask_command(char *const *argv, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; argv[i] && used + 1 < bytes; i++) {
		size_t length = strlen(argv[i]);
		char *copy = malloc(length + 16);

		if (!copy)
			return;
		memcpy(copy, argv[i], length);
		length = i && announces_secret(argv[i - 1]) ? wti_secret_mask_all(copy, length)
							    : wti_secret_mask(copy, length);
		used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", i ? " " : "",
					 (int)length, copy);
		free(copy);
	}
	for (char *at = out; *at; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
}

void wti_json_variables(struct wti_json *json, char *const *variables)
{
	wti_json_object(json);
	for (size_t i = 0; variables[i]; i++) {
		const char *equals = strchr(variables[i], '=');
		size_t bytes = equals ? (size_t)(equals - variables[i]) : 0;

		if (!bytes || !wti_environment_allows(variables[i], bytes))
			continue;
		wti_json_key_n(json, variables[i], bytes);
		masked_text(json, equals + 1, false);
	}
	wti_json_object_end(json);
}
