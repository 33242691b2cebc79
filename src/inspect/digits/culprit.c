/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line lost the digits that results lack.
 *
 * A result is a value that no later operation used, and that is not a library's own. From one that
 * has lost a quarter of its digits or more, for certain, the way goes back to the worst input of
 * each call, to where the digits were still there. Each call on the way has lost out - in bits, and
 * may have got some back; the line whose calls lost most in total is the culprit. So a line that
 * inherits a loss is not blamed, and neither is one whose losses did not reach a result: a
 * difference of two close numbers that is added to a large one later has no digits of its own, and
 * needs none.
 *
 * A second way goes by the median element instead of the norm, through elementwise operations only:
 * there an element cannot hide behind larger ones. In a sum over elements, small results beside
 * large ones have few digits in the most careful computation.
 */
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "tally.h"

#define STEPS_MAX 20000000u /* of all walks together */
#define WALKS_OF_SITE_MAX 256u
#define CULPRITS_MAX 10000u
#define DIGITS_FEW 2.     /* decimal */
#define RECURRENCE_MAX 3u /* calls of a round: a product, a sum or two */

struct walk {
	struct wti_book *tally;
	double *lost;    /* by row of site: in this walk */
	uint32_t *seen;  /* rows that have some */
	uint64_t *calls; /* by row of site */
	size_t seen_count;
	uint64_t steps;
	uint64_t length; /* calls on this way */
	double picked;   /* bits that differ only because other elements were picked, on this way */
	struct wti_culprit *all;
	size_t count, capacity;
	uint32_t *number; /* by row of site: culprit plus one */
	uint32_t *walks;  /* by row of site that the result is from */
};

static double out_of(const struct wti_node *node, bool by_element)
{
	return (double)(by_element ? node->out_element : node->out);
}

static double in_of(const struct wti_node *node, bool by_element)
{
	return (double)(by_element ? node->in_element : node->in);
}

/* The same call, a few calls before, has made what the value is from: a sum, a recurrence. */
static bool is_recurrent(const struct wti_book *tally, const struct wti_node *value)
{
	const struct wti_node *node = value;

	/* An array that is filled element by element is no recurrence. */
	if (wti_is_store(wti_texts_at(tally->texts, tally->values.all[value->row].callee)))
		return false;
	for (unsigned i = 0; i < RECURRENCE_MAX; i++) {
		if (!node->from || &tally->nodes[node->from - 1] >= node)
			return false;
		node = &tally->nodes[node->from - 1];
		if (node->row == value->row)
			return true;
	}
	return false;
}

/*
 * By how many bits the value is below those of earlier rounds, where a library has iterated to
 * where it is 0, as a residual or the value at a minimum: relative to itself nothing is left of it,
 * and nothing is needed. What counts is the value that the same call had in earlier rounds. A sum
 * or a recurrence that ends near 0 is no such iteration: there each round goes on with the value
 * itself, and what it lost is lost.
 */
static double vanished_bits(const struct wti_book *tally, const struct wti_node *value)
{
	if (!value->is_round || value->row >= tally->values.count || is_recurrent(tally, value))
		return 0;
	return fmax(tally->values.all[value->row].largest - (double)value->size, 0);
}

/* Bits that the value has lost for certain, beyond one rounding. */
static double lost_by(const struct wti_book *tally, const struct wti_node *node, bool by_element)
{
	return out_of(node, by_element) - wti_tally_unit(tally, node->mantissa) - tally->sure;
}

static bool is_benign(const struct wti_tally_row *site)
{
	return site->recovered * 2 >= site->low && site->recovered;
}

/* Numbers that are drawn anew in each run are another matter, with a finding of their own. */
static bool is_random(const struct wti_book *tally, uint32_t site)
{
	return wti_is_random(wti_texts_at(tally->texts, tally->sites.all[site].callee));
}

static void add_loss(struct walk *walk, const struct wti_node *node, double bits)
{
	if (node->site >= walk->tally->sites.count)
		return;
	if (!walk->calls[node->site]++)
		walk->seen[walk->seen_count++] = node->site;
	walk->lost[node->site] += bits;
}

/* Sums up the losses by site on the way back; false: digits that were lost were got back. */
static bool go_back(struct walk *walk, const struct wti_node *node, bool by_element)
{
	const struct wti_book *tally = walk->tally;
	bool is_lasting = true;

	while (walk->steps++ < STEPS_MAX) {
		uint32_t from = by_element ? node->from_element : node->from;

		if (by_element && !node->is_elementwise)
			break;
		is_lasting &= !node->is_recovered || node->is_result;
		walk->length++;
		if (node->is_picked)
			walk->picked += out_of(node, by_element) - in_of(node, by_element);
		else
			add_loss(walk, node, out_of(node, by_element) - in_of(node, by_element));
		/* The way of a value goes back in time: nothing else can be meant. */
		if (!from || &tally->nodes[from - 1] >= node)
			break;
		node = &tally->nodes[from - 1];
		if (lost_by(tally, node, by_element) <= 0)
			break;
	}
	return is_lasting;
}

static int blame(struct walk *walk, const struct wti_node *result, uint32_t site, bool by_element)
{
	double lost = lost_by(walk->tally, result, by_element) + walk->tally->sure;
	struct wti_culprit *culprit;
	int r;

	if (!walk->number[site]) {
		r = wti_grow(&walk->all, walk->count + 1, &walk->capacity, CULPRITS_MAX);
		if (r)
			return r;
		walk->all[walk->count] = (struct wti_culprit){.site = site, .lost = -1};
		walk->number[site] = (uint32_t)++walk->count;
	}
	culprit = &walk->all[walk->number[site] - 1];
	culprit->values++;
	if (lost <= culprit->lost)
		return 0;
	culprit->lost = lost;
	culprit->left = by_element ? fmax(-out_of(result, true), 0) : (double)result->digits;
	culprit->mantissa = result->mantissa;
	culprit->step = result->step;
	culprit->reached = result->site;
	culprit->name = result->name;
	culprit->calls = walk->calls[site];
	return 0;
}

/* Most of what the runs differ in is which elements were picked, or their order. */
static bool is_decided(const struct walk *walk, const struct wti_node *result, bool by_element)
{
	return walk->picked > lost_by(walk->tally, result, by_element) / 2;
}

/*
 * n roundings add up to sqrt(n) of one, whatever is computed: that is the price of n operations,
 * and no loss at a line. It is reported only if so little is left that a reader must know: an error
 * in the first two decimal digits, or, of types that hardly have more, half of their digits.
 */
static bool is_honest(const struct walk *walk, const struct wti_node *result, bool by_element)
{
	double bits = result->mantissa + 1, left = -out_of(result, by_element);
	double price = .5 * log2((double)walk->length);

	return lost_by(walk->tally, result, by_element) - price <= bits / 4 &&
	       left >= fmin(DIGITS_FEW * log2(10), bits / 2);
}

static int judge(struct walk *walk, const struct wti_node *result, bool by_element)
{
	bool is_lasting = go_back(walk, result, by_element) &&
			  !is_decided(walk, result, by_element) &&
			  !is_honest(walk, result, by_element);
	uint32_t worst = UINT32_MAX;
	int r = 0;

	for (size_t i = 0; i < walk->seen_count; i++) {
		uint32_t site = walk->seen[i];

		if (walk->lost[site] >= 1 &&
		    (worst == UINT32_MAX || walk->lost[site] > walk->lost[worst]))
			worst = site;
	}
	if (is_lasting && worst != UINT32_MAX &&
	    (result->is_result || !is_benign(&walk->tally->sites.all[worst])) &&
	    !is_random(walk->tally, worst))
		r = blame(walk, result, worst, by_element);
	for (size_t i = 0; i < walk->seen_count; i++) {
		walk->lost[walk->seen[i]] = 0;
		walk->calls[walk->seen[i]] = 0;
	}
	walk->seen_count = 0;
	walk->length = 0;
	walk->picked = 0;
	return r;
}

static int look_at(struct walk *walk, const struct wti_node *node)
{
	struct wti_book *tally = walk->tally;
	double limit = (node->mantissa + 1) / 4., below;

	if (((node->is_used || node->is_recovered) && !node->is_result) || node->is_inner ||
	    node->site >= tally->sites.count)
		return 0;
	below = vanished_bits(tally, node);
	limit += below;
	if (node->is_result || !is_benign(&tally->sites.all[node->site])) {
		tally->judged++;
		tally->worst_digits = fmin(tally->worst_digits,
					   fmin((double)node->digits + below, node->mantissa + 1.));
	}
	if (walk->walks[node->site]++ > WALKS_OF_SITE_MAX)
		return 0;
	if (lost_by(tally, node, false) > limit)
		return judge(walk, node, false);
	if (lost_by(tally, node, true) > limit)
		return judge(walk, node, true);
	return 0;
}

static int worst_first(const void *a, const void *b)
{
	const struct wti_culprit *x = a, *y = b;
	double share_x = x->lost / (x->mantissa + 1), share_y = y->lost / (y->mantissa + 1);

	return share_x < share_y ? 1 : share_x > share_y ? -1 : x->site < y->site ? -1 : 1;
}

static bool walk_init(struct walk *walk, struct wti_book *tally)
{
	size_t sites = tally->sites.count + 1;

	*walk = (struct walk){.tally = tally};
	walk->lost = calloc(sites, sizeof(*walk->lost));
	walk->seen = calloc(sites, sizeof(*walk->seen));
	walk->calls = calloc(sites, sizeof(*walk->calls));
	walk->number = calloc(sites, sizeof(*walk->number));
	walk->walks = calloc(sites, sizeof(*walk->walks));
	return walk->lost && walk->seen && walk->calls && walk->number && walk->walks;
}

int wti_culprits(struct wti_book *tally, struct wti_culprit **ret_culprits, size_t *ret_count)
{
	struct walk walk;
	int r = walk_init(&walk, tally) ? 0 : WT_E_NOMEM;

	for (size_t i = 0; i < tally->node_count && !r; i++)
		r = look_at(&walk, &tally->nodes[i]);
	free(walk.lost);
	free(walk.seen);
	free(walk.calls);
	free(walk.number);
	free(walk.walks);
	if (r == WT_E_LIMIT)
		r = 0;
	if (r) {
		free(walk.all);
		return r;
	}
	if (walk.count)
		qsort(walk.all, walk.count, sizeof(*walk.all), worst_first);
	*ret_culprits = walk.all;
	*ret_count = walk.count;
	return 0;
}
