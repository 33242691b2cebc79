/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to find descendants: a new process whose parent belongs to the run belongs to it, and
 * one whose parent has gone already does so if our variable is in its environment.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"

#include "clock.h"
#include "environment.h"
#include "interpreter.h"
#include "procfs.h"
#include "tree.h"

#define NODES_MAX 65536
#define NEW_PIDS_MAX 4096 /* more of them at once, or a wrap: list /proc instead */
#define DEPTH_MAX 64      /* of ancestors that are looked at */
#define PAUSE_NS_MIN 2000000ull
#define PAUSE_NS_MAX 1000000000ull
#define EXEC_NS 500000000ull               /* from exec to the agent's first word */
#define LAUNCH_CPU_NS 100000000ull         /* what a shell may need to read its own files */
#define LAUNCH_SHARE 10u                   /* of its life: who works for a tenth of it works */
#define AGENT_MARK "libwheeltap-client"    /* in the name of the client's shared object */
#define PYTHON_AGENT_MARK "/_wheeltap."    /* of the Python agent's */
#define AGENT_MEMORY_MARK "memfd:wheeltap" /* and of the shared memory of both */

/* Whoever loses its parent becomes a child of process 1, or of an ancestor that asks for such. */
static void list_ancestors(struct wti_tree *tree)
{
	uint32_t pid = (uint32_t)getppid();
	struct wti_proc proc;

	while (pid > 1 && tree->ancestor_count < WTI_TREE_ANCESTORS_MAX - 1) {
		tree->ancestors[tree->ancestor_count++] = pid;
		pid = wti_proc_read(pid, &proc) ? proc.ppid : 0;
	}
	tree->ancestors[tree->ancestor_count++] = 1;
}

void wti_tree_init(struct wti_tree *tree, const struct wti_session *session, const char *entrance)
{
	const char *segment = strrchr(session->inner, '.');
	uint64_t number;

	*tree = (struct wti_tree){.session = session, .entrance = entrance, .segment = -1};
	if (segment && wti_parse_u64(segment + 1, &number))
		tree->segment = (int)number;
	list_ancestors(tree);
	wti_map_init(&tree->by_pid, NODES_MAX);
}

void wti_tree_release(struct wti_tree *tree)
{
	wti_map_release(&tree->by_pid);
	free(tree->nodes);
	tree->nodes = NULL;
	tree->count = 0;
}

static struct wti_tree_node *find(const struct wti_tree *tree, uint32_t pid)
{
	const uint64_t *index = wti_map_find_number(&tree->by_pid, pid);

	return index && *index ? &tree->nodes[*index - 1] : NULL;
}

static struct wti_tree_node *add(struct wti_tree *tree, const struct wti_proc *proc)
{
	uint64_t *index;

	if (tree->count >= NODES_MAX)
		return NULL;
	if (wti_grow(&tree->nodes, tree->count + 1, &tree->capacity, NODES_MAX))
		return NULL;
	index = wti_map_number(&tree->by_pid, proc->pid);
	if (!index)
		return NULL;
	tree->nodes[tree->count] = (struct wti_tree_node){
		.pid = proc->pid, .ppid = proc->ppid, .start_time = proc->start_time};
	tree->nodes[tree->count].cpu_ticks = proc->cpu_ticks;
	*index = ++tree->count;
	return &tree->nodes[tree->count - 1];
}

/* True between fork and exec of the program: it still is what we are. */
static bool is_ourselves(uint32_t pid)
{
	char path[64], ours[256], theirs[256];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	a = readlink("/proc/self/exe", ours, sizeof(ours));
	b = readlink(path, theirs, sizeof(theirs));
	return a > 0 && a == b && !memcmp(ours, theirs, (size_t)a);
}

static void note_interpreter(struct wti_tree_node *node, char *const *words)
{
	node->is_python = wti_is_python(words[0]);
	node->shut[0] = 0;
	if (node->is_python)
		wti_python_shut((const char *const *)words, node->shut);
}

/* The words a process was started with, in one line, what looks secret masked before it is cut. */
static bool command_line(struct wti_tree_node *node, char out[WTI_TREE_COMMAND_BYTES])
{
	char text[4096];
	ssize_t n = wti_proc_file(node->pid, "cmdline", text, sizeof(text));
	char *words[64] = {NULL};
	size_t count = 0;

	for (char *at = text; n > 0 && at < text + n && count < 63; at += strlen(at) + 1)
		words[count++] = at;
	if (!count)
		return false;
	if (!node->is_root || !is_ourselves(node->pid))
		note_interpreter(node, words);
	wti_mask_command(words, out, WTI_TREE_COMMAND_BYTES);
	return true;
}

/* Its words; its short name where it has none. */
static void read_command(struct wti_tree_node *node, const struct wti_proc *proc)
{
	char line[WTI_TREE_COMMAND_BYTES];

	if (!command_line(node, line)) {
		if (!node->command[0])
			memcpy(node->command, proc->command, sizeof(proc->command));
		return;
	}
	if (!strcmp(node->command, line) || (node->is_root && is_ourselves(node->pid)))
		return;
	memcpy(node->command, line, sizeof(line));
	node->looked_inside = false; /* it has called exec */
	node->pause_ns = 0;
}

/*
 * A program has its words and its environment at once, but its libraries only when the loader has
 * got to them, and an interpreter its agent later still: whoever has none is looked at again, as
 * long as it is young.
 */
static bool is_known_inside(const struct wti_tree_node *node)
{
	return node->looked_inside && (node->takes_part || node->pause_ns >= PAUSE_NS_MAX);
}

/* A child that has made itself another user's may not be looked at, but has what its parent had. */
static bool takes_part(const struct wti_tree *tree, const struct wti_tree_node *node)
{
	int has = tree->segment < 0 ? 0 : wti_proc_has_segment(node->pid, tree->segment);

	if (has < 0)
		return node->copy;
	return has || wti_proc_mentions(node->pid, "maps", AGENT_MEMORY_MARK) > 0;
}

static void look_for_part(const struct wti_tree *tree, struct wti_tree_node *node)
{
	bool did = node->takes_part;

	node->takes_part = takes_part(tree, node);
	if (did && !node->takes_part)
		node->left_ns = wti_clock_ns(CLOCK_MONOTONIC);
}

static void look_inside(struct wti_tree *tree, struct wti_tree_node *node)
{
	int agent;

	if (is_known_inside(node) || (node->is_root && is_ourselves(node->pid)))
		return;
	agent = wti_proc_mentions(node->pid, "maps", AGENT_MARK);
	if (agent < 0) /* it has ended and nobody has waited for it yet */
		return;
	look_for_part(tree, node);
	node->agent_seen = agent || node->takes_part ||
			   wti_proc_mentions(node->pid, "maps", PYTHON_AGENT_MARK) > 0;
	node->has_agent = node->agent_seen;
	if (node->looked_inside)
		return;
	node->looked_inside = true;
	node->has_variable = wti_proc_mentions(node->pid, "environ", tree->session->folder) > 0;
	node->has_entrance =
		!tree->entrance || wti_proc_mentions(node->pid, "environ", tree->entrance) > 0;
}

/* One whose parent has gone already, and which has our variable. */
static bool is_orphan_of_ours(const struct wti_tree *tree, const struct wti_proc *proc)
{
	for (size_t i = 0; i < tree->ancestor_count; i++)
		if (tree->ancestors[i] == proc->ppid)
			return wti_proc_mentions(proc->pid, "environ", tree->session->folder) > 0;
	return false;
}

static void consider(struct wti_tree *tree, uint32_t pid)
{
	struct wti_tree_node *parent, *node = find(tree, pid);
	struct wti_proc proc;

	if (!wti_proc_read(pid, &proc) || (node && node->start_time == proc.start_time))
		return;
	parent = find(tree, proc.ppid);
	if (!parent && !is_orphan_of_ours(tree, &proc))
		return;
	if (wti_proc_is_thread(pid))
		return;
	node = add(tree, &proc);
	if (!node)
		return;
	parent = find(tree, proc.ppid); /* the array may have moved */
	read_command(node, &proc);
	node->copy = parent && parent->joined && !strcmp(parent->command, node->command);
	look_inside(tree, node);
}

static void refresh(struct wti_tree *tree, struct wti_tree_node *node)
{
	struct wti_proc proc;

	if (!wti_proc_read(node->pid, &proc) || proc.start_time != node->start_time) {
		node->gone = true;
		return;
	}
	node->cpu_ticks = proc.cpu_ticks;
	if (proc.state == 'Z' || proc.state == 'X') {
		node->gone = true;
		return;
	}
	read_command(node, &proc);
	look_inside(tree, node);
}

static void refresh_due(struct wti_tree *tree, uint64_t now_ns)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct wti_tree_node *node = &tree->nodes[i];

		if (node->joined || node->gone || now_ns < node->look_ns)
			continue;
		refresh(tree, node);
		node->pause_ns = node->pause_ns ? node->pause_ns * 2 : PAUSE_NS_MIN;
		if (node->pause_ns > PAUSE_NS_MAX)
			node->pause_ns = PAUSE_NS_MAX;
		node->look_ns = now_ns + node->pause_ns;
	}
}

static void list_all(struct wti_tree *tree)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (wti_parse_u64(entry->d_name, &pid) && pid <= UINT32_MAX)
			consider(tree, (uint32_t)pid);
	closedir(dir);
}

void wti_tree_root(struct wti_tree *tree, uint32_t pid, char *const *argv, bool has_agent)
{
	struct wti_proc proc;
	struct wti_tree_node *node;

	tree->last_pid = pid;
	if (!wti_proc_read(pid, &proc))
		proc = (struct wti_proc){.pid = pid};
	node = add(tree, &proc);
	if (!node)
		return;
	/* What it will be, should it end before anybody has had a look at it. */
	node->is_root = true;
	node->looked_inside = true;
	node->has_variable = true;
	node->has_agent = has_agent;
	node->has_entrance = true;
	note_interpreter(node, argv);
	wti_mask_command(argv, node->command, sizeof(node->command));
}

/* Nothing that could have been recorded. */
static bool is_plain(const struct wti_tree_node *node)
{
	return !node->joined && !node->refused && !node->has_agent && !node->takes_part &&
	       !node->copy && !node->is_python;
}

static bool is_below(const struct wti_tree *tree, const struct wti_tree_node *node,
		     const struct wti_tree_node *top)
{
	const struct wti_tree_node *above = node;

	for (int depth = 0; depth < DEPTH_MAX && above; depth++) {
		above = find(tree, above->ppid);
		if (above == top)
			return true;
	}
	return false;
}

/* Those that a script had started and waited for before it became the program that has joined. */
static void forget_helpers(struct wti_tree *tree, const struct wti_tree_node *top)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct wti_tree_node *node = &tree->nodes[i];

		if (!node->emitted && is_plain(node) && is_below(tree, node, top) &&
		    (node->gone || !wti_proc_is_alive(node->pid, node->start_time)))
			node->emitted = node->gone = true;
	}
}

bool wti_tree_is_launcher(const struct wti_tree_node *node)
{
	uint64_t start_ns = wti_proc_ticks_ns(node->start_time),
		 now_ns = wti_clock_ns(CLOCK_BOOTTIME);
	uint64_t lived_ns = now_ns > start_ns ? now_ns - start_ns : 0;
	uint64_t cpu_ns = wti_proc_ticks_ns(node->cpu_ticks);

	return is_plain(node) && node->launched &&
	       (cpu_ns < LAUNCH_CPU_NS || cpu_ns < lived_ns / LAUNCH_SHARE);
}

/* All who started it; they may be as new as it is. */
static void consider_line(struct wti_tree *tree, uint32_t pid)
{
	uint32_t line[DEPTH_MAX];
	struct wti_proc proc;
	int depth = 0;

	while (depth < DEPTH_MAX && pid > 1 && wti_proc_read(pid, &proc)) {
		line[depth++] = pid;
		pid = find(tree, proc.ppid) ? 0 : proc.ppid;
	}
	while (depth)
		consider(tree, line[--depth]);
}

static void note_launch(struct wti_tree *tree, const struct wti_tree_node *joined)
{
	struct wti_tree_node *above = find(tree, joined->ppid);

	for (int depth = 0; depth < DEPTH_MAX && above; depth++) {
		above->launched = true;
		above = find(tree, above->ppid);
	}
}

bool wti_tree_is_undecided(struct wti_tree *tree, struct wti_tree_node *node)
{
	struct wti_tree_node *above = node->above ? &tree->nodes[node->above - 1] : node;

	if (!is_plain(node))
		return false;
	if (node->is_root)
		return true;
	if (node->above && !above->joined && !above->gone)
		return true;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		above = find(tree, above->ppid);
		if (!above || above->joined)
			return false;
		if (!above->gone) {
			node->above = (size_t)(above - tree->nodes) + 1;
			return true;
		}
	}
	return false;
}

void wti_tree_joined(struct wti_tree *tree, uint32_t pid)
{
	struct wti_tree_node *node;

	consider_line(tree, pid);
	if (tree->count) /* the program has started it, also where those between have gone */
		tree->nodes[0].launched = true;
	node = find(tree, pid);
	if (!node || node->joined)
		return;
	node->joined = true;
	note_launch(tree, node);
	forget_helpers(tree, node);
}

void wti_tree_refused(struct wti_tree *tree, uint32_t pid, const char *command)
{
	char *const words[] = {(char *)(uintptr_t)command, NULL};
	struct wti_tree_node *node;

	consider(tree, pid);
	node = find(tree, pid);
	if (!node || node->joined) { /* gone already; or it has become another by exec */
		node = add(tree, &(struct wti_proc){.pid = pid});
		if (!node)
			return;
		node->gone = true;
	}
	node->refused = true;
	if (!node->command[0])
		wti_mask_command(words, node->command, sizeof(node->command));
}

/* Still there; or it has just called exec, and its new program's agent has not come yet. */
static bool is_guest(const struct wti_tree *tree, struct wti_tree_node *node, uint64_t now_ns)
{
	if (node->joined || node->gone || (!node->takes_part && !node->left_ns))
		return false;
	node->gone = !wti_proc_is_alive(node->pid, node->start_time);
	if (node->gone)
		return false;
	look_for_part(tree, node);
	return node->takes_part || now_ns < node->left_ns + EXEC_NS;
}

uint32_t wti_tree_guests(struct wti_tree *tree, uint64_t now_ns)
{
	uint32_t count = 0;

	for (size_t i = 0; i < tree->count; i++)
		count += is_guest(tree, &tree->nodes[i], now_ns);
	return count;
}

void wti_tree_look(struct wti_tree *tree, uint64_t now_ns)
{
	uint32_t last = wti_proc_last_pid();

	if (!last || last < tree->last_pid || last - tree->last_pid > NEW_PIDS_MAX) {
		list_all(tree);
	} else {
		for (uint32_t pid = tree->last_pid + 1; pid <= last; pid++)
			consider(tree, pid);
	}
	tree->last_pid = last;
	refresh_due(tree, now_ns);
}
