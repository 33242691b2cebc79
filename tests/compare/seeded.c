/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small training program that does on request one thing differently, for test_golden.py: reads
 *its data, logs every step, makes a checkpoint every tenth, has a helper process and a scratch
 *file.
 *
 *	seeded FOLDER [FAULT]
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

enum { STEPS = 40, STEP_NS = 4000000, CHECKPOINT_BYTES = 8192, BATCH_BYTES = 4096 };

static const char *fault = "";
static int log_fd;

/* Which fault is asked for. The test looks for this in the source to know its line. */
static bool seeded(const char *name)
{
	return !strcmp(fault, name);
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void put(int fd, const void *data, size_t bytes)
{
	must(write(fd, data, bytes) == (ssize_t)bytes, "write");
}

static void read_file(const char *name, bool is_closed)
{
	char text[64];
	int fd = open(name, O_RDONLY);

	must(fd >= 0 && read(fd, text, sizeof(text)) >= 0, name);
	if (is_closed)
		close(fd);
}

static void log_step(int step)
{
	char line[64];
	int bytes = snprintf(line, sizeof(line), "step %02d done\n", step);

	put(log_fd, line, (size_t)bytes);
	if (seeded("doubled-writes"))
		put(log_fd, line, (size_t)bytes);
}

static void write_checkpoint(int fd)
{
	static const char weights[CHECKPOINT_BYTES];
	size_t chunk = seeded("small-writes") ? 64 : CHECKPOINT_BYTES / 2;

	for (size_t at = 0; at < sizeof(weights); at += chunk)
		put(fd, weights + at, chunk);
	if (seeded("bigger-checkpoint"))
		put(fd, weights, 1024);
}

static void checkpoint(void)
{
	bool in_place = seeded("in-place");
	const char *name = in_place ? "model.bin" : "model.bin.tmp";
	mode_t mode = seeded("permissions") ? 0600 : 0644;
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	must(fd >= 0, name);
	write_checkpoint(fd);
	if (!seeded("no-fsync"))
		must(!fsync(fd), "fsync");
	close(fd);
	if (!in_place)
		must(!rename(name, "model.bin"), "rename");
}

static void reach_somebody(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!connect(fd, (const struct sockaddr *)&address, sizeof(address)), "connect");
	close(fd);
}

static void spawn(bool with_program)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		if (with_program)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void *idle(void *nothing)
{
	return nothing;
}

static void more_thread(void)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, idle, NULL), "pthread_create");
	pthread_join(thread, NULL);
}

static void churn(void)
{
	for (int i = 0; i < 10; i++) {
		void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(memory != MAP_FAILED, "mmap");
		munmap(memory, 65536);
	}
}

static void compute(void)
{
	nanosleep(&(struct timespec){0, STEP_NS}, NULL);
}

/* Faults that are one more thing in every step. */
static void disturb_step(int step)
{
	struct stat st;

	if (seeded("open-every-step"))
		read_file("settings.txt", true);
	if (seeded("stat-every-step"))
		must(!stat("settings.txt", &st), "stat");
	if (seeded("churn"))
		churn();
	if (step == 7 && seeded("leak"))
		read_file("settings.txt", false);
	if (step == 9 && seeded("connection"))
		reach_somebody();
	if (step == 11 && seeded("retry"))
		for (int i = 0; i < 25; i++)
			must(open("ready", O_RDONLY) < 0, "ready");
	if (step == 13 && seeded("child"))
		spawn(false);
	if (step == 13 && seeded("program"))
		spawn(true);
	if (step == 15 && seeded("library"))
		must(dlopen("libanl.so.1", RTLD_NOW), "dlopen");
	if (step == 17 && seeded("thread"))
		more_thread();
	if (step == 19 && seeded("folder"))
		must(!mkdir("extra", 0755), "mkdir");
}

static void train_step(int step, int data_fd)
{
	char batch[BATCH_BYTES];
	size_t bytes = seeded("half-batch") ? BATCH_BYTES / 2 : BATCH_BYTES;
	bool is_last = step % 10 == 9, other_order = is_last && seeded("order");

	must(pread(data_fd, batch, bytes, 0) == (ssize_t)bytes, "pread");
	compute();
	disturb_step(step);
	if (other_order)
		checkpoint();
	log_step(step);
	if (is_last && !other_order)
		checkpoint();
}

static void write_metrics(void)
{
	int fd = open("metrics.json", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0, "metrics.json");
	put(fd, "{\"loss\": 0.1}\n", 14);
	close(fd);
}

int main(int argc, char **argv)
{
	char scratch[] = "/tmp/seeded-XXXXXX";
	int data_fd, scratch_fd, steps = STEPS;

	must(argc >= 2 && !chdir(argv[1]), "usage: seeded FOLDER [FAULT]");
	fault = argc > 2 ? argv[2] : "";
	read_file("settings.txt", true);
	log_fd = open("log.txt", O_WRONLY | O_CREAT | O_APPEND, 0644);
	data_fd = open(seeded("other-input") ? "data2.bin" : "data.bin", O_RDONLY);
	scratch_fd = mkstemp(scratch);
	must(log_fd >= 0 && data_fd >= 0 && scratch_fd >= 0, "open");
	put(scratch_fd, "scratch", 7);
	close(scratch_fd);
	spawn(false);
	steps += seeded("more-steps") ? 5 : 0;
	for (int step = 0; step < steps; step++) {
		wt_step(step);
		train_step(step, data_fd);
	}
	if (!seeded("no-metrics"))
		write_metrics();
	if (!seeded("left-behind"))
		unlink(scratch);
	close(data_fd);
	close(log_fd);
	puts("done");
	return 0;
}
