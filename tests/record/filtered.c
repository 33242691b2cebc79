/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that forbids itself all system calls but those that it makes, and those that
 * docs/c-api.md says emitting may make; whoever makes another one is killed.
 *
 *   filtered [thread]
 *
 * Emits before and after, under names that are new then, and ends with status 7. With `thread` a
 * second thread does so too, and ends before the program.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define EVENTS 1000

/* The program's own. The last are those of a thread that ends, in the C library. */
static const unsigned program_calls[] = {__NR_write, __NR_exit_group, __NR_exit, __NR_madvise};
/* Of emitting, while its ring has room: docs/c-api.md. */
static const unsigned emit_calls[] = {__NR_rt_sigprocmask, __NR_futex, __NR_clock_gettime};
/* And of a thread that has emitted and ends. */
static const unsigned thread_calls[] = {__NR_munmap};

static struct sock_filter filter[64];
static unsigned short filter_count;

static void add(unsigned short code, unsigned k, unsigned char jt, unsigned char jf)
{
	filter[filter_count++] = (struct sock_filter){code, jt, jf, k};
}

static void allow(const unsigned *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	}
}

#define ALLOW(calls) allow(calls, sizeof(calls) / sizeof((calls)[0]))

static int forbid(bool with_thread)
{
	struct sock_fprog program = {.filter = filter};

	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	ALLOW(program_calls);
	ALLOW(emit_calls);
	if (with_thread)
		ALLOW(thread_calls);
	add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	program.len = filter_count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

static void emit_all(void)
{
	for (uint64_t i = 0; i < EVENTS; i++) {
		wt_step((int64_t)i);
		wt_counter(WT_NAME("loss"), 1.0 / (double)(i + 1));
		wt_mark(WT_NAME("a name that is new"), i);
		wt_log(WT_LEVEL_INFO, "loss 0.25");
	}
}

static sem_t emitted, forbidden;

static void *second_thread(void *self)
{
	wt_mark(WT_NAME("early"), 2);
	sem_post(&emitted);
	sem_wait(&forbidden);
	emit_all();
	return self;
}

int main(int argc, char **argv)
{
	bool with_thread = argc > 1 && !strcmp(argv[1], "thread");
	pthread_t thread;

	wt_mark(WT_NAME("early"), 1);
	sem_init(&emitted, 0, 0);
	sem_init(&forbidden, 0, 0);
	if (with_thread && pthread_create(&thread, NULL, second_thread, NULL))
		return 2;
	if (with_thread)
		sem_wait(&emitted);
	if (forbid(with_thread)) {
		printf("no filter: %s\n", strerror(errno));
		return 77;
	}
	sem_post(&forbidden);
	emit_all();
	if (with_thread)
		pthread_join(thread, NULL);
	if (write(STDOUT_FILENO, "emitted\n", 8) != 8)
		return 3;
	return 7;
}
