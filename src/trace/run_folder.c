/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is one on the folder itself (flock), which ends with its recorder, however that ends. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "run_folder.h"

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
