/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `syscalls`: how often each system call was made, how long it took and how often it
 * failed, for the whole run or for each process, thread or step.
 *
 * Counts what strace -c counts: calls that came back. Those that did not (exit, a call in which the
 * thread was killed) and those of the recorder's guests are reported beside the table.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/core/missing.h"
#include "base/err.h"
#include "base/grow.h"
#include "syscall/record.h"

#include "inspect/core/inside.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/label.h"
#include "inspect/core/sketch.h"
#include "inspect/core/steps.h"
#include "syscalls.h"

#define ROWS_MAX 100000u
#define GROUPS_MAX 100000u
#define ERRNO_MAX 4095

struct row {
	size_t group;
	uint32_t arch;
	uint32_t nr;
	uint64_t time_ns;
	uint64_t errors;
	struct wti_sketch sketch; /* of all, its count is that of the calls */
};

struct state {
	struct wti_syscalls_view view;
	bool is_old; /* the trace does not have what is asked for */
	const struct wt_trace *trace;
	struct wti_tasks tasks;
	struct wti_inside inside; /* by site: the calls that agents emitted */
	struct wti_map steps;     /* process number: its step, shifted up by one bit, plus one */
	struct wti_map groups;    /* label: number plus one, in order of appearance */
	struct wti_map index;     /* group, architecture and number: row plus one */
	struct row *rows;
	size_t row_count;
	size_t row_capacity;
	uint64_t own_count;
	uint64_t lost_count;
	uint64_t joined_count;
	struct wti_map unfinished; /* architecture and number: how many */
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"syscall", "task",       "task_end", "context",
					    "lost",    "call_begin", "call_end"};
	const struct wti_syscalls_view *view = options;
	size_t count = sizeof(kinds) / sizeof(kinds[0]);

	query->kinds = kinds;
	query->kind_count = view && view->by == WTI_SYSCALLS_BY_SITE ? count : count - 2;
	query->fields = ~(1u << WT_SYSCALL_FIELD_TEXT); /* no other of these kinds has so many */
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	if (options)
		s->view = *(const struct wti_syscalls_view *)options;
	s->trace = trace;
	wti_tasks_init(&s->tasks);
	wti_inside_init(&s->inside);
	wti_map_init(&s->steps, GROUPS_MAX);
	wti_map_init(&s->groups, GROUPS_MAX);
	wti_map_init(&s->index, ROWS_MAX);
	wti_map_init(&s->unfinished, ROWS_MAX);
	return 0;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	for (size_t i = 0; i < s->row_count; i++)
		wti_sketch_release(&s->rows[i].sketch);
	free(s->rows);
	wti_tasks_release(&s->tasks);
	wti_inside_release(&s->inside);
	wti_map_release(&s->steps);
	wti_map_release(&s->groups);
	wti_map_release(&s->index);
	wti_map_release(&s->unfinished);
}

/* ---- Which row a call belongs to ------------------------------------------------------------- */

/* The name of a call, or one made from its number. */
static struct wt_text name_of(uint32_t arch, uint32_t nr, char out[WTI_LABEL_BYTES])
{
	const char *name = wti_call_name((enum wti_arch)arch, nr);
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_SYSCALL);
	const struct wt_field *field = &kind->fields[WT_SYSCALL_FIELD_ARCH];

	if (name)
		snprintf(out, WTI_LABEL_BYTES, "%s", name);
	else if (arch == WTI_ARCH_HERE || arch >= field->enum_count)
		snprintf(out, WTI_LABEL_BYTES, "syscall_0x%x", nr);
	else
		snprintf(out, WTI_LABEL_BYTES, "%s:syscall_%u", field->enum_names[arch], nr);
	return (struct wt_text){out, strlen(out)};
}

static void take_step(struct state *s, const struct wt_event *event)
{
	uint64_t *step;

	if (wti_context_key(event) != WTI_CONTEXT_STEP)
		return;
	step = wti_map_number(&s->steps, wt_reader_identity(event->reader)->pid);
	if (step) /* one process too many has none */
		*step = wt_event_u64(event, WT_CONTEXT_FIELD_VALUE) << 1 | 1;
}

static void label_of(const struct state *s, const struct wti_task *task, char out[WTI_LABEL_BYTES])
{
	const uint64_t *step;

	out[0] = 0;
	if (s->view.by == WTI_SYSCALLS_BY_NAME)
		return;
	snprintf(out, WTI_LABEL_BYTES, s->view.by == WTI_SYSCALLS_BY_STEP ? "(no step)" : "?");
	if (!task)
		return;
	if (s->view.by == WTI_SYSCALLS_BY_PROCESS)
		snprintf(out, WTI_LABEL_BYTES, "%u", task->pid);
	if (s->view.by == WTI_SYSCALLS_BY_THREAD)
		snprintf(out, WTI_LABEL_BYTES, "%u/%u", task->pid, task->tid);
	if (s->view.by != WTI_SYSCALLS_BY_STEP)
		return;
	step = wti_map_find_number(&s->steps, task->pid);
	if (step && *step)
		snprintf(out, WTI_LABEL_BYTES, "%lld", (long long)(*step >> 1));
}

/* "train.c:41": of the call that an agent emitted, else of the stack. */
static void site_of(const struct state *s, const struct wt_event *event, char out[WTI_LABEL_BYTES])
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	struct wti_inside_site inside = wti_inside_of(&s->inside, track ? track->tid : 0);
	const struct wt_reader *reader =
		inside.site ? wt_trace_stream(s->trace, inside.stream) : NULL;
	const struct wt_site *site = reader ? wt_reader_site(reader, inside.site) : NULL;
	uint32_t stack = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_STACK), line;
	char file[WTI_LABEL_BYTES];
	struct wt_text text;

	snprintf(out, WTI_LABEL_BYTES, "(not known)");
	if (site) {
		text = wt_reader_string(reader, site->file);
		snprintf(out, WTI_LABEL_BYTES, "%.*s:%u", (int)text.bytes, text.data, site->line);
	} else if (stack && s->view.locate &&
		   s->view.locate(s->view.opaque, event->reader, stack, file, sizeof(file) - 16,
				  &line)) {
		snprintf(out, WTI_LABEL_BYTES, "%.*s:%u", WTI_LABEL_BYTES - 16, file, line);
	}
}

static struct row *row_of(struct state *s, const struct wt_event *event, uint32_t arch, uint32_t nr,
			  struct wt_err *err)
{
	char label[WTI_LABEL_BYTES];
	uint64_t *group, *slot;

	if (s->view.by == WTI_SYSCALLS_BY_SITE)
		site_of(s, event, label);
	else
		label_of(s, wti_tasks_of(&s->tasks, event), label);
	group = wti_map_text(&s->groups, label, strlen(label));
	if (!group) {
		wti_map_failed(&s->groups, err, "processes, threads, steps or sites");
		return NULL;
	}
	if (!*group)
		*group = s->groups.count;
	slot = wti_map_number(&s->index, *group << 36 | (uint64_t)(arch & 15) << 32 | nr);
	if (!slot) {
		wti_map_failed(&s->index, err, "rows");
		return NULL;
	}
	if (*slot)
		return &s->rows[*slot - 1];
	if (wti_grow(&s->rows, s->row_count + 1, &s->row_capacity, ROWS_MAX)) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	s->rows[s->row_count] = (struct row){.group = *group - 1, .arch = arch, .nr = nr};
	*slot = ++s->row_count;
	return &s->rows[*slot - 1];
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int count_unfinished(struct state *s, uint32_t arch, uint32_t nr, struct wt_err *err)
{
	uint64_t *count = wti_map_number(&s->unfinished, (uint64_t)arch << 32 | nr);

	if (!count)
		return wti_map_failed(&s->unfinished, err, "calls that did not return");
	++*count;
	return 0;
}

static bool is_shown(const struct state *s, uint32_t arch, uint32_t nr)
{
	char name[WTI_LABEL_BYTES];

	if (!s->view.name)
		return true;
	name_of(arch, nr, name);
	return !fnmatch(s->view.name, name, 0);
}

static int take_call(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint32_t flags = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_FLAGS);
	uint32_t arch = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_ARCH);
	uint32_t nr = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR);
	int64_t result = wt_event_i64(event, WT_SYSCALL_FIELD_RESULT);
	uint64_t ticks = wt_event_u64(event, WT_SYSCALL_FIELD_DURATION);
	int64_t begin_ns;
	uint64_t length_ns = 0;
	struct row *row;

	if (flags & WT_SYSCALL_OWN) {
		s->own_count++;
		return 0;
	}
	if (!is_shown(s, arch, nr))
		return 0;
	if (flags & WT_SYSCALL_UNFINISHED)
		return count_unfinished(s, arch, nr, err);
	s->joined_count += (flags & WT_SYSCALL_JOINED) != 0;
	row = row_of(s, event, arch, nr, err);
	if (!row)
		return err ? err->code : WT_E_NOMEM;
	if (s->view.system) {
		s->is_old |= event->kind->field_count <= WT_SYSCALL_FIELD_SYSTEM;
		ticks = s->is_old ? 0 : wt_event_u64(event, WT_SYSCALL_FIELD_SYSTEM);
	}
	begin_ns = wt_trace_ns(s->trace, event->stream,
			       ticks < event->ticks ? event->ticks - ticks : 0);
	if (event->time_ns > begin_ns)
		length_ns = (uint64_t)event->time_ns - (uint64_t)begin_ns;
	row->time_ns += length_ns;
	row->errors += result < 0 && result >= -ERRNO_MAX;
	if (wti_sketch_add(&row->sketch, length_ns))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	switch (event->kind->number) {
	case WT_KIND_SYSCALL:
		return take_call(s, event, err);
	case WT_KIND_CONTEXT:
		take_step(s, event);
		return 0;
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_CALL_END:
		wti_inside_event(&s->inside, event);
		return 0;
	case WT_KIND_LOST:
		s->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		return wti_tasks_event(&s->tasks, event, err);
	}
}

/* ---- The table ------------------------------------------------------------------------------- */

static double mean_ns(const struct row *row)
{
	return row->sketch.count ? (double)row->time_ns / (double)row->sketch.count : 0;
}

static double weight(const struct row *row, enum wti_syscalls_order order)
{
	switch (order) {
	case WTI_SYSCALLS_SORT_CALLS:
		return (double)row->sketch.count;
	case WTI_SYSCALLS_SORT_ERRORS:
		return (double)row->errors;
	case WTI_SYSCALLS_SORT_MEAN:
		return mean_ns(row);
	case WTI_SYSCALLS_SORT_MAX:
		return (double)row->sketch.max;
	case WTI_SYSCALLS_SORT_NAME:
		return 0;
	default:
		return (double)row->time_ns;
	}
}

/* Groups in the order of their appearance; within them as asked; the name decides what is left. */
static int compare(const void *a, const void *b, void *opaque)
{
	const struct row *x = a, *y = b;
	const struct state *s = opaque;
	double wx = weight(x, s->view.order), wy = weight(y, s->view.order);
	char nx[WTI_LABEL_BYTES], ny[WTI_LABEL_BYTES];

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (wx > wy || wx < wy)
		return wx > wy ? -1 : 1;
	name_of(x->arch, x->nr, nx);
	name_of(y->arch, y->nr, ny);
	return strcmp(nx, ny);
}

static void add_columns(const struct state *s, struct wt_table *table)
{
	static const char *const groups[] = {NULL, "process", "thread", "step", "site"};

	if (groups[s->view.by])
		wt_table_column(table, groups[s->view.by], groups[s->view.by], WT_CELL_TEXT);
	if (s->view.by == WTI_SYSCALLS_BY_PROCESS || s->view.by == WTI_SYSCALLS_BY_THREAD)
		wt_table_column(table, "command", "command", WT_CELL_TEXT);
	wt_table_column(table, "percent", "% time", WT_CELL_PERCENT);
	wt_table_column(table, "seconds", "seconds", WT_CELL_NUMBER);
	wt_table_column(table, "usecs_per_call", "usecs/call", WT_CELL_NUMBER);
	wt_table_column(table, "calls", "calls", WT_CELL_COUNT);
	wt_table_column(table, "errors", "errors", WT_CELL_COUNT);
	wt_table_column(table, "syscall", "syscall", WT_CELL_TEXT);
	if (!s->view.percentiles)
		return;
	wt_table_column(table, "min_ns", "min", WT_CELL_NS);
	wt_table_hide(table, 2);
	wt_table_column(table, "p50_ns", "p50", WT_CELL_NS);
	wt_table_column(table, "p90_ns", "p90", WT_CELL_NS);
	wt_table_hide(table, 1);
	wt_table_column(table, "p99_ns", "p99", WT_CELL_NS);
	wt_table_column(table, "max_ns", "max", WT_CELL_NS);
}

/* The last short name of the process or the thread that the label stands for. */
static void add_command(const struct state *s, struct wt_table *table, const char *label)
{
	const char *found = "";

	for (size_t i = 0; i < s->tasks.count; i++) {
		const struct wti_task *task = &s->tasks.all[i];
		char name[WTI_LABEL_BYTES];

		label_of(s, task, name);
		if (!strcmp(name, label) &&
		    (s->view.by == WTI_SYSCALLS_BY_THREAD || task->tid == task->pid || !found[0]))
			found = task->command;
	}
	wt_table_text(table, found, strlen(found));
}

static void add_row(const struct state *s, struct wt_table *table, const struct row *row,
		    double whole_ns)
{
	const char *label = s->groups.entries[row->group].text;
	char name[WTI_LABEL_BYTES];
	struct wt_text shown = name_of(row->arch, row->nr, name);

	wt_table_row(table);
	if (s->view.by != WTI_SYSCALLS_BY_NAME)
		wt_table_text(table, label, strlen(label));
	if (s->view.by == WTI_SYSCALLS_BY_PROCESS || s->view.by == WTI_SYSCALLS_BY_THREAD)
		add_command(s, table, label);
	wt_table_number(table, whole_ns > 0 ? 100 * (double)row->time_ns / whole_ns : 0);
	wt_table_number(table, (double)row->time_ns / 1e9);
	wt_table_number(table, mean_ns(row) / 1e3);
	wt_table_count(table, row->sketch.count);
	wt_table_count(table, row->errors);
	wt_table_text(table, shown.data, shown.bytes);
	if (!s->view.percentiles)
		return;
	wt_table_ns(table, (int64_t)row->sketch.min);
	wt_table_ns(table, (int64_t)wti_sketch_quantile(&row->sketch, 0.5));
	wt_table_ns(table, (int64_t)wti_sketch_quantile(&row->sketch, 0.9));
	wt_table_ns(table, (int64_t)wti_sketch_quantile(&row->sketch, 0.99));
	wt_table_ns(table, (int64_t)row->sketch.max);
}

static void add_notes(const struct state *s, struct wt_result *result)
{
	char name[WTI_LABEL_BYTES];

	for (size_t i = 0; i < s->unfinished.count; i++) {
		const struct wti_map_entry *entry = &s->unfinished.entries[i];

		name_of((uint32_t)(entry->key >> 32), (uint32_t)entry->key, name);
		wt_result_note(result, "%llu of %s did not return: not counted",
			       (unsigned long long)entry->value, name);
	}
	if (s->own_count)
		wt_result_note(result, "%llu calls of wheeltap's own in the program: not counted",
			       (unsigned long long)s->own_count);
	if (s->joined_count)
		wt_result_note(result,
			       "%llu calls began before the recording: their time is not known",
			       (unsigned long long)s->joined_count);
	if (s->lost_count)
		wt_result_note(result, "%llu events were lost: counts and times are too low",
			       (unsigned long long)s->lost_count);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	struct wt_table *table = wt_result_table(result, "syscalls", "system calls");
	uint64_t calls = 0, errors = 0, time_ns = 0;

	for (size_t i = 0; i < s->row_count; i++) {
		calls += s->rows[i].sketch.count;
		errors += s->rows[i].errors;
		time_ns += s->rows[i].time_ns;
	}
	wt_result_fact_count(result, "calls", "calls", WT_CELL_COUNT, calls);
	wt_result_fact_count(result, "errors", "errors", WT_CELL_COUNT, errors);
	wt_result_fact_count(result, "time_ns",
			     s->view.system ? "system time in calls" : "time in calls", WT_CELL_NS,
			     time_ns);
	if (s->row_count)
		qsort_r(s->rows, s->row_count, sizeof(*s->rows), compare, s);
	add_columns(s, table);
	for (size_t i = 0; i < s->row_count && (!s->view.limit || i < s->view.limit); i++)
		add_row(s, table, &s->rows[i], (double)time_ns);
	add_notes(s, result);
	if (s->is_old) {
		wt_result_set_status(result, "not_measured");
		wt_result_note(result, "this run was recorded without system times; record it "
				       "again, or ask for --time wall");
	}
	if (!calls)
		wti_missing_calls(result);
	return 0;
}

const struct wt_inspector wti_inspector_syscalls = {
	.name = "syscalls",
	.summary = "how often each system call was made, and how long it took",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
