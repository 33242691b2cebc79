/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * A recorder small enough to be believed: makes the folder, runs a program, takes over its rings
 * and definitions, checks every record, and prints what it saw. The tests of agents measure against
 * it. One file, though a long one: it must share nothing with the recorder that it stands in for,
 * and be read from top to bottom.
 *
 * usage: fake_recorder [option value]... -- PROGRAM ARGS...
 *   ring-bytes, rings-max, budget-ns, definitions-max, protocol,
 *   on-full (0 block, 1 drop), keep (0, 1)
 *   folder F                     where to work; made if it is not there
 *   die-after MS, stop-after MS  kill or stop ourselves; what then happens is for others to see
 *   lazy 1                       do not read rings before their process has ended
 *   print 1                      a line for each event
 *
 * The program's output goes to our standard error. Ends with one line a process, ring and fault,
 * and "status N" of the program.
 */
/* clang-format on */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "records.h"

enum { PROCESSES_MAX = 256, RINGS_MAX = 4096, CHUNKS_MAX = 64, DEFINITIONS_MAX = 1 << 16 };

struct process {
	int fd; /* -1: hung up */
	struct wti_message hello;
	struct wti_chunk *chunks[CHUNKS_MAX];
	uint32_t chunk_count;
	uint32_t read_chunk; /* how far definitions have been read */
	size_t read_at;
	uint32_t id_last[WTI_DEF_SITE + 1];
	const struct wti_definition *definitions[WTI_DEF_SITE + 1][DEFINITIONS_MAX];
	bool hung_up;
};

struct ring {
	struct wti_ring *ring;
	struct process *process;
	uint32_t tid;
	uint32_t track;
	uint32_t data_bytes;
	uint64_t seq;
	uint64_t ticks;
	uint64_t event_count;
	uint64_t mark_count; /* marks named "count", whose values must count up from 0 */
	uint64_t gap_count;
	bool quota_back;
};

static struct process processes[PROCESSES_MAX];
static struct ring rings[RINGS_MAX];
static size_t process_count;
static size_t ring_count;
static size_t fault_count;
static struct wti_control *control;
static char inner_name[40], inner[320];
static int control_file;
static bool print_events;
static const char *tally_name;
static uint64_t tally;
static bool is_lazy;

static void fault(const char *what, const struct ring *ring, uint64_t a, uint64_t b)
{
	if (fault_count++ < 20)
		printf("fault %s pid %u tid %u: %llu, %llu\n", what,
		       ring ? ring->process->hello.pid : 0, ring ? ring->tid : 0,
		       (unsigned long long)a, (unsigned long long)b);
}

/* Takes in what has been committed since. */
static void read_definitions(struct process *process)
{
	while (process->read_chunk < process->chunk_count) {
		char *chunk = (char *)process->chunks[process->read_chunk];
		size_t at = process->read_at ? process->read_at : sizeof(struct wti_chunk);

		while (at + sizeof(struct wti_definition) <= WTI_CHUNK_BYTES) {
			struct wti_definition *d = (void *)(chunk + at);
			uint32_t size = atomic_load_explicit(&d->size, memory_order_acquire);

			if (size == 0)
				break;
			if (size % 8 || at + size > WTI_CHUNK_BYTES || d->type > WTI_DEF_SITE ||
			    sizeof(*d) + d->payload_bytes > size ||
			    d->id != ++process->id_last[d->type] || d->id >= DEFINITIONS_MAX) {
				fault("definition", NULL, at, size);
				return;
			}
			process->definitions[d->type][d->id] = d;
			at += size;
		}
		process->read_at = at;
		if (process->read_chunk + 1 == process->chunk_count)
			return;
		process->read_chunk++;
		process->read_at = 0;
	}
}

/* The payload of a definition, or NULL. */
static const char *find_definition(struct process *process, uint16_t type, uint32_t id,
				   size_t *ret_bytes)
{
	const struct wti_definition *d;

	*ret_bytes = 0;
	if (id >= DEFINITIONS_MAX)
		return NULL;
	if (!process->definitions[type][id])
		read_definitions(process);
	d = process->definitions[type][id];
	if (!d)
		return NULL;
	*ret_bytes = d->payload_bytes;
	return (const char *)(d + 1);
}

static void print_text(const char *text, size_t bytes)
{
	putchar('"');
	for (size_t i = 0; i < bytes; i++)
		if (text[i] < 0x20 || text[i] == '"' || text[i] == '\\')
			printf("\\x%02x", (uint8_t)text[i]);
		else
			putchar(text[i]);
	putchar('"');
}

static void print_name(const struct ring *ring, uint32_t id)
{
	size_t bytes;
	const char *text = find_definition(ring->process, WTI_DEF_STRING, id, &bytes);

	if (text)
		print_text(text, bytes);
	else
		printf("#%u", id);
}

static void print_more_fields(const struct ring *ring, const struct wti_record *record)
{
	switch (record->kind) {
	case WT_KIND_THREAD: {
		const struct wti_record_thread *r = (const void *)record;

		printf(" phase %u text ", r->phase);
		print_text((const char *)(r + 1), r->name_bytes);
		break;
	}
	case WT_KIND_PROCESS: {
		const struct wti_record_process *r = (const void *)record;

		printf(" pid %u text ", r->pid);
		print_text((const char *)(r + 1), r->command_bytes);
		break;
	}
	case WT_KIND_TENSOR: {
		const struct wti_record_tensor *r = (const void *)record;

		printf(" name ");
		print_name(ring, r->name);
		printf(" shape ");
		print_name(ring, r->shape);
		printf(" count %llu hash %016llx mean %.17g", (unsigned long long)r->count,
		       (unsigned long long)r->hash, r->mean);
		break;
	}
	case WT_KIND_STACK: {
		const struct wti_record_stack *r = (const void *)record;
		size_t bytes;

		find_definition(ring->process, WTI_DEF_STACK, r->stack, &bytes);
		printf(" id %u frames %zu", r->stack, bytes / 8);
		break;
	}
	case WT_KIND_DEVICE_OP: {
		const struct wti_record_device_op *r = (const void *)record;

		printf(" name ");
		print_name(ring, r->name);
		printf(" queue %u bytes %llu", r->queue, (unsigned long long)r->bytes);
		break;
	}
	}
}

static void print_fields(const struct ring *ring, const struct wti_record *record)
{
	switch (record->kind) {
	case WT_KIND_MARK: {
		const struct wti_record_mark *r = (const void *)record;

		printf(" name ");
		print_name(ring, r->name);
		printf(" value %llu", (unsigned long long)r->value);
		break;
	}
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_SPAN_END:
		printf(" name ");
		print_name(ring, ((const struct wti_record_span_begin *)record)->name);
		break;
	case WT_KIND_COUNTER: {
		const struct wti_record_counter *r = (const void *)record;

		printf(" name ");
		print_name(ring, r->name);
		printf(" value %.17g", r->value);
		break;
	}
	case WT_KIND_LOG: {
		const struct wti_record_log *r = (const void *)record;

		printf(" text ");
		print_text((const char *)(r + 1), r->text_bytes);
		break;
	}
	case WT_KIND_CONTEXT: {
		const struct wti_record_context *r = (const void *)record;

		printf(" key ");
		print_name(ring, r->key);
		printf(" type %u value %lld text ", r->type, (long long)r->value);
		print_text((const char *)(r + 1), r->text_bytes);
		break;
	}
	case WT_KIND_STATE: {
		const struct wti_record_state *r = (const void *)record;

		printf(" owner ");
		print_name(ring, r->owner);
		printf(" attribute ");
		print_name(ring, r->attribute);
		printf(" old %llx new %llx text ", (unsigned long long)r->old,
		       (unsigned long long)r->new_);
		print_text((const char *)(r + 1), r->text_bytes);
		break;
	}
	default:
		print_more_fields(ring, record);
	}
}

static void print_record(const struct ring *ring, const struct wti_record *record)
{
	printf("event %u %u kind %u seq %u", ring->process->hello.pid, ring->tid, record->kind,
	       record->seq);
	print_fields(ring, record);
	putchar('\n');
}

static void check_mark(struct ring *ring, const struct wti_record_mark *mark)
{
	size_t bytes;
	const char *name = find_definition(ring->process, WTI_DEF_STRING, mark->name, &bytes);

	if (!name && mark->name != 0)
		fault("undefined name", ring, mark->name, 0);
	else if (!name)
		return; /* 0 is the empty name */
	else if (tally_name && bytes == strlen(tally_name) && memcmp(name, tally_name, bytes) == 0)
		tally++;
	else if (bytes == 5 && memcmp(name, "count", 5) == 0) {
		if (ring->gap_count == 0 && mark->value != ring->mark_count)
			fault("mark out of order", ring, mark->value, ring->mark_count);
		ring->mark_count++;
	}
}

static void take_record(struct ring *ring, const struct wti_record *record)
{
	uint64_t gap = (uint32_t)(record->seq - (uint32_t)ring->seq);

	ring->gap_count += gap;
	ring->seq += gap + 1;
	ring->event_count++;
	if (record->ticks < ring->ticks)
		fault("time goes back", ring, record->ticks, ring->ticks);
	ring->ticks = record->ticks;
	if (ring->event_count == 1 && ring->track == 1 && record->kind != WT_KIND_PROCESS)
		fault("first event is not process", ring, record->kind, 0);
	if (record->kind == WT_KIND_MARK)
		check_mark(ring, (const void *)record);
	if (print_events)
		print_record(ring, record);
}

/* Some events at a time, so that no ring starves the others. */
static bool drain(struct ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->ring->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&ring->ring->tail, memory_order_relaxed);
	uint64_t begin = tail;

	if (head < tail || head - tail > ring->data_bytes) {
		fault("head", ring, head, tail);
		return false;
	}
	while (tail < head && tail - begin < 256 * 1024) {
		const struct wti_record *record =
			(void *)(wti_ring_data(ring->ring) + (tail & (ring->data_bytes - 1)));

		if (record->units < 2 || record->units * 8u > head - tail || record->kind == 0 ||
		    record->kind >= WT_KIND_END) {
			fault("record", ring, record->kind, record->units);
			return false;
		}
		take_record(ring, record);
		tail += record->units * 8u;
	}
	atomic_store_explicit(&ring->ring->tail, tail, memory_order_release);
	return tail != begin;
}

static bool drain_all(bool ended_only)
{
	bool moved = false;

	for (size_t i = 0; i < ring_count; i++) {
		struct ring *ring = &rings[i];
		bool closed;

		if (ended_only && !ring->process->hung_up)
			continue;
		closed = atomic_load_explicit(&ring->ring->state, memory_order_acquire) ==
			 WTI_RING_CLOSED;
		moved |= drain(ring);
		if ((closed || ring->process->hung_up) && !ring->quota_back) {
			ring->quota_back = true;
			atomic_fetch_sub(&control->rings_bytes_used,
					 WTI_RING_HEADER_BYTES + (uint64_t)ring->data_bytes);
		}
	}
	return moved;
}

static void *map_fd(int fd, size_t bytes)
{
	struct stat about;
	void *memory;

	if (fstat(fd, &about) != 0 || (size_t)about.st_size != bytes ||
	    (uint64_t)about.st_blocks * 512 < bytes) {
		fault("not allocated in full", NULL, (uint64_t)about.st_size, bytes);
		return NULL;
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void *map_ring(int fd, size_t data_bytes)
{
	size_t once = WTI_RING_HEADER_BYTES + data_bytes;
	char *base = mmap(NULL, once + data_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mmap(base, once, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	mmap(base + once, data_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, WTI_RING_HEADER_BYTES);
	return base;
}

static void take_message(struct process *process, const struct wti_message *message, int fd)
{
	if (message->type == WTI_MSG_LINK) { /* a child's own socket, through its parent's */
		if (process_count < PROCESSES_MAX)
			processes[process_count++].fd = fd;
		return;
	}
	if (message->type == WTI_MSG_RING && ring_count < RINGS_MAX) {
		struct ring *ring = &rings[ring_count++];
		size_t bytes;

		ring->process = process;
		ring->tid = message->tid;
		ring->track = message->track;
		ring->data_bytes = control->ring_bytes;
		ring->ring = map_ring(fd, ring->data_bytes);
		if (ring->ring->magic != WTI_RING_MAGIC ||
		    ring->ring->data_bytes != ring->data_bytes || ring->ring->track != ring->track)
			fault("ring header", ring, ring->ring->magic, ring->ring->data_bytes);
		if (!find_definition(process, WTI_DEF_TRACK, ring->track, &bytes))
			fault("track not defined", ring, ring->track, 0);
	} else if (process->chunk_count < CHUNKS_MAX) {
		struct wti_chunk *chunk = map_fd(fd, WTI_CHUNK_BYTES);

		if (message->type == WTI_MSG_HELLO)
			process->hello = *message;
		if (!chunk || chunk->magic != WTI_CHUNK_MAGIC ||
		    chunk->index != process->chunk_count)
			fault("chunk", NULL, message->track, process->chunk_count);
		else
			process->chunks[process->chunk_count++] = chunk;
	}
	close(fd);
}

/* One packet; false: nothing there. */
static bool receive(struct process *process)
{
	struct wti_message message;
	char space[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&message, sizeof(message)};
	struct msghdr packet = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = space,
				.msg_controllen = sizeof(space)};
	ssize_t bytes = recvmsg(process->fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
	int fd;

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (bytes <= 0) {
		close(process->fd);
		process->fd = -1;
		process->hung_up = true;
		return false;
	}
	if (bytes == sizeof(message) && message.type == WTI_MSG_WAKE)
		return true;
	if (bytes != sizeof(message) || !rights) {
		fault("message", NULL, (uint64_t)bytes, 0);
		return true;
	}
	memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
	take_message(process, &message, fd);
	return true;
}

static void serve(int listener, int timeout_ms)
{
	struct pollfd waits[PROCESSES_MAX + 1] = {{listener, POLLIN, 0}};
	struct process *whose[PROCESSES_MAX + 1];
	nfds_t count = 1;

	for (size_t i = 0; i < process_count; i++)
		if (processes[i].fd >= 0) {
			whose[count] = &processes[i];
			waits[count++] = (struct pollfd){processes[i].fd, POLLIN, 0};
		}
	if (poll(waits, count, timeout_ms) <= 0)
		return;
	for (nfds_t i = 1; i < count; i++)
		if (waits[i].revents)
			while (whose[i]->fd >= 0 && receive(whose[i]))
				;
	if (waits[0].revents && process_count < PROCESSES_MAX)
		processes[process_count++].fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static int listen_at(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", folder_fd);
	unlink(address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 4096) != 0) {
		perror("fake_recorder: socket");
		exit(4);
	}
	close(folder_fd);
	return fd;
}

static void make_control(void)
{
	int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	control = shmat(segment, NULL, 0);
	if (segment < 0 || control == (void *)-1) {
		perror("fake_recorder: control");
		exit(4);
	}
	shmctl(segment, IPC_RMID, NULL);
	snprintf(inner_name, sizeof(inner_name), "fake-key-of-22-letters.%d", segment);
	*control = (struct wti_control){
		.magic = WTI_CONTROL_MAGIC,
		.protocol = WTI_PROTOCOL,
		.ring_bytes = WTI_RING_DEFAULT_BYTES,
		.rings_bytes_max = 512u << 20,
		.block_budget_ns = 100000000,
		.definitions_bytes_max = 4u << 20,
		.recorder_pid = getpid(),
	};
	memcpy(control->key, inner_name, WTI_KEY_BYTES);
}

static void make_inner(const char *folder)
{
	char path[360];
	int fd;

	snprintf(inner, sizeof(inner), "%s/%s", folder, inner_name);
	snprintf(path, sizeof(path), "%s/control", inner);
	mkdir(inner, 0700);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, control, 4096) != 4096) {
		perror("fake_recorder: control");
		exit(4);
	}
	control_file = fd;
}

static uint32_t mismatch_count(void)
{
	struct wti_control written = {0};

	if (pread(control_file, &written, sizeof(written), 0) != (ssize_t)sizeof(written))
		return UINT32_MAX;
	return atomic_load(&written.mismatch_count);
}

static const char *folder_default(void)
{
	static char folder[] = "/tmp/fake-recorder-XXXXXX";

	return mkdtemp(folder);
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	for (int i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return otherwise;
}

static uint64_t number(int argc, char **argv, const char *name, uint64_t otherwise)
{
	const char *text = option(argc, argv, name, NULL);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static pid_t start(const char *folder, char **command)
{
	char variable[360];
	pid_t pid;

	snprintf(variable, sizeof(variable), "%u:%s", control->protocol, folder);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(2, 1); /* what the program says does not mix with what we say */
		setenv(WTI_ENV, variable, 1);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	return pid;
}

static void report(void)
{
	for (size_t i = 0; i < process_count; i++) {
		const struct process *p = &processes[i];
		struct wti_chunk *chunk = p->chunk_count ? p->chunks[0] : NULL;

		printf("process %u %s lost_no_ring %llu overflow %llu\n", p->hello.pid,
		       p->hello.command,
		       chunk ? (unsigned long long)atomic_load(&chunk->lost_no_ring) : 0,
		       chunk ? (unsigned long long)atomic_load(&chunk->overflow_count) : 0);
	}
	for (size_t i = 0; i < ring_count; i++) {
		const struct ring *r = &rings[i];
		uint64_t lost = atomic_load(&r->ring->lost_full);
		uint64_t end_gap = atomic_load(&r->ring->next_seq) - r->seq;

		if (r->gap_count + end_gap != lost)
			fault("gaps are not the losses", r, r->gap_count + end_gap, lost);
		printf("ring %u %u track %u events %llu marks %llu lost %llu reentrant %llu %s\n",
		       r->process->hello.pid, r->tid, r->track, (unsigned long long)r->event_count,
		       (unsigned long long)r->mark_count, (unsigned long long)lost,
		       (unsigned long long)atomic_load(&r->ring->lost_reentrant),
		       atomic_load(&r->ring->state) == WTI_RING_CLOSED ? "closed" : "open");
	}
	printf("control used %llu refused %u mismatch %u unjoined %llu\n",
	       (unsigned long long)atomic_load(&control->rings_bytes_used),
	       atomic_load(&control->refused_count), mismatch_count(),
	       (unsigned long long)atomic_load(&control->lost_unjoined));
}

static int run(int listener, pid_t pid, uint64_t die_ms, uint64_t stop_ms)
{
	uint64_t begin_ns = wti_clock_monotonic_ns();
	int status = -1;
	bool ended = false;
	int quiet = 0;

	/* The children of the program are ours when it has ended. */
	while (!ended || quiet < 3) {
		uint64_t ms = (wti_clock_monotonic_ns() - begin_ns) / 1000000;
		bool moved;
		int s;

		if (die_ms && ms >= die_ms)
			raise(SIGKILL);
		if (stop_ms && ms >= stop_ms)
			raise(SIGSTOP);
		serve(listener, 1);
		moved = drain_all(is_lazy);
		for (pid_t p; (p = waitpid(-1, &s, WNOHANG)) > 0;)
			if (p == pid)
				status = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
		ended = status >= 0 && waitpid(-1, &s, WNOHANG) < 0 && errno == ECHILD;
		quiet = moved || !ended ? 0 : quiet + 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *folder = option(argc, argv, "folder", NULL);
	int command = 1;
	int listener;
	int status;

	while (command < argc && strcmp(argv[command], "--") != 0)
		command++;
	if (command + 1 >= argc) {
		fprintf(stderr, "fake_recorder: no program given\n");
		return 2;
	}
	if (folder)
		mkdir(folder, 0700);
	else
		folder = folder_default();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	make_control();
	control->ring_bytes = (uint32_t)number(argc, argv, "ring-bytes", control->ring_bytes);
	control->rings_bytes_max = number(argc, argv, "rings-max", control->rings_bytes_max);
	control->block_budget_ns = number(argc, argv, "budget-ns", control->block_budget_ns);
	control->definitions_bytes_max =
		(uint32_t)number(argc, argv, "definitions-max", control->definitions_bytes_max);
	control->protocol = (uint32_t)number(argc, argv, "protocol", control->protocol);
	control->on_full = (uint32_t)number(argc, argv, "on-full", 0);
	control->strings_keep = (uint32_t)number(argc, argv, "keep", 0);
	tally_name = option(argc, argv, "tally", NULL);
	print_events = number(argc, argv, "print", 0);
	is_lazy = number(argc, argv, "lazy", 0);
	make_inner(folder);
	listener = listen_at(inner);
	status = run(listener, start(inner, argv + command + 1), number(argc, argv, "die-after", 0),
		     number(argc, argv, "stop-after", 0));
	report();
	printf("tally %llu\n", (unsigned long long)tally);
	printf("faults %zu\nstatus %d\n", fault_count, status);
	return fault_count != 0;
}
