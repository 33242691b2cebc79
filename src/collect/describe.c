/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what run.json says; docs/recording.md describes it field by field. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"

#include "recorder.h"
#include "trace/run_folder.h"

#define SCHEMA 1

static void text(struct wti_json *json, const char *key, const char *value)
{
	wti_json_key(json, key);
	if (value && value[0])
		wti_json_masked(json, value);
	else
		wti_json_null(json);
}

static void number(struct wti_json *json, const char *key, uint64_t value)
{
	wti_json_key(json, key);
	wti_json_u64(json, value);
}

static void number_or_null(struct wti_json *json, const char *key, bool is_known, int64_t value)
{
	wti_json_key(json, key);
	if (is_known)
		wti_json_i64(json, value);
	else
		wti_json_null(json);
}

static void when(struct wti_json *json, const char *key, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / 1000000000u);
	char day[32], full[64], key_ns[32];
	struct tm utc;

	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &utc));
	snprintf(full, sizeof(full), "%s.%09uZ", day, (unsigned)(real_ns % 1000000000u));
	snprintf(key_ns, sizeof(key_ns), "%s_ns", key);
	text(json, key, real_ns ? full : NULL);
	number_or_null(json, key_ns, real_ns, (int64_t)real_ns);
}

static void describe_end(const struct wti_recorder *recorder, struct wti_json *json)
{
	const struct wti_record_outcome *outcome = recorder->outcome;
	bool running = outcome->status == WTI_RUN_RUNNING;

	when(json, "end", recorder->end_real_ns);
	wti_json_key(json, "duration");
	wti_json_f64(json, (double)outcome->duration_ns / 1e9);
	number(json, "duration_ns", outcome->duration_ns);
	number_or_null(json, "exit_status", !running && !outcome->signal, outcome->exit_code);
	number_or_null(json, "signal", outcome->signal, outcome->signal);
	number_or_null(json, "signal_passed_on", recorder->asked_to_end, recorder->asked_to_end);
	number(json, "cpu_ns", recorder->cpu_ns);
	number(json, "memory_peak_bytes", recorder->memory_bytes);
	number(json, "memory_floor_bytes", recorder->memory_floor_bytes);
	number(json, "faults", recorder->fault_count);
	number(json, "major_faults", recorder->major_fault_count);
}

static void describe_machine(const struct wti_environment *environment, struct wti_json *json)
{
	char boot[WTI_BOOT_ID_BYTES];

	wti_json_key(json, "host");
	wti_json_object(json);
	text(json, "name", environment->host);
	wti_boot_id(boot);
	wti_json_key(json, "boot");
	wti_json_text(json, boot[0] ? boot : NULL);
	text(json, "os", environment->os);
	text(json, "kernel", environment->kernel);
	text(json, "cpu", environment->cpu);
	number(json, "cpus", environment->cpu_count);
	number(json, "memory_bytes", environment->memory_bytes);
	text(json, "libc", environment->libc);
	wti_json_object_end(json);
	text(json, "wheeltap", WTI_VERSION);
	wti_json_key(json, "executable");
	wti_json_object(json);
	text(json, "path", environment->executable);
	wti_json_key(json, "build_id");
	wti_json_text(json, environment->build_id[0] ? environment->build_id : NULL);
	wti_json_object_end(json);
}

static void describe_git(const struct wti_git *git, struct wti_json *json)
{
	wti_json_key(json, "git");
	if (!git->found) {
		wti_json_null(json);
		return;
	}
	wti_json_object(json);
	wti_json_key(json, "commit");
	wti_json_text(json, git->commit);
	text(json, "branch", git->branch);
	wti_json_key(json, "dirty");
	if (git->dirty_known)
		wti_json_bool(json, git->dirty);
	else
		wti_json_null(json);
	wti_json_key(json, "diff_hash");
	wti_json_text(json, git->diff_hash[0] ? git->diff_hash : NULL);
	wti_json_object_end(json);
}

static void describe_loaded(const struct wti_loaded *loaded, struct wti_json *json)
{
	wti_json_key(json, "loaded");
	wti_json_array(json);
	for (size_t i = 0; i < loaded->paths.count; i++) {
		const char *path = loaded->paths.entries[i].text;
		char build_id[WTI_BUILD_ID_TEXT_BYTES];

		wti_json_object(json);
		text(json, "path", path);
		wti_json_key(json, "build_id");
		wti_json_text(json, wti_build_id(path, build_id) ? build_id : NULL);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

static void describe_seeds(const struct wti_seeds *seeds, struct wti_json *json)
{
	struct wti_seed seed;

	wti_json_key(json, "seeds");
	wti_json_object(json);
	for (size_t i = 0; wti_seeds_get(seeds, i, &seed); i++) {
		wti_json_key(json, seed.name);
		wti_json_text(json, seed.value);
	}
	wti_json_object_end(json);
}

static void describe_config(const struct wti_recorder *recorder, struct wti_json *json)
{
	static const char *const on_full[] = {"block", "drop", "flight", "wait"};
	const struct wti_record_options *options = recorder->options;

	wti_json_key(json, "config");
	wti_json_object(json);
	number(json, "ring_bytes", recorder->ring_bytes);
	number(json, "rings_bytes_max", options->rings_bytes_max);
	number(json, "bytes_max", options->bytes_max);
	text(json, "on_full", on_full[options->on_full]);
	number(json, "flight_ns",
	       options->on_full == WTI_RECORD_FLIGHT ? (uint64_t)options->flight_ns : 0);
	number(json, "record_ns", (uint64_t)options->duration_ns);
	number_or_null(json, "wait_ns", options->wait_ns != INT64_MAX, options->wait_ns);
	text(json, "strings", options->strings_keep ? "keep" : "private");
	if (options->noise) {
		char seed[24];

		snprintf(seed, sizeof(seed), "%llu", (unsigned long long)options->noise_seed);
		text(json, "noise", options->noise);
		text(json, "noise_seed", seed); /* JSON has no whole numbers of 64 bits */
	}
	number(json, "blobs_bytes_max", options->blobs_bytes_max);
	text(json, "clock", recorder->clock.domain == WT_CLOCK_TSC ? "tsc" : "monotonic");
	if (options->chosen) {
		wti_json_key(json, "options");
		wti_json_command(json, options->chosen);
	}
	wti_json_object_end(json);
}

static uint64_t lost_in(const struct wti_stream *stream)
{
	uint64_t lost = stream->unwritten;

	for (int reason = 0; reason <= WT_LOST_DEVICE; reason++)
		lost += stream->lost[reason];
	return lost;
}

static void describe_stream(const struct wti_stream *stream, struct wti_json *json)
{
	const struct wt_identity *who = &stream->source.identity;
	char name[32], file[48];

	wti_stream_name(stream, name, sizeof(name));
	snprintf(file, sizeof(file), stream->flight ? "%s.*.wt" : "%s.wt", name);
	wti_json_object(json);
	text(json, "file", file);
	number(json, "pid", who->pid);
	number(json, "exec", who->exec);
	text(json, "command", who->command);
	number(json, "events", wti_stream_events(stream));
	number(json, "bytes", wti_stream_bytes(stream));
	number(json, "lost", lost_in(stream));
	wti_json_object_end(json);
}

static void describe_losses(const struct wti_record_outcome *outcome, struct wti_json *json)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_LOST);

	wti_json_key(json, "losses");
	wti_json_object(json);
	for (int reason = 0; reason <= WT_LOST_DEVICE; reason++)
		if (outcome->lost_by[reason])
			number(json, kind->fields[0].enum_names[reason], outcome->lost_by[reason]);
	wti_json_object_end(json);
}

static void describe_strangers(const struct wti_recorder *recorder, struct wti_json *json)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_NOT_FOLLOWED);
	const struct wti_record_outcome *outcome = recorder->outcome;

	number(json, "not_followed_count", outcome->stranger_count);
	wti_json_key(json, "not_followed");
	wti_json_array(json);
	for (uint32_t i = 0; i < outcome->stranger_count && i < WTI_RECORD_STRANGERS_SHOWN; i++) {
		const struct wti_stranger *stranger = &outcome->strangers[i];

		wti_json_object(json);
		number(json, "pid", stranger->pid);
		text(json, "command", stranger->command);
		text(json, "reason", kind->fields[1].enum_names[stranger->reason]);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

static void describe_left(const struct wti_record_outcome *outcome, struct wti_json *json)
{
	number(json, "still_running", outcome->still_running);
	wti_json_key(json, "left_running");
	wti_json_array(json);
	for (uint32_t i = 0; i < outcome->still_running && i < WTI_RECORD_LEFT_SHOWN; i++) {
		wti_json_object(json);
		number(json, "pid", outcome->left[i].pid);
		text(json, "command", outcome->left[i].command);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

static void describe_python(const struct wti_record_outcome *outcome, struct wti_json *json)
{
	wti_json_key(json, "python");
	wti_json_object(json);
	number(json, "joined", outcome->python_count);
	wti_json_key(json, "cause");
	wti_json_text(json,
		      outcome->python_cause ? wti_python_cause_name(outcome->python_cause) : NULL);
	text(json, "why", outcome->python_why);
	wti_json_object_end(json);
}

static void describe_stacks(const struct wti_syscalls *syscalls, struct wti_json *json)
{
	const struct wti_stacks *stacks = syscalls->feed.stacks;

	wti_json_key(json, "stacks");
	if (!stacks) {
		wti_json_null(json);
		return;
	}
	wti_json_object(json);
	number(json, "taken", stacks->taken);
	number(json, "distinct", stacks->last_id);
	number(json, "files", stacks->last_code);
	number(json, "cut", stacks->cut);
	number(json, "broken", stacks->broken);
	number(json, "beyond_copy", stacks->beyond_copy);
	number(json, "left_out", stacks->left_out + stacks->spaces.left_out);
	number(json, "lost", syscalls->lost_stacks);
	wti_json_object_end(json);
}

static void describe_syscalls(const struct wti_recorder *recorder, struct wti_json *json)
{
	const struct wti_syscalls *syscalls = &recorder->syscalls;
	const struct wti_syscalls_options *options = recorder->options->syscalls;

	wti_json_key(json, "syscalls");
	if (!options) {
		wti_json_null(json);
		return;
	}
	wti_json_object(json);
	text(json, "backend", wti_syscalls_backend_name(syscalls->backend));
	text(json, "why", syscalls->why);
	text(json, "expression", options->expression);
	wti_json_key(json, "attached");
	wti_json_bool(json, options->attach != 0);
	number(json, "calls", syscalls->feed.call_count);
	number(json, "own_calls", syscalls->feed.own_count);
	number(json, "held_back", syscalls->freezer.count);
	describe_stacks(syscalls, json);
	wti_json_object_end(json);
}

static void describe_streams(const struct wti_streams *streams, struct wti_json *json)
{
	wti_json_key(json, "streams");
	wti_json_array(json);
	if (streams->own)
		describe_stream(streams->own, json);
	for (size_t i = 0; i < streams->count; i++)
		describe_stream(streams->all[i], json);
	wti_json_array_end(json);
}

/* What the program wrote to by itself; `kept_bytes` is null where console.log can have nothing. */
static void describe_redirects(const struct wti_redirect redirects[2], struct wti_json *json)
{
	static const char *const names[] = {"stdout", "stderr"};

	wti_json_key(json, "redirected");
	wti_json_array(json);
	for (int i = 0; i < 2; i++) {
		if (!redirects[i].to)
			continue;
		wti_json_object(json);
		text(json, "stream", names[i]);
		text(json, "to", redirects[i].to);
		if (redirects[i].is_readable)
			number(json, "kept_bytes", redirects[i].kept_bytes);
		else
			text(json, "kept_bytes", NULL);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

static void describe_trace(const struct wti_recorder *recorder, bool is_short,
			   struct wti_json *json)
{
	const struct wti_record_outcome *outcome = recorder->outcome;

	number(json, "events", outcome->events);
	number(json, "bytes", outcome->bytes);
	number(json, "lost", outcome->lost);
	describe_losses(outcome, json);
	if (is_short)
		text(json, "streams", NULL);
	else
		describe_streams(&recorder->streams, json);
	describe_strangers(recorder, json);
	describe_python(outcome, json);
	describe_syscalls(recorder, json);
	describe_left(outcome, json);
	wti_json_key(json, "console");
	wti_json_object(json);
	number(json, "bytes", outcome->console_bytes);
	number(json, "dropped_bytes", outcome->console_dropped);
	describe_redirects(recorder->launch.redirects, json);
	wti_json_object_end(json);
	text(json, "limited", outcome->limited);
	text(json, "trouble", outcome->trouble);
}

void wti_describe(const struct wti_recorder *recorder, bool is_short, struct wti_buf *out)
{
	struct wti_json json;

	wti_json_init(&json, out, true);
	wti_json_object(&json);
	number(&json, "schema", SCHEMA);
	text(&json, "name", recorder->name);
	text(&json, "status", wti_run_status_name(recorder->outcome->status));
	wti_json_key(&json, "command");
	wti_json_command(&json, recorder->options->argv);
	text(&json, "directory", recorder->environment.directory);
	when(&json, "start", recorder->start_real_ns);
	describe_end(recorder, &json);
	describe_machine(&recorder->environment, &json);
	describe_git(&recorder->environment.git, &json);
	describe_config(recorder, &json);
	if (is_short) {
		text(&json, "environment", NULL);
		text(&json, "seeds", NULL);
	} else {
		wti_json_key(&json, "environment");
		wti_json_variables(&json, recorder->options->environment);
		describe_seeds(&recorder->seeds, &json);
	}
	describe_trace(recorder, is_short, &json);
	if (is_short)
		text(&json, "loaded", NULL);
	else
		describe_loaded(&recorder->loaded, &json);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}

static enum wti_run_status status_of(const struct wti_recorder *recorder)
{
	int status = recorder->wait_status;

	if (recorder->interrupted || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT))
		return WTI_RUN_INTERRUPTED;
	/* One that was asked to end and says that all went well has finished what it wanted. */
	if (recorder->asked_to_end && status)
		return WTI_RUN_INTERRUPTED;
	if (WIFSIGNALED(status))
		return WTI_RUN_KILLED;
	return WEXITSTATUS(status) ? WTI_RUN_FAILED : WTI_RUN_FINISHED;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

/* The kernel does not give a setuid program its privileges where its tracer has not as many. */
static bool loses_setuid(const struct wti_recorder *recorder)
{
	struct stat st;

	return recorder->syscalls.backend == WTI_SYSCALLS_PTRACE && !recorder->attach.pid &&
	       geteuid() && !stat(recorder->executable, &st) &&
	       ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
		(st.st_mode & S_ISGID && st.st_gid != getegid()));
}

void wti_describe_outcome(struct wti_recorder *recorder)
{
	struct wti_record_outcome *outcome = recorder->outcome;
	const struct wti_relay_page *page = recorder->launch.page;
	struct wti_session_counts counts;
	int status = recorder->wait_status;

	outcome->status = status_of(recorder);
	outcome->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	outcome->exit_code = outcome->signal ? 128 + outcome->signal : WEXITSTATUS(status);
	outcome->duration_ns = recorder->ended_ns - recorder->start_ns;
	outcome->recorder_cpu_ns = own_cpu_ns();
	outcome->events = wti_streams_events(&recorder->streams);
	outcome->bytes = wti_streams_bytes(&recorder->streams);
	wti_streams_losses(&recorder->streams, outcome->lost_by);
	outcome->lost = 0;
	for (int reason = 0; reason <= WT_LOST_DEVICE; reason++)
		outcome->lost += outcome->lost_by[reason];
	outcome->process_count = 0;
	for (size_t i = 0; i < recorder->join.process_count; i++)
		outcome->process_count += !recorder->join.processes[i]->beside;
	memcpy(outcome->device_note, recorder->drain.device_note, sizeof(outcome->device_note));
	wti_session_count(&recorder->session, &counts);
	outcome->mismatch_count = counts.mismatch_count;
	outcome->mismatch_protocol = counts.mismatch_protocol;
	outcome->program_itself_not_followed =
		recorder->tree.count && !recorder->tree.nodes[0].joined;
	if (recorder->syscalls.is_open) {
		outcome->syscalls_backend = wti_syscalls_backend_name(recorder->syscalls.backend);
		memcpy(outcome->syscalls_why, recorder->syscalls.why,
		       sizeof(outcome->syscalls_why));
		outcome->syscalls_is_second =
			recorder->options->syscalls->backend != WTI_SYSCALLS_PTRACE &&
			recorder->syscalls.backend == WTI_SYSCALLS_PTRACE;
		outcome->syscalls_count = recorder->syscalls.feed.call_count;
		outcome->syscalls_foreign_count = recorder->syscalls.feed.foreign_count;
		outcome->syscalls_without_setuid = loses_setuid(recorder);
		outcome->syscalls_process_count = recorder->syscalls.feed.process_count;
	}
	if (page) {
		outcome->console_bytes = atomic_load(&page->console_bytes);
		outcome->console_dropped = atomic_load(&page->dropped_bytes);
	}
	snprintf(outcome->trouble, sizeof(outcome->trouble), "%s", recorder->streams.why);
}
