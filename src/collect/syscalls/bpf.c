/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The half of tap.bpf.c in user space: loads it into the kernel and reads its ring buffer.
 *
 * Knows the layout of a BPF ring buffer, which is part of the kernel's interface: a page that we
 * write (how far we have read), a page that the kernel writes (how far it has written), and the
 * data, mapped twice back to back so that no record is split. We poll: a wake-up for each record
 * would cost more than the record.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "collect/clock.h"
#include "syscall/compat.h"
#include "syscall/record.h"

#include "capture.h"
#include "family.h"
#include "maps.h"
#include "memory.h"
#include "tap.h"
#include "tap.skel.h"

_Static_assert(WTI_TAP_TASK_PROGRAM == WT_TASK_PROGRAM, "as in the schema");
_Static_assert(WTI_TAP_TASK_ATTACHED == WT_TASK_ATTACHED, "as in the schema");
_Static_assert(WTI_TAP_TASK_THREAD == WT_TASK_THREAD, "as in the schema");
_Static_assert(WTI_TAP_TASK_PROCESS == WT_TASK_PROCESS, "as in the schema");
_Static_assert(WTI_TAP_TASK_EXEC == WT_TASK_EXEC, "as in the schema");
_Static_assert(WTI_TAP_UNFINISHED == WT_SYSCALL_UNFINISHED, "as in the schema");
_Static_assert(WTI_TAP_JOINED == WT_SYSCALL_JOINED, "as in the schema");
_Static_assert(WTI_TAP_OWN == WT_SYSCALL_OWN, "as in the schema");
_Static_assert(WTI_TAP_UNREAD == WT_SYSCALL_UNREAD, "as in the schema");
_Static_assert(WTI_TAP_RESTARTS == WT_SYSCALL_RESTARTS, "as in the schema");
_Static_assert(WTI_TAP_GOES_ON == WT_SYSCALL_GOES_ON, "as in the schema");
_Static_assert(WTI_TAP_ROOTS_MAX >= WTI_FAMILY_MAX, "a process that runs, and all below it");
_Static_assert(WTI_TAP_CALLS_MAX == WTI_CALLS_MAX, "as in the table");
_Static_assert(WTI_TAP_COMPAT_MAX == WTI_COMPAT_MAX, "as in the table");
_Static_assert(WTI_TAP_MEMORY_MAX == WTI_SYSCALL_MEMORY_MAX, "as in the trace");
_Static_assert(sizeof(((struct wti_tap_plan *)0)->reads) >= WTI_READS_MAX * sizeof(struct wti_read),
	       "all reads of a call have a place");

#define LATE_NS 1000000000u
#define PRIORITY (-15) /* of the thread that reads the ring, where that is permitted */

#define FIRST_BYTES (4u << 20) /* of the ring are mapped at first: most programs need no more */
#define CPUS_MAX 8192
#define TRIES_MAX 10
#define RING_BYTES_MIN (16u << 20)
#define RING_BYTES_OF_CPU (8u << 20) /* what it writes in 60 ms of nothing but calls */

struct bpf_capture {
	struct wti_tap *tap;
	unsigned long *consumer; /* how far we have read */
	const uint8_t *producer; /* how far there is something to read; a page on, the data */
	size_t page_bytes;
	size_t ring_bytes;
	size_t data_bytes;     /* of the data that are mapped */
	bool is_blind;         /* the rest of it could not be */
	uint32_t ended_count;  /* threads whose end was handed over */
	struct wti_maps *maps; /* for stacks; NULL: none are wanted */
};

/* ---- The ring -------------------------------------------------------------------------------- */

/* What children get of it is of no use to them, and costs each of them a table of all pages. */
static void *map_pages(const struct bpf_capture *capture, size_t bytes, int protection, off_t at)
{
	void *map = mmap(NULL, bytes, protection, MAP_SHARED, capture->tap->maps.ring.map_fd, at);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, bytes, MADV_DONTFORK);
	return map;
}

static void unmap_data(struct bpf_capture *capture)
{
	if (capture->producer)
		munmap((void *)(uintptr_t)capture->producer,
		       capture->page_bytes + capture->data_bytes);
}

static int map_data(struct bpf_capture *capture, size_t bytes)
{
	void *map = map_pages(capture, capture->page_bytes + bytes, PROT_READ,
			      (off_t)capture->page_bytes);

	if (!map)
		return -1;
	unmap_data(capture);
	capture->producer = map;
	capture->data_bytes = bytes;
	return 0;
}

static int map_ring(struct bpf_capture *capture)
{
	capture->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	capture->consumer = map_pages(capture, capture->page_bytes, PROT_READ | PROT_WRITE, 0);
	return capture->consumer ? map_data(capture, FIRST_BYTES) : -1;
}

static void unmap_ring(struct bpf_capture *capture)
{
	if (capture->consumer)
		munmap(capture->consumer, capture->page_bytes);
	unmap_data(capture);
}

/* True if what was written up to `end` can be read. All of the ring is mapped when more than its
 * beginning is in use, as that takes longer than the whole of a short program. */
static bool is_mapped(struct bpf_capture *capture, unsigned long end)
{
	if (end <= capture->data_bytes || capture->data_bytes == 2 * capture->ring_bytes)
		return true;
	capture->is_blind = map_data(capture, 2 * capture->ring_bytes) != 0;
	return !capture->is_blind;
}

static unsigned long written(const struct bpf_capture *capture)
{
	return __atomic_load_n((const unsigned long *)(const void *)capture->producer,
			       __ATOMIC_ACQUIRE);
}

static const struct sock_fprog *filter(void *self)
{
	return NULL; /* it filters in the kernel as it is */
}

static void hand_over(struct bpf_capture *capture, const struct wti_raw *raw, size_t bytes,
		      void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		      void *context)
{
	if (capture->maps && raw->type == WTI_RAW_STACK)
		wti_maps_until(capture->maps, raw->time_ns, take, context);
	capture->ended_count += raw->type == WTI_RAW_END;
	take(context, raw, bytes);
}

static bool drain(void *self, size_t count_max,
		  void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		  void *context)
{
	struct bpf_capture *capture = self;
	unsigned long at = *capture->consumer, end = written(capture);
	const uint8_t *data;

	if (!is_mapped(capture, end))
		return false;
	data = capture->producer + capture->page_bytes;
	if (capture->maps) /* what was mapped before these records is there by now */
		wti_maps_gather(capture->maps);
	if (capture->maps && at == end) /* no record of a time so long ago can still come */
		wti_maps_until(capture->maps, wti_clock_ns(CLOCK_MONOTONIC) - LATE_NS, take,
			       context);
	while (at < end && count_max--) {
		const uint8_t *head = data + (at & (capture->ring_bytes - 1));
		uint32_t length =
			__atomic_load_n((const uint32_t *)(const void *)head, __ATOMIC_ACQUIRE);
		size_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT) /* is being written */
			return false;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			hand_over(capture, (const void *)(head + BPF_RINGBUF_HDR_SZ), bytes, take,
				  context);
		at += (bytes + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		__atomic_store_n(capture->consumer, at, __ATOMIC_RELEASE);
	}
	return at < end;
}

static unsigned fill(void *self)
{
	const struct bpf_capture *capture = self;

	return (unsigned)((written(capture) - *capture->consumer) / (capture->ring_bytes / 100));
}

/* ---- Its life -------------------------------------------------------------------------------- */

/* Runs the program that walks through all threads of the machine. */
static void walk(struct bpf_capture *capture, enum wti_tap_walk why)
{
	union bpf_attr attr = {.iter_create.link_fd = (uint32_t)capture->tap->links.walk_all_fd};
	int fd = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr.iter_create));
	char nothing[16];
	ssize_t n = fd < 0 ? 0 : 1;

	__atomic_store_n(&capture->tap->bss->walk, why, __ATOMIC_SEQ_CST);
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
		n = read(fd, nothing, sizeof(nothing)); /* it writes nothing: the walk is over */
	if (fd >= 0)
		close(fd);
}

static int add_root(struct bpf_capture *capture, pid_t pid, enum wti_root_mode mode,
		    struct wt_err *err)
{
	uint32_t key = (uint32_t)pid, value = mode;

	if (skel_map_update_elem(capture->tap->maps.roots.map_fd, &key, &value, BPF_NOEXIST))
		return errno == EEXIST ? 0 : wti_err_errno(err, "cannot follow", "the program");
	__atomic_fetch_add(&capture->tap->bss->root_count, 1, __ATOMIC_SEQ_CST);
	return 1;
}

/*
 * A process that is among the roots can have no child that escapes: one that was there before is
 * found by looking again, one that is made later is adopted when it is made. When none is new and
 * all their threads have been walked through, the roots have served: they cost everybody on the
 * machine a look.
 */
static int follow_running(struct bpf_capture *capture, pid_t pid, struct wt_err *err)
{
	struct wti_family *family = malloc(sizeof(*family));
	uint32_t before;
	int r = family ? 1 : wti_err(err, WT_E_NOMEM, "out of memory");

	while (r > 0) {
		r = 0;
		wti_family_look(family, pid);
		for (size_t i = 0; i < family->count && r >= 0; i++) {
			int added;

			if (capture->maps) /* before its first call is recorded */
				wti_maps_begin(capture->maps, family->pids[i]);
			added = add_root(capture, family->pids[i], WTI_ROOT_ATTACH, err);
			r = added < 0 ? added : r + added;
		}
	}
	do {
		before = capture->tap->bss->last_track;
		if (!r)
			walk(capture, WTI_TAP_WALK_ADOPT);
	} while (!r && capture->tap->bss->last_track != before);
	__atomic_store_n(&capture->tap->bss->root_count, 0, __ATOMIC_SEQ_CST);
	free(family);
	if (!r && !before)
		return wti_err(err, WT_E_MISSING, "process %d has ended in the meantime", (int)pid);
	return r;
}

static int follow(void *self, pid_t pid, enum wti_root_mode mode, struct wt_err *err)
{
	struct bpf_capture *capture = self;
	int r = mode == WTI_ROOT_ATTACH ? follow_running(capture, pid, err)
					: add_root(capture, pid, mode, err);

	if (r < 0)
		return r;
	/* We do little, but it must be done in time. The program is a child of another process. */
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	return 0;
}

static uint64_t lost(void *self)
{
	const struct bpf_capture *capture = self;

	return __atomic_load_n(&capture->tap->bss->lost_records, __ATOMIC_SEQ_CST) +
	       capture->is_blind; /* one stands for all that are still in the ring */
}

static uint64_t lost_stacks(void *self)
{
	const struct bpf_capture *capture = self;

	return __atomic_load_n(&capture->tap->bss->lost_stacks, __ATOMIC_SEQ_CST) +
	       (capture->maps ? wti_maps_lost(capture->maps) : 0);
}

/* Every thread that ever was followed has ended, and nothing was lost: no more can come. */
static bool all_ended(const struct bpf_capture *capture)
{
	uint32_t followed = __atomic_load_n(&capture->tap->bss->last_track, __ATOMIC_SEQ_CST);

	return followed && capture->ended_count == followed &&
	       *capture->consumer == written(capture);
}

static void detach(struct bpf_capture *capture)
{
	wti_tap__detach(capture->tap);
	memset(&capture->tap->links, 0, sizeof(capture->tap->links)); /* nor a second time */
}

static void stop(void *self)
{
	struct bpf_capture *capture = self;

	__atomic_store_n(&capture->tap->bss->stopped, 1, __ATOMIC_SEQ_CST);
	if (!all_ended(capture)) {
		/* Waits for those that are just making a record, which takes some 20 ms. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		walk(capture, WTI_TAP_WALK_END);
	}
	setpriority(PRIO_PROCESS, 0, 0);
	detach(capture);
}

static void free_capture(void *self)
{
	struct bpf_capture *capture = self;

	if (!capture)
		return;
	unmap_ring(capture);
	wti_maps_free(capture->maps);
	wti_tap__destroy(capture->tap);
	free(capture);
}

/* Helpers that need a capability do not exist for those who have not got it, says the verifier. */
static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	uint64_t all;

	if (syscall(SYS_capget, &head, data))
		return true; /* not known: then what the kernel says is all that there is */
	all = (uint64_t)data[1].effective << 32 | data[0].effective;
	return all >> CAP_SYS_ADMIN & 1 || (all >> CAP_BPF & 1 && all >> CAP_PERFMON & 1);
}

static int refused(struct wt_err *err, int code)
{
	code = code < 0 ? -code : code;
	if (code == EPERM || code == EACCES || (code == EINVAL && !has_capabilities()))
		return wti_err(err, WT_E_IO,
			       "the kernel does not permit BPF here; run as root, or with "
			       "CAP_BPF and CAP_PERFMON");
	if (code == ESRCH || code == ENOENT || code == EINVAL || code == ENOTSUP || code == E2BIG)
		return wti_err(err, WT_E_IO,
			       "the kernel cannot run the BPF capture (%s); it needs Linux 5.17 "
			       "with BTF",
			       strerror(code));
	return wti_err(err, WT_E_IO, "the BPF capture could not be loaded: %s", strerror(code));
}

static bool is_late(const struct wti_read *read)
{
	return read->when == WTI_AT_EXIT || (read->flags & WTI_READ_CONSTANT);
}

/* For each number what there is to read. */
static int put_plans(struct bpf_capture *capture, const struct wti_plans *plans,
		     const struct wti_capture_options *options)
{
	int fd = capture->tap->maps.plans.map_fd, r = 0;

	for (uint32_t nr = 0; nr < WTI_CALLS_MAX && !r; nr++) {
		const struct wti_plan *from = &plans->by_number[nr];
		struct wti_tap_plan to = {.count = from->count};

		if (!from->count ||
		    (nr < WTI_PLANS_COMPAT && !wti_call_set_has(&options->wanted, nr)))
			continue; /* nobody asks for it; calls of 32 bits are always recorded */
		for (uint8_t i = 0; i < from->count; i++) {
			bool late = is_late(&from->reads[i]);

			to.reads[i] = from->reads[i];
			to.at_exit |= late;
			to.at_entry |= !late;
		}
		r = skel_map_update_elem(fd, &nr, &to, BPF_ANY) ? -errno : 0;
	}
	return r;
}

/* What kinds of reads there will be, so that the kernel need not verify others. Calls of 32 bits
 * that nobody has asked for get no more than those that somebody has. */
static void put_kinds(struct bpf_capture *capture, const struct wti_plans *plans,
		      const struct wti_capture_options *options)
{
	uint32_t all = 0, first = 0;

	for (uint32_t nr = 0; nr < WTI_PLANS_COMPAT; nr++) {
		const struct wti_plan *plan = &plans->by_number[nr];

		if (!wti_call_set_has(&options->wanted, nr))
			continue;
		for (uint8_t i = 0; i < plan->count; i++) {
			all |= 1u << plan->reads[i].kind;
			first |= is_late(&plan->reads[i]) ? 0 : 1u << plan->reads[i].kind;
		}
	}
	capture->tap->rodata->kinds = all;
	capture->tap->rodata->kinds_at_entry = first;
}

/* Processors that there may ever be: one more than the last number of "0-7" or "0,2-3". */
static uint32_t cpu_count(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	long highest = sysconf(_SC_NPROCESSORS_CONF) - 1;
	char text[256];

	if (file && fgets(text, sizeof(text), file)) {
		size_t at = strlen(text);

		while (at && !strchr(",-", text[at - 1]))
			at--;
		highest = strtol(text + at, NULL, 10);
	}
	if (file)
		fclose(file);
	return highest >= 0 && highest < CPUS_MAX ? (uint32_t)highest + 1 : CPUS_MAX;
}

/*
 * Making the ring takes 1 ms for 8 MB, and what fills it are the processors. Where nobody can be
 * held back, and where records have stacks, it is as large as it may be.
 */
static size_t choose_ring_bytes(const struct wti_capture_options *options)
{
	size_t bytes = RING_BYTES_MIN, wanted = (size_t)cpu_count() * RING_BYTES_OF_CPU;

	while (bytes < WTI_TAP_RING_BYTES_MAX &&
	       (bytes < wanted || options->running || options->stacks))
		bytes *= 2;
	return bytes;
}

static int put_into_kernel(struct bpf_capture *capture, const struct wti_plans *plans,
			   const struct wti_capture_options *options)
{
	capture->tap = wti_tap__open();
	if (!capture->tap)
		return -errno;
	for (uint32_t nr = 0; nr < WTI_TAP_CALLS_MAX; nr++)
		capture->tap->rodata->wanted[nr] = wti_call_set_has(&options->wanted, nr);
	for (uint32_t nr = 0; nr < WTI_TAP_COMPAT_MAX; nr++)
		capture->tap->rodata->compat[nr] = plans->compat[nr];
	put_kinds(capture, plans, options);
	capture->tap->rodata->narrow = options->narrow;
	capture->tap->rodata->contents = options->contents;
	capture->tap->rodata->stacks = options->stacks;
	capture->ring_bytes = choose_ring_bytes(options);
	capture->tap->maps.ring.max_entries = (uint32_t)capture->ring_bytes;
	if (options->stacks)
		capture->tap->maps.stack_scratches.max_entries = cpu_count();
	return wti_tap__load(capture->tap);
}

static int load(struct bpf_capture *capture, const struct wti_plans *plans,
		const struct wti_capture_options *options)
{
	int r = put_into_kernel(capture, plans, options);

	/* The verifier gives up when a signal comes, whatever it is. */
	for (int i = 0; r == -EAGAIN && i < TRIES_MAX; i++) {
		wti_tap__destroy(capture->tap);
		r = put_into_kernel(capture, plans, options);
	}
	if (!r)
		r = put_plans(capture, plans, options);
	if (!r && wti_tap__attach(capture->tap))
		r = -errno;
	if (!r && map_ring(capture))
		r = -errno;
	return r;
}

int wti_capture_bpf(const struct wti_capture_options *options, struct wti_capture *ret_capture,
		    struct wt_err *err)
{
	struct bpf_capture *capture = calloc(1, sizeof(*capture));
	struct wti_plans *plans = malloc(sizeof(*plans));
	int r;

	if (!capture || !plans) {
		free(capture);
		free(plans);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	if (options->stacks) {
		r = wti_maps_open(&capture->maps, err);
		if (r) {
			free(plans);
			free_capture(capture);
			return r;
		}
	}
	wti_plans_init(plans, options->contents);
	r = load(capture, plans, options);
	free(plans);
	if (r) {
		free_capture(capture);
		return refused(err, r);
	}
	*ret_capture = (struct wti_capture){.self = capture,
					    .follow = follow,
					    .filter = filter,
					    .drain = drain,
					    .fill = fill,
					    .lost = lost,
					    .lost_stacks = lost_stacks,
					    .stop = stop,
					    .free = free_capture};
	return 0;
}
