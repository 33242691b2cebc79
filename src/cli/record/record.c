/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `record`: its options and its help. What it does is in prepare.c and conduct.c. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/config.h"
#include "cli/report.h"
#include "recording.h"

/* Samples of 8 kB arrays fill 1 MB before the recorder wakes: the program would wait for it. */
#define NOISE_RING_BYTES (8u << 20)

static int write_config(const struct wti_record_choice *options, char **program, size_t count)
{
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 1u << 20);
	wti_config_write(&out, &wti_verb_record, options, program, count);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

/* A variable of the shell that is not set, most likely: what would be done is not what was meant.
 */
static int refuse_empty(const struct wti_record_choice *options, struct wt_err *err)
{
	const struct {
		const char *name, *value;
	} texts[] = {{"name", options->name},
		     {"output", options->folder},
		     {"directory", options->directory},
		     {"report", options->report},
		     {"on-finding", options->on_finding},
		     {"modules", options->python.modules},
		     {"only", options->python.only},
		     {"skip", options->python.skip},
		     {"budget", options->python.budget},
		     {"sample", options->python.sample},
		     {"invariants", options->python.invariants}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value && !*texts[i].value)
			return wti_err(err, WT_E_ARG, "the value of '--%s' is empty",
				       texts[i].name);
	return 0;
}

/* Here and not before the exec: one of a program with capabilities of its own undoes it. */
static int end_with(uint64_t parent, struct wt_err *err)
{
	if (!parent)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if ((uint64_t)getppid() == parent)
		return 0;
	return wti_err(err, WT_E_ARG,
		       "process %" PRIu64 " has ended, or did not start this one: '--parent' takes "
		       "the process that starts record",
		       parent);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	struct wti_record_choice chosen = *(const struct wti_record_choice *)opaque;
	const struct wti_record_choice *options = &chosen;
	struct wti_limits limits;
	struct wt_err err = {0};

	if (options->write_config)
		return write_config(opaque, arguments, count);
	if (!chosen.on_full) /* runs are compared call by call: none may be missing */
		chosen.on_full = options->noise.mode || options->runs ? "wait" : "block";
	if (!chosen.ring_bytes && (options->noise.mode || options->runs))
		chosen.ring_bytes = NOISE_RING_BYTES;
	if (!chosen.python.detail) /* digits are lost within libraries, too */
		chosen.python.detail = options->noise.mode || options->runs ? "full" : "normal";
	if (!end_with(options->parent, &err) && !refuse_empty(options, &err) && options->force &&
	    !options->folder)
		wti_err(&err, WT_E_ARG,
			"'--force' replaces the run in a folder: give the folder with -o");
	else if (!err.code && !count && !options->attach)
		wti_err(&err, WT_E_ARG, "nothing to run; use: wheeltap record -- PROGRAM");
	else if (!err.code && count && options->attach)
		wti_err(&err, WT_E_ARG,
			"'--attach' records a running program; remove '-- %.64s' or '--attach'",
			arguments[0]);
	if (err.code) {
		wti_report_error("record", options->json, &err);
		return WTI_EXIT_NOT_RUN;
	}
	chosen.program = arguments;
	wti_limits_take(&limits);
	if ((options->runs || options->jobs || options->until_bits) && !options->dry_run &&
	    !options->attach)
		return wti_recording_conduct_several(options, &limits, arguments);
	return wti_recording_conduct(options, &limits, arguments);
}

static const struct wti_record_choice defaults = {
	.bytes_max = WTI_RECORD_BYTES_MAX,
	.blobs_bytes_max = 1ull << 30,
	.strings = "private",
	.on_finding = "warn",
	.backend = "auto",
	.noise = {.libm = "on", .run = 1},
	.python = {.tensors = "digest", .operators = "auto", .arguments = "on"},
};

#define AT(field) offsetof(struct wti_record_choice, field)

static const struct wti_option options[] = {
	{"config", 'c', WTI_OPT_CONFIG, "FILE", NULL,
	 "options from a file: our TOML, TrainCheck's YAML or Pytracer's JSON; the command line "
	 "takes precedence",
	 AT(config)},
	{"write-config", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print a file with all options at their current values, and run nothing",
	 AT(write_config)},
	{"dry-run", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print what would be hooked in the program's Python, without running the program",
	 AT(dry_run)},
	{"report", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "afterwards write calls and bytes of each function to this file, as .json, .csv, .md or "
	 "text",
	 AT(report)},
	{"output", 'o', WTI_OPT_TEXT, "DIR", NULL,
	 "folder of the run; created if absent, refused if not empty", AT(folder)},
	{"force", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with -o: replace the run in the folder; a folder with anything else in it is refused",
	 AT(force)},
	{"name", 'n', WTI_OPT_TEXT, "NAME", NULL,
	 "name of the run instead of that of the script or program; wherever a RUN is expected, it "
	 "means the newest run of that name",
	 AT(name)},
	{"directory", 0, WTI_OPT_TEXT, "DIR", NULL, "run the program in this folder",
	 AT(directory)},
	{"ring-size", 0, WTI_OPT_BYTES, "SIZE", NULL,
	 "shared memory of each thread, 64k to 256M; default 1M, with --noise 8M", AT(ring_bytes)},
	{"max-size", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "end the trace at this size, the program goes on; default 2G, 0 for no limit",
	 AT(bytes_max)},
	{"on-full", 0, WTI_OPT_CHOICE, "HOW", "block|wait|drop|flight",
	 "when a ring is full: block: wait a little, then drop, the default; wait: as long as it "
	 "takes, the default with --noise; drop: count what is lost; flight: keep only the last "
	 "flight[=SECONDS] of the run",
	 AT(on_full)},
	{"duration", 'd', WTI_OPT_DURATION, "TIME", NULL,
	 "stop recording after this long; the program goes on", AT(duration_ns)},
	{"wait", 0, WTI_OPT_MAYBE, "[=SECONDS]", NULL,
	 "when the program has ended, wait for all processes that it left running: until they end, "
	 "or for this time; default 2 s. Processes that still run then are listed, and verdicts "
	 "that depend on them are not measured",
	 AT(wait)},
	{"strings", 0, WTI_OPT_CHOICE, "HOW", "keep|private",
	 "whether text that may be private is kept or replaced by length and hash", AT(strings)},
	{"detail", 0, WTI_OPT_CHOICE, "LEVEL", "states|lean|normal|full",
	 "for Python programs. states: parameters and losses, for rerun; lean: steps, modules and "
	 "states; normal, the default: also calls "
	 "from your code into libraries; full, the default with --noise: also calls within "
	 "libraries",
	 AT(python.detail)},
	{"tensors", 0, WTI_OPT_CHOICE, "HOW", "digest|stats|full|off",
	 "what is kept of tensors of Python programs. digest: digests as the level prescribes; "
	 "stats: digests of all at every step; full: also their bytes; off: only a description",
	 AT(python.tensors)},
	{"arguments", 0, WTI_OPT_CHOICE, "WHICH", "on|off",
	 "whether arguments and returns of calls in Python programs are recorded",
	 AT(python.arguments)},
	{"blobs-max", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "with --tensors full or --replayable, keep no more bytes than this; default 1G",
	 AT(blobs_bytes_max)},
	{"operators", 0, WTI_OPT_CHOICE, "WHICH", "auto|backward|all|outputs|off",
	 "what to record of what torch runs below Python. auto: with --detail full the nodes of "
	 "backward, otherwise nothing; backward: these nodes; all: also every operator; outputs: "
	 "also what operators within backward return; off: nothing",
	 AT(python.operators)},
	{"modules", 0, WTI_OPT_TEXT, "NAMES", NULL,
	 "Python libraries that are hooked when they are imported, or @FILE with one per line; "
	 "default torch",
	 AT(python.modules)},
	{"only", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "hook only functions whose full name matches a pattern like torch.nn.functional.*; "
	 "separated by commas, or @FILE",
	 AT(python.only)},
	{"skip", 0, WTI_OPT_TEXT, "PATTERNS", NULL, "do not hook functions whose full name matches",
	 AT(python.skip)},
	{"include-file", 0, WTI_OPT_LIST, "FILE", NULL,
	 "rules of what to hook, one module and function per line, as in Pytracer",
	 AT(python.include_files)},
	{"exclude-file", 0, WTI_OPT_LIST, "FILE", NULL, "rules of what not to hook",
	 AT(python.exclude_files)},
	{"syscalls", 0, WTI_OPT_MAYBE, "[=EXPR]", NULL,
	 "record system calls of the program and all that it starts; EXPR as in strace: "
	 "openat,read or !futex or %file or /^pwrite/",
	 AT(syscalls)},
	{"attach", 'p', WTI_OPT_COUNT, "PID", NULL,
	 "record the system calls of a running process, its threads and all its descendants, until "
	 "it ends or record is interrupted; the process goes on",
	 AT(attach)},
	{"parent", 0, WTI_OPT_COUNT, "PID", NULL,
	 "for a program that starts record: when this process, its parent, ends, the program gets "
	 "SIGTERM; and what asks to end goes to the program's whole process group, not only to "
	 "its first process",
	 AT(parent)},
	{"backend", 0, WTI_OPT_CHOICE, "HOW", "auto|bpf|ptrace|fastest",
	 "how system calls are captured. auto: by BPF, which needs privileges, otherwise by "
	 "ptrace; bpf, ptrace: only by that; fastest: by ptrace if all calls of EXPR are rare, "
	 "which the program can notice",
	 AT(backend)},
	{"stacks", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --syscalls or --opencl: record where each call comes from, so that verbs and "
	 "exports show source lines",
	 AT(stacks)},
	{"opencl", 0, WTI_OPT_FLAG, NULL, NULL,
	 "record what OpenCL devices do: kernels, copies, their times and the memory they touch "
	 "(docs/opencl.md)",
	 AT(opencl.is_on)},
	{"replayable", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --opencl: also keep programs, arguments and the contents of memory, so that the "
	 "work can be executed again",
	 AT(opencl.replayable)},
	{"cuda", 0, WTI_OPT_MAYBE, "[=WHAT]", NULL,
	 "record what CUDA devices do, through CUPTI: kernels, copies, calls and their Python "
	 "lines; "
	 "nodes, the default: every kernel of a graph; graphs: one entry a graph (docs/cuda.md)",
	 AT(gpu.cuda)},
	{"rocm", 0, WTI_OPT_FLAG, NULL, NULL,
	 "record what AMD's devices do, through rocprofiler-sdk (docs/rocm.md)", AT(gpu.rocm)},
	{"check", 0, WTI_OPT_MAYBE, "[=PACK]", NULL,
	 "judge the run while it runs, as doctor does, and print findings on standard error; with "
	 "a pack, check that instead of the built-in one; rules: no pack; the status is 1 if there "
	 "is an error and the program ended with 0",
	 AT(check)},
	{"on-finding", 0, WTI_OPT_TEXT, "WHAT", NULL,
	 "with --check: warn (the default); stop: end the program at an error; or a command for "
	 "the "
	 "shell, which gets the findings as JSON on its standard input",
	 AT(on_finding)},
	{"budget", 0, WTI_OPT_TEXT, "PERCENT", NULL,
	 "what recording a Python program may cost, in percent of its own time: tensors, states "
	 "and arguments are omitted as needed, which the trace shows",
	 AT(python.budget)},
	{"sample", 0, WTI_OPT_TEXT, "HOW", NULL,
	 "every=N: record one step in N as --detail prescribes, the others as lean; warmup=K: the "
	 "first K steps; steps=A-B: these steps, counted from 0",
	 AT(python.sample)},
	{"invariants", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "hook and read only what the invariants of this pack need", AT(python.invariants)},
	{"noise", 0, WTI_OPT_TEXT, "MODE[:BITS]", NULL,
	 "perturb results as if computed with BITS of precision (docs/digits.md). rr: outputs; pb: "
	 "inputs; mca: both; cancellation: sums that lost digits; sr: outputs, by stochastic "
	 "rounding; without BITS one bit less than the type has",
	 AT(noise.mode)},
	{"runs", 0, WTI_OPT_COUNT, "N", NULL,
	 "run the program N times, into a set of runs; only the first prints to the terminal",
	 AT(runs)},
	{"jobs", 0, WTI_OPT_COUNT, "N", NULL,
	 "with --runs: how many at once; default: as many as there are processors", AT(jobs)},
	{"until-bits", 0, WTI_OPT_TEXT, "BITS", NULL,
	 "with --runs: start no more runs once the 95 % interval of significant bits reaches no "
	 "further than this to either side",
	 AT(until_bits)},
	{"seed", 0, WTI_OPT_COUNT, "S", NULL,
	 "with --noise: the same seed gives the same noise; default 0", AT(noise.seed)},
	{"elements", 0, WTI_OPT_TEXT, "N", NULL,
	 "how many elements of each value are kept, or all, for `digits` and `diff --tolerances`; "
	 "default 256 with --noise or --runs, otherwise none",
	 AT(noise.elements)},
	{"noise-run", 0, WTI_OPT_COUNT, "K", NULL,
	 "with --noise: the noise that run K of a set with this seed has; default 1",
	 AT(noise.run)},
	{"noise-libm", 0, WTI_OPT_CHOICE, "WHICH", "on|off",
	 "with --noise: whether libm, BLAS and LAPACK are perturbed, too, by a preloaded library",
	 AT(noise.libm)},
	{"noise-only", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "with --noise: only these functions or places, such as torch.add, libm.sin, file.py:12; "
	 "separated by commas",
	 AT(noise.only)},
	{"noise-skip", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "with --noise: not these functions or places", AT(noise.skip)},
	{"no-build", 0, WTI_OPT_FLAG, NULL, NULL,
	 "do not build a missing agent for the program's Python: print that it is missing, and run "
	 "the program without it",
	 AT(no_build)},
	{"quiet", 'q', WTI_OPT_FLAG, NULL, NULL, "print nothing at the end", AT(quiet)},
	{"json", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print the summary as one JSON object, with what --check found, on standard error, "
	 "because standard output belongs to the program",
	 AT(json)},
	WTI_OPTIONS_END,
};

static const struct wti_dialect *const dialects[] = {&wti_dialect_traincheck, &wti_dialect_pytracer,
						     NULL};

const struct wti_verb wti_verb_record = {
	.name = "record",
	.arguments = "[-- PROGRAM [ARGS...]]",
	.summary = "run a program and record it",
	.description =
		"Runs the program, follows its children, and records what their agents emit into "
		"a run folder. The program's terminal, input, output, signals and exit status "
		"are passed through; the status of record is the program's, 128 plus the number "
		"of the signal that killed it, 127 if there is no such program, 126 if it cannot "
		"be executed, and 125 if record itself failed, for example because of a wrong "
		"option; the program was not started then. --check adds one: 1 if an error was "
		"found and the program ended with 0. --dry-run and --write-config start nothing: "
		"0, 3 if nothing would be hooked, 125.\n\n"
		"Trouble with the recorder does not disturb the program: a full disk, a deleted "
		"folder or a killed recorder ends the trace, not the program. Lost events are "
		"counted and reported. If limits (ulimit) leave no room to record it, the "
		"program runs unrecorded, and a message gives the reason.\n\n"
		"Each version of Python needs its own agent. If there is none for the "
		"interpreter on the command line, it is built once, before the program starts, "
		"which needs a C compiler, the interpreter's headers and up to a minute. If it "
		"cannot be built, record prints what is missing, and the program runs without "
		"it; with --no-build it is not built. `wheeltap python add` builds it in "
		"advance.\n\n"
		"With --syscalls the system calls of the program and of every process that it "
		"starts are recorded, with or without an agent: by BPF if that is permitted, "
		"otherwise by ptrace, which is slower and loses nothing. With ptrace and an EXPR "
		"a seccomp filter stops only the selected calls; if the recorder is killed, "
		"these calls then fail.\n\n"
		"With --stacks every verb that shows calls also shows their source lines, even "
		"for programs without frame pointers; each call takes somewhat longer.\n\n"
		"With --opencl OpenCL's loader puts a layer of wheeltap between the program and "
		"its drivers, so programs in any language are recorded unchanged. Profiling is "
		"enabled in all queues; the program does not see this.\n\n"
		"A process that outlives the program (a daemon, a background job) is recorded "
		"for 2 s more and then released; it is listed at the end, in run.json and by "
		"info. With --wait record waits until all of them have ended; an interrupt ends "
		"the waiting.\n\n"
		"With --attach the system calls of a running process are recorded, until it "
		"ends, after --duration, or when record is interrupted; it is left as it was "
		"found, and the status is then 0.\n\n"
		"With --noise the results of operations are perturbed in their last digits, "
		"reproducibly, so that runs differ as much as their arithmetic is uncertain; "
		"with --runs the program is recorded several times, at once if there are "
		"processors for it, into SET/01, SET/02, ... A run that fails is noted and the "
		"others go on; the status is that of the first one that failed. Interrupting "
		"keeps the runs that have ended.\n\n"
		"With --check findings are printed on standard error as soon as they are "
		"certain. --on-finding 'cat >> findings.json' runs a command for each batch of "
		"new ones: its standard input is one JSON object, as doctor --json prints it. "
		"The program does not wait for the command.\n\n"
		"Runs are private: folders have mode 0700, secrets are masked, and text of the "
		"program is replaced by length and hash unless --strings keep is given.",
	.examples =
		"wheeltap record -- python train.py\ta Python program, unchanged\n"
		"wheeltap record -- ./train --epochs 3\tinto ./wheeltap-runs/train-DATE-TIME\n"
		"wheeltap record -n try1 -- python train.py\twheeltap info try1 finds it again\n"
		"wheeltap record -o run1 --max-size 500M -- ./train\tinto the folder run1\n"
		"wheeltap record --syscalls=%file -- make\tits system calls on files\n"
		"wheeltap record --syscalls --wait -- ./start-server\talso the processes it leaves "
		"running\n"
		"wheeltap record --attach 4242 -d 10s\ta running process, for ten seconds\n"
		"wheeltap record --runs 10 --noise rr -- python train.py\thow many digits are "
		"real\n"
		"wheeltap record --opencl -- ./filter\tkernels and copies of OpenCL devices\n"
		"wheeltap record --on-full flight=60 -- ./serve\tkeep only the last minute",
	.options = options,
	.options_bytes = sizeof(struct wti_record_choice),
	.defaults = &defaults,
	.arguments_max = 1u << 20,
	.rest_is_program = true,
	.dialects = dialects,
	.starts_programs = true,
	.group = "record",
	.run = run,
};
