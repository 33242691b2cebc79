/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs in one: each shows one property of the client agent, and returns 0 if it held.
 *
 * usage: cases NAME
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: not so: %s\n", __LINE__, #condition);                     \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/* One of everything, with values that the test knows. */
static int case_api(void)
{
	static const float weights[] = {1, 2, 3, 4, 5, 6};
	struct wt_device_op op = {.size = sizeof(op), .name = WT_NAME("gemm"), .bytes = 64};

	errno = 4711;
	CHECK(wt_recording());
	CHECK(wt_stage("train") && wt_epoch(2) && wt_step(-7));
	CHECK(wt_mark(WT_NAME("point"), 41));
	WT_SPAN("outer")
	{
		CHECK(wt_counter(WT_NAME("loss"), 0.5));
	}
	CHECK(wt_counter_unit(WT_NAME("size"), WT_NAME("B"), 1e9));
	CHECK(wt_log(WT_LEVEL_INFO, "epoch 3 loss 0.25"));
	CHECK(wt_logf(WT_LEVEL_ERROR, "%s=%d", "retries", 3));
	CHECK(wt_context_float(WT_NAME("temperature"), 0.5));
	CHECK(wt_context_text(WT_NAME("device"), "cuda:0"));
	CHECK(wt_state_float(WT_NAME("optimizer"), WT_NAME("lr"), 0.1, 0.01));
	CHECK(wt_state_int(WT_NAME("sampler"), WT_NAME("seed"), -1, 17));
	CHECK(wt_state_text(WT_NAME("model"), WT_NAME("mode"), "eval"));
	CHECK(wt_tensor(WT_NAME("weight"), weights, WT_DTYPE_F32, 2, (size_t[]){2, 3}));
	CHECK(wt_tensor(WT_NAME("scalar"), weights, WT_DTYPE_F32, 0, NULL));
	op.queue = wt_queue(0, "stream 7");
	CHECK(op.queue != 0 && op.queue == wt_queue(0, "stream 7") &&
	      op.queue != wt_queue(1, "stream 7"));
	CHECK(wt_device_op(&op));
	CHECK(wt_edge(WT_EDGE_LAUNCH, 1, 2) && wt_clock(64, 1000, 5) && wt_rank(1, 4, 1));
	CHECK(wt_stack() && wt_stack());
	CHECK(wt_name_of("same") == wt_name_of("same"));
	CHECK(errno == 4711);
	return 0;
}

/* A file that is saved, and one that could not be loaded. */
static int case_transfer(void)
{
	static const float weights[] = {1, 2, 3, 4, 5, 6};
	struct wt_transfer saving = wt_save_begin("model.bin"), loading;

	CHECK(wt_transfer_tensor(&saving, WT_NAME("weight"), weights, WT_DTYPE_F32, 2,
				 (size_t[]){2, 3}));
	CHECK(wt_transfer_int(&saving, WT_NAME("step"), 7));
	CHECK(wt_transfer_end(&saving, true));
	CHECK(!wt_transfer_end(&saving, true)); /* once is enough */
	loading = wt_load_begin("model.bin");
	CHECK(wt_transfer_end(&loading, false));
	return 0;
}

/* Texts that must not be kept, and names that must be masked. */
static int case_secrets(void)
{
	prctl(PR_SET_NAME, "pwd=PLANTED10", 0, 0, 0); /* a thread is named when it gets its ring */
	wt_log(WT_LEVEL_INFO, "the user wrote: dear diary, PLANTED01");
	wt_logf(WT_LEVEL_INFO, "password=PLANTED02");
	wt_context_text(WT_NAME("prompt"), "tell me about PLANTED03 please");
	wt_state_text(WT_NAME("a"), WT_NAME("b"), "sk-PLANTED04abcdefghij0123456789");
	wt_stage("PLANTED05 is a stage of many words");
	wt_mark(wt_name_of("login token=PLANTED06xyz"), 0);
	wt_mark(WT_NAME("https://me:PLANTED07@host/"), 0);
	wt_mark(wt_name_of("ghp_PLANTED08abcdefghijklmnop"), 0);
	wt_queue(0, "queue api_key=PLANTED09");
	wt_span_begin(WT_NAME("Authorization: Bearer PLANTED11PLANTED11"));
	return 0;
}

/* Names and texts of any bytes and length. */
static int case_texts(void)
{
	const size_t bytes = 1 << 20;
	char *text = malloc(bytes + 1);

	CHECK(text);
	for (size_t i = 0; i < bytes; i += 3)
		memcpy(text + i, "\xe2\x82\xac", bytes - i < 3 ? bytes - i : 3); /* an euro sign */
	text[bytes] = 0;
	CHECK(wt_mark(wt_name_of(text), 1));
	CHECK(wt_log(WT_LEVEL_INFO, text));
	CHECK(wt_mark(WT_NAME("line\nbreak \"quoted\" \xff\xfe"), 2));
	CHECK(wt_log(WT_LEVEL_INFO, NULL) && wt_stage(NULL) && wt_mark(wt_name_of(NULL), 3));
	free(text);
	return 0;
}

/* More names than there is room for. */
static int case_overflow(void)
{
	char text[64];

	for (int i = 0; i < 40000; i++) {
		snprintf(text, sizeof(text), "name number %d of very many", i);
		CHECK(wt_mark(wt_name_of(text), (uint64_t)i));
	}
	return 0;
}

static void *emit_marks(void *barrier)
{
	for (uint64_t i = 0; i < 100; i++)
		wt_mark(WT_NAME("count"), i);
	if (barrier)
		pthread_barrier_wait(barrier);
	return NULL;
}

/* Threads that live at the same time, more than the ceiling of rings allows. */
static int case_ceiling(void)
{
	static pthread_barrier_t barrier;
	pthread_t threads[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_marks, &barrier) == 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Threads one after another: their rings are given back, so that a small ceiling is enough. */
static int case_churn(void)
{
	for (uint64_t i = 0; i < 300; i++) {
		const struct timespec nap = {.tv_nsec = 2000000};
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, emit_marks, NULL) == 0);
		pthread_join(thread, NULL);
		nanosleep(&nap, NULL);
	}
	return 0;
}

static pthread_key_t late_key;

static void emit_late(void *value)
{
	(void)value;
	wt_mark(WT_NAME("late"), 1);
}

static void *thread_with_key(void *arg)
{
	(void)arg;
	wt_mark(WT_NAME("early"), 1);
	pthread_setspecific(late_key, &late_key);
	return NULL;
}

/* Destructors of the program's own thread data emit, and the thread's end comes after them. */
static int case_late(void)
{
	pthread_t thread;

	CHECK(pthread_key_create(&late_key, emit_late) == 0);
	CHECK(pthread_create(&thread, NULL, thread_with_key, NULL) == 0);
	return pthread_join(thread, NULL);
}

/* The numbers of the program's descriptors are its own, and it may close ours. */
static int case_descriptors(void)
{
	int fd;

	CHECK(wt_mark(WT_NAME("count"), 0));
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(fd == 3);
	for (int i = 3; i < 2048; i++)
		close(i);
	CHECK(pipe((int[2]){0, 0}) == 0);
	for (int i = 5; i < 1000; i++)
		CHECK(dup(3) == i); /* among them what was our socket */
	for (uint64_t i = 1; i < 200000; i++)
		wt_mark(WT_NAME("count"), i);
	for (int i = 5; i < 1000; i++)
		CHECK(close(i) == 0); /* nothing of the program's was closed by us */
	return 0;
}

/* As many events as fast as can be; how long that took is printed. */
static int case_steady(void)
{
	struct timespec begin, end;
	uint64_t published = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t i = 0; i < 3000000; i++)
		published += wt_mark(WT_NAME("count"), i);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("published %llu in %lld ms\n", (unsigned long long)published,
	       (long long)((end.tv_sec - begin.tv_sec) * 1000 +
			   (end.tv_nsec - begin.tv_nsec) / 1000000));
	return 0;
}

/* Goes on for a second whatever happens to the recorder. */
static int case_second(void)
{
	struct timespec begin, now;
	uint64_t i = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		const struct timespec nap = {.tv_nsec = 100000};

		for (int j = 0; j < 2000; j++)
			wt_mark(WT_NAME("count"), i++);
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 1000);
	printf("finished after %llu\n", (unsigned long long)i);
	return 0;
}

/* Nobody records: every call does nothing, and says so. */
static int case_quiet(void)
{
	errno = 4711;
	CHECK(!wt_recording());
	CHECK(!wt_mark(WT_NAME("a"), 1) && !wt_counter(WT_NAME("a"), 1) && !wt_step(1));
	CHECK(!wt_span_begin(WT_NAME("a")) && !wt_span_end(WT_NAME("a")) && !wt_stage("train"));
	CHECK(!wt_log(0, "text") && !wt_logf(0, "%d", 1) && !wt_stack() && wt_queue(0, "q") == 0);
	CHECK(!wt_tensor(WT_NAME("t"), &errno, WT_DTYPE_I32, 0, NULL));
	CHECK(wt_name_of("x") != NULL && wt_now() > 0);
	CHECK(errno == 4711);
	return 0;
}

/* Children of children of children, each with events of its own. */
static int case_generations(void)
{
	for (int generation = 0; generation < 8; generation++) {
		int status;
		pid_t pid;

		CHECK(wt_mark(wt_name_of("generation"), (uint64_t)generation));
		CHECK(wt_mark(WT_NAME("fixed"), (uint64_t)generation));
		pid = fork();
		if (pid != 0)
			return waitpid(pid, &status, 0) != pid || status != 0;
	}
	return 0;
}

/* A child of vfork emits before it calls exec: into its parent's track, and harms nothing. */
static int case_vfork(void)
{
	int status;

	for (volatile uint64_t i = 0; i < 50; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			wt_mark(WT_NAME("in child"), i);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		wt_mark(WT_NAME("count"), i);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} cases[] = {
		{"api", case_api},         {"secrets", case_secrets},
		{"texts", case_texts},     {"overflow", case_overflow},
		{"ceiling", case_ceiling}, {"churn", case_churn},
		{"late", case_late},       {"descriptors", case_descriptors},
		{"steady", case_steady},   {"second", case_second},
		{"quiet", case_quiet},     {"generations", case_generations},
		{"vfork", case_vfork},     {"transfer", case_transfer},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
			return cases[i].run();
	return 2;
}
