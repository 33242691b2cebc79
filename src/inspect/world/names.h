/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What something is called in every run: paths with known roots as variables ($CWD, $HOME, $TMP,
 * $LIB ...) and parts that are made anew each time (temporary names, process numbers, dates,
 * hashes) as classes (<temp>, <pid>, <time>, <hash>); addresses of peers without ports that the
 * kernel picks.
 *
 * Two runs of the same program give the same names, in another folder and on another day. The raw
 * name is the caller's to keep.
 */
#ifndef WTI_EFFECTS_NAMES_H
#define WTI_EFFECTS_NAMES_H

#include "base/buf.h"
#include "base/map.h"

/* What kind of thing it is; how exactly goldens hold a run to it depends on this. */
enum wti_thing_type {
	WTI_THING_FILE,    /* a file or folder that belongs to the program's work */
	WTI_THING_LIBRARY, /* a shared object */
	WTI_THING_CODE,    /* modules and packages of an interpreter, a folder each */
	WTI_THING_SYSTEM,  /* /proc, /sys, /etc, /usr/share: the machine's, not the program's */
	WTI_THING_CACHE,   /* written again when it is missing: no difference to anybody */
	WTI_THING_PEER,    /* the other end of a connection, or where one is waited for */
	WTI_THING_PROGRAM, /* what was executed */
	WTI_THING_PROCESS, /* processes by their place in the spawn tree */
	WTI_THING_CONSOLE, /* what was open when the program began: standard input, output, error */
	WTI_THING_CHANNEL, /* pipes, socket pairs, eventfds: between threads and processes */
	WTI_THING_KERNEL,  /* calls about nothing that has a name: memory, time, waiting */
	WTI_THING_FUNCTION, /* of the program, emitted by an agent */
	WTI_THING_TYPES,
};

/* "file", "library", ... */
const char *wti_thing_word(enum wti_thing_type type);

#define WTI_ROOTS_MAX 16

struct wti_root {
	const char *path;     /* absolute, no slash at its end */
	const char *variable; /* "$CWD" */
};

/* How likely it is that a name is random. */
enum wti_temp {
	WTI_TEMP_NOT,
	WTI_TEMP_MADE,   /* it was made as temporary files are */
	WTI_TEMP_FOLDER, /* it is in a folder for temporary files */
};

struct wti_names {
	struct wti_root roots[WTI_ROOTS_MAX];
	size_t root_count;
	const char *cwd;      /* of the roots; NULL: not known */
	struct wti_map pids;  /* numbers of the run's processes and threads */
	struct wti_map temps; /* paths that were made as mkstemp() and mkdtemp() make theirs */
	char *memory;         /* of the roots' paths */
};

/* The roots are copied; the first that is called $CWD is what others may be relative to. */
int wti_names_init(struct wti_names *names, const struct wti_root *roots, size_t count,
		   struct wt_err *err);
void wti_names_release(struct wti_names *names);
/* A process or thread of the run has this number. */
void wti_names_pid(struct wti_names *names, uint32_t pid);
/*
 * The path was made as temporary ones are: the last part of its name may be random, wherever it
 * lies, and in the names of all that is below it.
 */
void wti_names_temp(struct wti_names *names, const char *path);
/* Appends the name of an absolute path, used by process `pid`. */
enum wti_thing_type wti_names_path(const struct wti_names *names, const char *path, uint32_t pid,
				   struct wti_buf *out);
/* Appends the name of a program: without its folder if it is the system's. */
void wti_names_program(const struct wti_names *names, const char *path, uint32_t pid,
		       struct wti_buf *out);
/* Appends the name of an address as wti_address_text() gives it. */
enum wti_thing_type wti_names_peer(const struct wti_names *names, const char *address, uint32_t pid,
				   struct wti_buf *out);
/* Appends `text` with what is made anew each time as classes. */
void wti_names_classes(const struct wti_names *names, const char *text, size_t bytes,
		       enum wti_temp temp, struct wti_buf *out);

#endif
