/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions and libraries: what is there to be used. Nothing is loaded or run. */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/library.h"
#include "base/text.h"
#include "place.h"
#include "probe.h"
#include "cli/front.h"
#include "cli/record/gpu.h"
#include "cli/record/library.h"

#define SPACE_MIN (2ull << 30)
#define FILES_MIN 1024u
#define SHARED_MIN (256ull << 20)

/* ---- Permissions ----------------------------------------------------------------------------- */

static void look_home(struct wti_probed *ret)
{
	const char *home = wti_home();
	bool exists = !access(home, F_OK);
	const char *asked = exists ? home : getenv("WHEELTAP_HOME") ? home : ".";

	if (!access(asked, W_OK | X_OK))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "runs go to '%.200s'", home);
	else if (!exists && getenv("WHEELTAP_HOME"))
		wti_probed_say(ret, WTI_PROBE_LIMITED, NULL, "'%.200s' will be created", home);
	else
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       wti_place_is_container()
				       ? "docker run -v $PWD/runs:/runs -e WHEELTAP_HOME=/runs "
					 "..., or record -o DIR"
				       : "set WHEELTAP_HOME to a folder that you own, or record "
					 "with -o DIR",
			       "cannot write to '%.200s': %s", asked, strerror(errno));
}

static void look_space(struct wti_probed *ret)
{
	struct statvfs fs;
	char size[16];
	uint64_t bytes;

	if (statvfs(wti_home(), &fs) && statvfs(".", &fs)) {
		wti_probed_say(ret, WTI_PROBE_LIMITED, NULL, "not known");
		return;
	}
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	wti_format_bytes(size, bytes);
	if (bytes < SPACE_MIN)
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "wheeltap clean --older-than 7d, or set "
			       "WHEELTAP_HOME",
			       "%s free, the ceiling of a trace is 2 GB", size);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%s free", size);
}

static void look_files(struct wti_probed *ret)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < FILES_MIN)
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       wti_place_is_container() ? "docker run --ulimit nofile=4096 ..."
							: "ulimit -n 4096",
			       "%llu open files: one is needed for each thread that records",
			       (unsigned long long)limit.rlim_cur);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%llu", (unsigned long long)limit.rlim_cur);
}

/* Ours is memfd, which has no limit of its own; workers of a DataLoader pass tensors through this.
 */
static void look_shared_memory(struct wti_probed *ret)
{
	struct statvfs fs;
	char size[16];
	const char *cure = wti_place_is_container() ? "docker run --shm-size=8g ..."
						    : "sudo mount -o remount,size=8g /dev/shm";

	if (statvfs("/dev/shm", &fs) || access("/dev/shm", W_OK | X_OK)) {
		wti_probed_say(ret, WTI_PROBE_LIMITED, cure,
			       "no /dev/shm: recording does without, workers of a DataLoader do "
			       "not");
		return;
	}
	wti_format_bytes(size, (uint64_t)fs.f_bavail * fs.f_frsize);
	if ((uint64_t)fs.f_bavail * fs.f_frsize < SHARED_MIN)
		wti_probed_say(ret, WTI_PROBE_LIMITED, cure,
			       "%s free in /dev/shm: recording does without, workers of a "
			       "DataLoader may not",
			       size);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%s free in /dev/shm", size);
}

const struct wti_probe wti_probes_permission[] = {
	{"permission", "runs", false, look_home},
	{"permission", "disk space", false, look_space},
	{"permission", "shared memory", false, look_shared_memory},
	{"permission", "open files", false, look_files},
	{0},
};

/* ---- Libraries ------------------------------------------------------------------------------- */

static bool find_in(const char *folder, size_t bytes, const char *library, char *path, size_t size)
{
	int n = snprintf(path, size, "%.*s/%s", (int)bytes, folder, library);

	return n > 0 && (size_t)n < size && !access(path, R_OK);
}

static bool find_library(const char *library, char *path, size_t size)
{
	static const char folders[] =
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
		"/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/usr/lib:/usr/local/lib:"
		"/usr/local/cuda/lib64:/usr/local/cuda/extras/CUPTI/lib64:/opt/rocm/lib";
	const char *lists[] = {getenv("LD_LIBRARY_PATH"), folders};

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = lists[i]; at && *at;) {
			size_t bytes = strcspn(at, ":");

			if (bytes && find_in(at, bytes, library, path, size))
				return true;
			at += bytes + (at[bytes] == ':');
		}
	}
	return false;
}

static void look_library(struct wti_probed *ret, const char *library, const char *without,
			 const char *cure)
{
	char path[200];

	if (find_library(library, path, sizeof(path)))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%s", path);
	else
		wti_probed_say(ret, WTI_PROBE_MISSING, cure, "%s", without);
}

/* What a device needs: our library, the driver's and the profiler's. The flag is in what is said.
 */
static void look_device(struct wti_probed *ret, const char *flag, const char *profiler,
			const char *cure)
{
	const bool is_cuda = !strcmp(flag, "--cuda");
	char path[PATH_MAX];

	if (!wti_record_library(flag + 2, is_cuda ? "libwheeltap-cuda.so" : "libwheeltap-rocm.so",
				path))
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       wti_library_cure("install wheeltap again, with its agents"),
			       "the agent for it is not installed");
	else if ((is_cuda && wti_record_gpu_cupti(NULL, path)) ||
		 find_library(profiler, path, sizeof(path)))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%.150s: record with %s", path, flag);
	else
		wti_probed_say(ret, WTI_PROBE_MISSING, cure, "record %s has nothing to read with",
			       flag);
}

static void look_opencl(struct wti_probed *ret)
{
	char path[100];

	wti_probe_opencl(ret, find_library("libOpenCL.so.1", path, sizeof(path)) ? path : NULL);
}

static void look_cuda(struct wti_probed *ret)
{
	look_library(ret, "libcuda.so.1", "no driver: record --cuda finds no devices",
		     "only with an NVIDIA device: install its driver");
}

static void look_cupti(struct wti_probed *ret)
{
	look_device(ret, "--cuda", "libcupti.so",
		    "only with an NVIDIA device: pip install nvidia-cuda-cupti-cu12, or set "
		    "CUDA_HOME");
}

static void look_rocm(struct wti_probed *ret)
{
	look_device(ret, "--rocm", "librocprofiler-sdk.so",
		    "only with an AMD device: apt install rocprofiler-sdk (ROCm 6.2 or later)");
}

static void look_dw(struct wti_probed *ret)
{
	if (wti_library_is_linked_in((const void *)(uintptr_t)dwfl_version))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "linked into the program");
	else
		look_library(ret, "libdw.so.1", "native stacks have addresses without names",
			     "apt install libdw1");
}

const struct wti_probe wti_probes_library[] = {
	{"library", "OpenCL", false, look_opencl}, {"library", "CUDA", false, look_cuda},
	{"library", "CUPTI", false, look_cupti},   {"library", "ROCm profiler", false, look_rocm},
	{"library", "libdw", false, look_dw},      {0},
};
