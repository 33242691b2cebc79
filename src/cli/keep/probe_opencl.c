/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what `record --opencl` needs: the loader of OpenCL, a driver that it knows, our layer. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "cli/record/library.h"
#include "probe.h"

#define VENDORS "/etc/OpenCL/vendors"

static bool is_driver(const char *name)
{
	const size_t bytes = strlen(name);

	return bytes > 4 && !strcmp(name + bytes - 4, ".icd");
}

/* The names of the drivers' files, joined by commas; empty: there is none. */
static void list_drivers(char *names, size_t size)
{
	DIR *folder = opendir(VENDORS);
	struct dirent *entry;
	size_t used = 0;
	int bytes;

	names[0] = 0;
	while (folder && (entry = readdir(folder)) && used < size) {
		if (!is_driver(entry->d_name))
			continue;
		bytes = snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				 entry->d_name);
		used += bytes > 0 ? (size_t)bytes : 0;
	}
	if (folder)
		closedir(folder);
}

void wti_probe_opencl(struct wti_probed *ret, const char *loader)
{
	char drivers[80], layer[PATH_MAX];
	const char *named = getenv("OCL_ICD_VENDORS");

	if (!loader) {
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       "apt install ocl-icd-libopencl1 (and a driver, e.g. "
			       "pocl-opencl-icd)",
			       "OpenCL programs cannot run or be recorded");
		return;
	}
	if (!wti_record_library("opencl", "libwheeltap-opencl.so", layer)) {
		wti_probed_say(
			ret, WTI_PROBE_MISSING,
			wti_library_cure("apt install opencl-c-headers, then build and install "
					 "wheeltap again"),
			"built without the layer that `record --opencl` needs");
		return;
	}
	list_drivers(drivers, sizeof(drivers));
	if (!drivers[0] && !named)
		wti_probed_say(ret, WTI_PROBE_LIMITED, "apt install pocl-opencl-icd",
			       "%s found no driver: none is listed in " VENDORS, loader);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%s, drivers %s: use record --opencl",
			       loader, named ? named : drivers);
}
