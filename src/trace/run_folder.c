/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is one on the folder itself (flock), which ends with its recorder, however that ends. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "run_folder.h"

void wti_boot_id(char ret_id[WTI_BOOT_ID_BYTES])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, ret_id, WTI_BOOT_ID_BYTES - 1);

	ret_id[bytes > 0 ? bytes : 0] = 0;
	ret_id[strcspn(ret_id, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

const char *wti_run_status_name(enum wti_run_status status)
{
	static const char *const names[] = {"running", "finished", "failed", "killed",
					    "interrupted"};

	return names[status];
}

bool wti_run_is_recording(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked;

	if (fd < 0)
		return false;
	/* Where there are no locks, nothing is known: what says that it runs is left alone. */
	locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
	close(fd);
	return locked;
}
