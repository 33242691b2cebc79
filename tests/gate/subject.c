/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small training program that does on request what an assertion forbids or demands, for
 * test_gate.py. Its data is read in every step, its model written at the end.
 *
 *	subject [ACT...]
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

enum { STEPS = 20, STEP_NS = 1000000, DATA_BYTES = 4096, MUCH_BYTES = 300 << 20 };

static char **acts;

static bool does(const char *act)
{
	for (char **at = acts; *at; at++)
		if (!strcmp(*at, act))
			return true;
	return false;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void save(void)
{
	static const char weights[DATA_BYTES];
	const char *name = does("in-place") ? "model.bin" : "model.bin.tmp";
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0 && write(fd, weights, sizeof(weights)) == sizeof(weights), name);
	if (!does("no-fsync"))
		must(!fsync(fd), "fsync");
	close(fd);
	if (!does("in-place"))
		must(!rename(name, "model.bin"), "rename");
}

static void connect_somewhere(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!connect(fd, (const struct sockaddr *)&address, sizeof(address)), "connect");
	close(fd);
}

static void execute(const char *program)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

/* A child that does a little, so that the work is spread, or is not. */
static void have_helper(void)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		for (int i = 0; i < (does("equal-helper") ? 200 : 1); i++)
			lseek(STEPS + 100 + i, 0, SEEK_SET);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void use_memory(void)
{
	char *memory =
		mmap(NULL, MUCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	for (size_t i = 0; i < MUCH_BYTES; i += 4096)
		memory[i] = 1;
}

static void write_outside(void)
{
	int fd = open("../outside.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0 && write(fd, "x", 1) == 1, "../outside.txt");
	close(fd);
}

static void train_step(int step, int data_fd)
{
	char batch[DATA_BYTES];

	/* A call that nobody else makes in this program. */
	must(preadv(data_fd, &(struct iovec){batch, sizeof(batch)}, 1, 0) == sizeof(batch),
	     "preadv");
	nanosleep(&(struct timespec){0, does("slow") ? 50 * STEP_NS : STEP_NS}, NULL);
	wt_counter(WT_NAME("loss"), does("nan") && step > 5 ? NAN : 1.0 / (step + 1));
	if (does("open-often"))
		close(open("data.bin", O_RDONLY));
	if (does("fail-often"))
		must(open("nothing", O_RDONLY) < 0, "nothing");
	for (int i = 0; does("spin") && i < 100; i++)
		lseek(data_fd, 0, SEEK_SET);
	if (step == 5 && does("connect"))
		connect_somewhere();
	if (step == 5 && does("die"))
		raise(SIGKILL);
	if (step == 5 && does("crash"))
		exit(1);
	if (step == 5 && does("execute"))
		execute("/bin/true");
	if (step == 5 && does("outside"))
		write_outside();
}

int main(int argc, char **argv)
{
	int data_fd = open("data.bin", O_RDONLY);

	acts = argv + 1;
	must(argc >= 1 && data_fd >= 0, "data.bin");
	wt_stage("train");
	if (does("helper") || does("equal-helper"))
		have_helper();
	if (does("memory"))
		use_memory();
	for (int step = 0; step < STEPS; step++) {
		wt_step(step);
		train_step(step, data_fd);
	}
	wt_stage("save");
	if (!does("no-save"))
		save();
	close(data_fd);
	return 0;
}
