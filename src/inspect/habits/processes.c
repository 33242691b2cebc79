/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how work is spread over processes. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "habits.h"

/* ---- WT-SYS-002: one of a pool does it all --------------------------------------------------- */

enum { POOL_PERCENT, POOL_IDLE, POOL_LIFE_MS };
#define POOLS_MAX 65536u

/* Children of one process that run the same program: what they do could be spread evenly. */
struct pool {
	uint32_t busiest;
	uint32_t count;      /* members */
	uint32_t with_count; /* that lived beside the busiest, itself not counted */
	uint64_t with_busy_ns;
};

static uint64_t pool_key(const struct wti_ledger_process *process)
{
	uint64_t key = (uint64_t)process->parent << 1 | (process->exec_count != 0);

	for (const char *at = process->command; *at; at++)
		key = (key ^ (uint64_t)(unsigned char)*at) * 0x100000001b3u;
	return key;
}

static int64_t common_ns(const struct wti_ledger_process *a, const struct wti_ledger_process *b)
{
	int64_t from = a->born_ns > b->born_ns ? a->born_ns : b->born_ns;
	int64_t to = a->ended_ns < b->ended_ns ? a->ended_ns : b->ended_ns;

	return to - from;
}

static struct pool *pool_of(const struct wti_ledger *ledger, struct wti_map *index,
			    struct pool *pools, size_t i, bool may_add)
{
	uint64_t key = pool_key(&ledger->processes[i]);
	uint64_t *slot;

	if (!ledger->processes[i].parent)
		return NULL;
	slot = may_add ? wti_map_number(index, key) : (uint64_t *)wti_map_find_number(index, key);
	if (!slot)
		return NULL;
	if (!*slot) {
		*slot = index->count;
		pools[*slot - 1] = (struct pool){.busiest = (uint32_t)i};
	}
	return &pools[*slot - 1];
}

static void find_pools(const struct wti_case *account, const struct wti_ledger *ledger,
		       struct wti_map *index, struct pool *pools)
{
	const struct wti_ledger_process *all = ledger->processes;
	int64_t life_ns = (int64_t)wti_threshold(account, POOL_LIFE_MS) * 1000000;

	for (size_t i = 0; i < ledger->process_count; i++) {
		struct pool *pool = pool_of(ledger, index, pools, i, true);

		if (!pool)
			continue;
		pool->count++;
		if (all[i].busy_ns > all[pool->busiest].busy_ns)
			pool->busiest = (uint32_t)i;
	}
	for (size_t i = 0; i < ledger->process_count; i++) {
		struct pool *pool = pool_of(ledger, index, pools, i, false);

		if (!pool || i == pool->busiest ||
		    common_ns(&all[i], &all[pool->busiest]) < life_ns)
			continue;
		pool->with_count++;
		pool->with_busy_ns += all[i].busy_ns;
	}
}

static void judge_pool(struct wti_case *account, const struct wti_ledger *ledger,
		       const struct pool *pool)
{
	const struct wti_ledger_process *who = &ledger->processes[pool->busiest];
	uint64_t life_ns = (uint64_t)(who->ended_ns - who->born_ns);
	uint64_t whole_ns = who->busy_ns + pool->with_busy_ns;
	char name[WTI_WHO_BYTES], busy[16], life[16], rest[16], since[16];

	if (pool->with_count < wti_threshold(account, POOL_IDLE))
		return; /* no pool */
	if (who->busy_ns * 2 < life_ns ||
	    who->busy_ns * 100 < whole_ns * wti_threshold(account, POOL_PERCENT)) {
		wti_held(account);
		return;
	}
	wti_found(account,
		  &(struct wti_spot){.subject = wti_who(name, ledger, pool->busiest), .step = -1},
		  "busy for %s of its %s, while %u others like it were busy for %s together; "
		  "since %s",
		  wti_format_ns(busy, (int64_t)who->busy_ns), wti_format_ns(life, (int64_t)life_ns),
		  pool->with_count, wti_format_ns(rest, (int64_t)pool->with_busy_ns),
		  wti_format_ns(since, who->born_ns));
}

static void audit_pools(struct wti_case *account, const struct wti_ledger *ledger)
{
	size_t most = ledger->process_count < POOLS_MAX ? ledger->process_count : POOLS_MAX;
	struct pool *pools = calloc(most + 1, sizeof(*pools));
	struct wti_map index;

	wti_map_init(&index, most + 1);
	if (pools)
		find_pools(account, ledger, &index, pools);
	for (size_t i = 0; pools && i < index.count; i++)
		judge_pool(account, ledger, &pools[i]);
	wti_map_release(&index);
	free(pools);
}

const struct wti_rule wti_rule_sys_002 = {
	.code = "WT-SYS-002",
	.severity = WT_WARNING,
	.title = "one process of several does nearly all the work, the others wait",
	.means = "the work is not divided: one gets a large piece and the others none, or all but "
		 "one wait for a lock",
	.hint = "divide it into more and smaller pieces (chunksize of a pool, more shards than "
		"workers), and look at what the others wait for",
	.definition =
		"Among processes that one process started, that run the same program and live "
		"beside the busiest of them for `milliseconds` or longer (`others` or more, not "
		"counting the busiest), the busiest does less than `percent` of all the work, or "
		"is busy for less than half of its life. A thread is busy when it does not wait "
		"in a system call for others or for time to pass. A case is such a group. The "
		"process that started them does not count: its part is to wait for the workers, "
		"or to let them wait.",
	.innocent = "Spare processes that are there for peaks.",
	.needs = "no processes that one process started lived beside one another, or no system "
		 "calls: record with --syscalls",
	.flags = WTI_RULE_ABSENCE | WTI_RULE_ALL_CALLS,
	.audit = audit_pools,
	.thresholds = {{"percent", 90, "with three or more, an even share is a third at most"},
		       {"others", 2, "of two processes one may well be a helper of the other"},
		       {"milliseconds", 1000, "in less time they have hardly started"}},
};

/* ---- WT-SYS-007: short-lived processes ------------------------------------------------------- */

enum { START_CALLS, START_RATE, START_LIFE_MS };

static bool is_churn(const struct wti_case *account, const struct wti_posting *posting)
{
	return posting->count >= wti_threshold(account, START_CALLS) &&
	       wti_posting_rate(posting) >= (double)wti_threshold(account, START_RATE) &&
	       posting->time_ns <= posting->count * wti_threshold(account, START_LIFE_MS) * 1000000;
}

static void say_started(struct wti_buf *out, const struct wti_ledger *ledger,
			const struct wti_posting *posting)
{
	char count[32], life[16];

	wti_buf_printf(out, "'%s' started %s times, for %s each",
		       wti_ledger_thing(ledger, posting->thing),
		       wti_format_count(count, posting->count),
		       wti_format_ns(life, (int64_t)(posting->time_ns / posting->count)));
}

static void audit_starts(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_STARTED, is_churn, say_started});
}

const struct wti_rule wti_rule_sys_007 = {
	.code = "WT-SYS-007",
	.severity = WT_WARNING,
	.title = "processes are started again and again for very little work",
	.means = "forking, loading a program and ending it takes longer than its work; with a "
		 "large program the page tables alone take milliseconds",
	.hint = "use a function instead of a program (shutil, os, a library), keep one process "
		"and talk to it, or use a pool",
	.definition = "A process starts others of the same name fewer than `calls` times, or less "
		      "than `per_second` times a second between the first start and the last end, "
		      "or they live longer than `milliseconds` on average. A case is a process "
		      "and the name of what it starts.",
	.innocent = "Shell scripts and builds, which work this way.",
	.needs = "no process was started and ended, or no system calls: record with --syscalls",
	.flags = WTI_RULE_COUNTS,
	.audit = audit_starts,
	.thresholds = {{"calls", 100, "fewer take a tenth of a second in all"},
		       {"per_second", 10,
			"starting and ending a program takes one to five milliseconds: a "
			"hundredth of the time"},
		       {"milliseconds", 100,
			"a process that lives longer does enough work to "
			"justify its start"}},
};
