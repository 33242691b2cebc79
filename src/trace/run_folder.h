/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What whoever writes the folder of a run and whoever reads it agree on: the names of its files,
 * the words for the status in run.json, and the lock. docs/recording.md describes the keys of
 * run.json.
 */
#ifndef WTI_TRACE_RUN_FOLDER_H
#define WTI_TRACE_RUN_FOLDER_H

#include <stdbool.h>

#define WTI_RUN_JSON "run.json"
#define WTI_RUN_JSON_NEXT ".run.json.next" /* room for the next one */
#define WTI_RUN_CONSOLE "console.log"
#define WTI_RUN_TAGS "tags" /* words of people, one a line */
#define WTI_RUN_BLOBS "blobs"
#define WTI_BOOT_ID_BYTES 40        /* as text */
#define WTI_RUN_SYSCALLS "syscalls" /* the stream of system calls, without its end */

enum wti_run_status {
	WTI_RUN_RUNNING,
	WTI_RUN_FINISHED,
	WTI_RUN_FAILED,      /* ended by itself with a status other than 0 */
	WTI_RUN_KILLED,      /* by a signal */
	WTI_RUN_INTERRUPTED, /* by a signal through the recorder, and not with status 0; or the
				duration was over */
};

const char *wti_run_status_name(enum wti_run_status status);
/*
 * True while a recorder holds the run's lock: distinguishes `running` from `abandoned`. Also true
 * where the file system has no locks.
 */
bool wti_run_is_recording(const char *folder);

/* Which start of which kernel this is, the same in all containers on it; empty: not known. */
void wti_boot_id(char ret_id[WTI_BOOT_ID_BYTES]);

#endif
