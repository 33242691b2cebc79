/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is one on the folder itself (flock), which ends with its recorder, however that ends. */
#include <errno.h>
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
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}
