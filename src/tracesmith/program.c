/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and waiting. */
#include "program.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

#define SIGNALLED 128 /* and the signal: what a shell makes of it */

int wti_program_run(char *argv[], int *ret_status, struct wt_err *err)
{
	static char name[] = "wheeltap";
	int status, r;
	pid_t pid;

	argv[0] = argv[0] ? argv[0] : name;
	r = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (r)
		return wti_err(err, r == ENOENT ? WT_E_MISSING : WT_E_IO,
			       "cannot start '%.200s': %s; give the path of the program wheeltap",
			       argv[0], strerror(r));
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return wti_err_errno(err, "cannot wait for", argv[0]);
	}
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
	return 0;
}
