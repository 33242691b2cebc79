/* SPDX-License-Identifier: Apache-2.0 */
/* What campaigns and fuzz targets do with a trace that may be damaged in any way. */
#ifndef WTT_EXERCISE_H
#define WTT_EXERCISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wtt_seen {
	uint64_t events;  /* that could be decoded */
	uint64_t content; /* a hash of all that was read */
	bool complained;  /* the library said that something is wrong */
};

/*
 * Opens the stream, asks for all that it has, decodes every block and walks a cursor over it, and
 * aborts where the library breaks a promise: an error without a message, a text outside its column,
 * events out of order.
 */
struct wtt_seen wtt_exercise(const char *path);

/* A file without a name that holds these bytes; its path under /proc is put into `path`. */
int wtt_memory_file(const void *data, size_t bytes, char path[64]);
void wtt_memory_file_set(int fd, const void *data, size_t bytes);

/* Makes all checksums right as far as blocks can be told, so that deeper checks are reached. */
void wtt_repair(uint8_t *data, size_t bytes);

#endif
