/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the layout of a perf ring and of the records in it, which is the kernel's contract. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "collect/clock.h"

#include "maps.h"

#define RING_BYTES (256u << 10) /* of a processor; a power of two */
#define PROCESSORS_MAX 1024
#define WAITING_MAX (64u << 10) /* records that are kept until their time has come */
#define RECORD_MAX 65536u       /* what the length of one can say */
#define PATH_MAX_BYTES 4096u
#define PROTECTION_EXEC 4u

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *head;
};

struct news {
	struct wti_raw_map map;
	char *path; /* or NULL */
};

struct wti_maps {
	struct cpu_ring rings[PROCESSORS_MAX];
	size_t ring_count;
	size_t page_bytes;
	struct news *waiting; /* sorted by time from `first` on */
	size_t first;
	size_t count;
	bool is_sorted;
	uint64_t lost;
	_Alignas(8) uint8_t record[RECORD_MAX];
};

/* ---- Rings ----------------------------------------------------------------------------------- */

static int open_ring(struct wti_maps *maps, int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_TIME,
				       .sample_id_all = 1,
				       .mmap = 1,
				       .mmap2 = 1,
				       .comm = 1,
				       .comm_exec = 1,
				       .task = 1,
				       .exclude_kernel = 1,
				       .use_clockid = 1,
				       .clockid = CLOCK_MONOTONIC,
				       .watermark = 1,
				       .wakeup_watermark = RING_BYTES};
	struct cpu_ring *ring = &maps->rings[maps->ring_count];
	void *map;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* the processor is not there */
	map = mmap(NULL, maps->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		   ring->fd, 0);
	if (map == MAP_FAILED) {
		int code = errno;

		close(ring->fd);
		return -code;
	}
	ring->head = map;
	maps->ring_count++;
	return 0;
}

int wti_maps_open(struct wti_maps **ret_maps, struct wt_err *err)
{
	struct wti_maps *maps = calloc(1, sizeof(*maps));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int r = 0;

	if (!maps)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	maps->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	maps->waiting = calloc(WAITING_MAX, sizeof(*maps->waiting));
	if (!maps->waiting || cpus > PROCESSORS_MAX)
		r = -ENOMEM;
	for (int cpu = 0; cpu < cpus && !r; cpu++)
		r = open_ring(maps, cpu);
	if (r) {
		wti_maps_free(maps);
		return wti_err(
			err, WT_E_IO,
			"the kernel does not report what code is mapped, which stacks need: %s",
			strerror(-r));
	}
	*ret_maps = maps;
	return 0;
}

void wti_maps_free(struct wti_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->ring_count; i++) {
		munmap(maps->rings[i].head, maps->page_bytes + RING_BYTES);
		close(maps->rings[i].fd);
	}
	for (size_t i = 0; maps->waiting && i < maps->count; i++)
		free(maps->waiting[(maps->first + i) % WAITING_MAX].path);
	free(maps->waiting);
	free(maps);
}

uint64_t wti_maps_lost(const struct wti_maps *maps)
{
	return maps->lost;
}

/* ---- Records --------------------------------------------------------------------------------- */

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static void add(struct wti_maps *maps, const struct wti_raw_map *map, const char *path)
{
	struct news *news;

	if (maps->count == WAITING_MAX) {
		maps->lost++;
		return;
	}
	news = &maps->waiting[(maps->first + maps->count) % WAITING_MAX];
	news->map = *map;
	news->path = NULL;
	if (path && map->path_bytes)
		news->path = strndup(path, map->path_bytes);
	if (path && map->path_bytes && !news->path) {
		maps->lost++;
		return;
	}
	news->map.raw.type = WTI_RAW_MAP;
	maps->count++;
	maps->is_sorted = false;
}

static void take_mapping(struct wti_maps *maps, const struct mmap_record *record, size_t bytes,
			 struct wti_raw_map *map)
{
	size_t room = bytes - sizeof(*record) - sizeof(uint64_t);
	size_t path_bytes = strnlen(record->path, room < PATH_MAX_BYTES ? room : PATH_MAX_BYTES);
	/* What is no file is called //anon, [heap] or [stack]. */
	bool is_file = record->path[0] == '/' && record->path[1] != '/';

	if (!(record->protection & PROTECTION_EXEC))
		return;
	map->change = WTI_MAP_ADD;
	map->pid = record->pid;
	map->address = record->address;
	map->bytes = record->bytes;
	map->offset = record->offset;
	if (is_file || (path_bytes == 6 && !memcmp(record->path, "[vdso]", 6)))
		map->path_bytes = (uint32_t)path_bytes;
	if (!is_file)
		map->offset = 0;
	add(maps, map, record->path);
}

/* Each ends with its time. */
static void take_record(struct wti_maps *maps, const struct perf_event_header *header)
{
	const struct comm_record *comm = (const void *)header;
	const struct task_record *task = (const void *)header;
	const struct lost_record *lost = (const void *)header;
	struct wti_raw_map map = {.pid = comm->pid};
	size_t bytes = header->size;

	memcpy(&map.raw.time_ns, (const uint8_t *)header + bytes - 8, 8);
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		if (bytes >= sizeof(struct mmap_record) + 8)
			take_mapping(maps, (const void *)header, bytes, &map);
		break;
	case PERF_RECORD_COMM:
		map.change = WTI_MAP_CLEAR;
		if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
			add(maps, &map, NULL);
		break;
	case PERF_RECORD_FORK:
		map.change = WTI_MAP_COPY;
		map.parent = task->ppid;
		if (task->pid != task->ppid)
			add(maps, &map, NULL);
		break;
	case PERF_RECORD_EXIT:
		map.change = WTI_MAP_END;
		if (task->pid == task->tid)
			add(maps, &map, NULL);
		break;
	case PERF_RECORD_LOST:
		maps->lost += lost->lost;
		break;
	}
}

static void read_ring(struct wti_maps *maps, struct cpu_ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->head + maps->page_bytes;
	uint64_t end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->head->data_tail;

	while (end - at >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *header =
			(const void *)(data + (at & (RING_BYTES - 1)));
		size_t bytes = header->size, whole = RING_BYTES - (at & (RING_BYTES - 1));

		if (bytes < sizeof(*header) + 16 || bytes > end - at)
			break;
		if (bytes <= whole) {
			take_record(maps, header);
		} else { /* it goes on at the beginning */
			memcpy(maps->record, header, whole);
			memcpy(maps->record + whole, data, bytes - whole);
			take_record(maps, (const void *)maps->record);
		}
		at += bytes;
	}
	__atomic_store_n(&ring->head->data_tail, at, __ATOMIC_RELEASE);
}

/* ---- In order -------------------------------------------------------------------------------- */

void wti_maps_gather(struct wti_maps *maps)
{
	for (size_t i = 0; i < maps->ring_count; i++)
		read_ring(maps, &maps->rings[i]);
}

/* By insertion: what comes of two processors is nearly sorted. */
static void sort(struct wti_maps *maps)
{
	for (size_t i = 1; i < maps->count; i++) {
		struct news one = maps->waiting[(maps->first + i) % WAITING_MAX];
		size_t at = i;

		for (; at; at--) {
			struct news *before = &maps->waiting[(maps->first + at - 1) % WAITING_MAX];

			if (before->map.raw.time_ns <= one.map.raw.time_ns)
				break;
			maps->waiting[(maps->first + at) % WAITING_MAX] = *before;
		}
		maps->waiting[(maps->first + at) % WAITING_MAX] = one;
	}
	maps->is_sorted = true;
}

static void hand_over(const struct wti_raw_map *map, const char *path,
		      void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		      void *context)
{
	struct {
		struct wti_raw_map map;
		char path[PATH_MAX_BYTES];
	} record = {.map = *map};

	if (map->path_bytes)
		memcpy(record.path, path, map->path_bytes);
	take(context, &record.map.raw, sizeof(record.map) + map->path_bytes);
}

static void add_record(void *context, const struct wti_raw *raw, size_t bytes)
{
	const struct wti_raw_map *map = (const void *)raw;

	add(context, map, map->path_bytes ? (const char *)(map + 1) : NULL);
}

void wti_maps_begin(struct wti_maps *maps, pid_t pid)
{
	wti_maps_of_process(pid, wti_clock_ns(CLOCK_MONOTONIC), add_record, maps);
}

void wti_maps_until(struct wti_maps *maps, uint64_t time_ns,
		    void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		    void *context)
{
	if (!maps->is_sorted)
		sort(maps);
	while (maps->count && maps->waiting[maps->first].map.raw.time_ns <= time_ns) {
		struct news *news = &maps->waiting[maps->first];

		hand_over(&news->map, news->path, take, context);
		free(news->path);
		maps->first = (maps->first + 1) % WAITING_MAX;
		maps->count--;
	}
}
