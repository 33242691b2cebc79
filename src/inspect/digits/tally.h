/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured of all calls: rows by function, call site, value and step; events of a single
 * run (NaN, cancellation, absorbed updates); and the way of values from call to call, by which a
 * loss of digits is followed back to the line that caused it.
 */
#ifndef WTI_DIGITS_TALLY_H
#define WTI_DIGITS_TALLY_H

#include "digits.h"
#include "match.h"

/* Of one value over the runs. Deviations are log2 of the share of the value, as in merge.h. */
struct wti_scatter {
	bool is_known; /* enough runs have elements of it */
	bool is_exact;
	unsigned runs;
	unsigned mantissa;
	double norm;     /* deviation relative to the norm of the whole value */
	double median;   /* of the elements, each relative to its own mean */
	double worst;    /* of the worst element in a hundred */
	double farthest; /* log2 of the largest distance, relative to the norm */
	double distance; /* the same, absolute */
	double above;    /* bits of a typical element above its leading one: log2 of its mantissa */
	double digits;   /* bits by the method asked for, at most those of the type */
};

struct wti_tally_row {
	uint32_t callee, file, line, name;
	int32_t position;
	int64_t step;
	uint64_t calls, measured;
	uint32_t mantissa;
	double in_worst, out_worst, out_sum;
	double lost_worst, lost_sum;
	double largest;     /* log2 of the largest element that was seen there */
	uint64_t low;       /* outputs that have lost a quarter of their digits or more */
	uint64_t recovered; /* of them: the next operation got them back */
	/* of a single run */
	uint64_t updates, absorbed; /* elements of additions; of them changed nothing */
	uint32_t adder;             /* callee of the additions */
	double drift;               /* most that was not added to a sum, relative to it */
	double drift_share;         /* the same as bits lost, of those that the type has */
	bool is_compensated;        /* what an addition lost is computed, and added later */
	uint64_t underflows, overflows;
	uint64_t cancelled, cancelling; /* additions that lost half the bits of their type; all */
	double cancelled_bits;          /* most */
};

#define WTI_NO_ROW UINT32_MAX /* there are too many, or nothing was measured */

struct wti_tally_rows {
	struct wti_map index;
	struct wti_tally_row *all;
	size_t count, capacity;
	uint64_t left_out;
};

#define WTI_NODES_MAX ((size_t)1 << 22)

/* A value on its way: made by a call, from another value of which it has most of its error. */
struct wti_node {
	uint32_t site;         /* row by site */
	uint32_t from;         /* the node of the worst input plus one; 0: not known */
	uint32_t from_element; /* the same, judged by elements */
	float out, in;         /* deviations relative to the norm */
	float out_element, in_element;
	float digits;  /* bits */
	uint32_t item; /* number of its call */
	uint8_t mantissa;
	bool is_used, is_recovered, is_elementwise;
	bool is_inner;  /* of a library, which has not handed it out */
	bool is_round;  /* the last of many within a call that has handed it out */
	bool is_result; /* an attribute that the program has at its end, used or not */
	uint32_t name;  /* that the program knows it by; 0: none */
	uint32_t row;   /* by value: what its call returned there in each round */
	float size;     /* log2 of its largest element */
	bool is_picked; /* elements of an input, perhaps others in each run: no digits are lost */
	int64_t step;
	uint64_t base; /* hash of the value that something was added to, which gave this one */
	double drift;  /* what was too small to be added, relative to the value, in all */
};

struct wti_first {
	bool is_set;
	uint32_t callee, file, line, name;
	int64_t step;
	uint64_t call; /* number of the call, from 1 */
	double digits;
	uint64_t nan, inf;
	unsigned run;
	double in_min, in_max;
};

struct wti_book {
	const struct wti_digits_options *options;
	struct wti_word_ids *texts;
	unsigned runs;
	double *delta; /* by the number of runs */
	double sure;   /* bits that a deviation may be too large by chance */
	uint64_t calls, measured;
	uint64_t varied;    /* of them: not the same in all runs */
	uint64_t unsampled; /* values that differ, but have no elements to compare */
	struct wti_tally_rows functions, sites, values, steps, named;
	struct wti_node *nodes;
	size_t node_count, node_capacity;
	struct wti_map made; /* hash of a value: node plus one */
	uint64_t nodes_left_out;
	struct wti_first nonfinite, below, random;
	double worst_digits; /* of values that nothing used, and of those that have names */
	uint64_t judged;     /* how many these are */
	uint64_t nonfinite_origins, nonfinite_passed, below_count, random_count;
	uint64_t mismatched;
	struct wti_first mismatch;
	uint64_t normal, not_normal; /* elements tested */
	uint64_t partial;            /* groups that not all runs have */
	int status;
};

int wti_tally_init(struct wti_book *tally, const struct wti_digits_options *options,
		   struct wti_word_ids *texts, unsigned runs);
void wti_tally_release(struct wti_book *tally);
/* A wti_group_taker. */
int wti_tally_take(void *tally, const struct wti_matched *group);

/* Between the files of the tally. */
void wti_measure_value(struct wti_book *tally, const struct wti_matched *group, size_t index,
		       struct wti_scatter *ret_measure);
/* What a single call shows without noise: additions, products. */
void wti_tally_single(struct wti_book *tally, const struct wti_item *item,
		      struct wti_tally_row *site);
/* log2 of what one rounding of that type costs, or one perturbation. */
double wti_tally_unit(const struct wti_book *tally, unsigned mantissa);

/* ways.c: the worst of the inputs of a call, by norm and by elements. */
struct wti_inputs {
	double norm, median; /* deviations */
	uint32_t from, from_element;
	double digits;
	unsigned mantissa; /* that the worst one had room for, on all its way */
};

void wti_way_input(struct wti_book *tally, const struct wti_item *item, struct wti_inputs *inputs,
		   const struct wti_sampled *value, const struct wti_scatter *measure);
/* `site` and `row` are those of the call and of the value, or WTI_NO_ROW. */
void wti_way_output(struct wti_book *tally, const struct wti_item *item,
		    const struct wti_sampled *value, const struct wti_scatter *measure,
		    const struct wti_inputs *inputs, uint32_t site, uint32_t row);
/* log2 of its largest element. */
double wti_value_size(const struct wti_sampled *value);

#define WTI_VALUE_KEY_BYTES 4096u
/* What a value is called in files of tolerances. */
void wti_value_key(const struct wti_word_ids *texts, const struct wti_item *item,
		   const struct wti_sampled *value, char ret_key[WTI_VALUE_KEY_BYTES]);

/* Something is computed from the value: it is not only moved, compared or printed. */
bool wti_is_used_by(const struct wti_item *item, const struct wti_sampled *input);

/* Out comes what went in: the value is still that of who made it. */
bool wti_is_moved(const struct wti_item *item, const struct wti_sampled *output);

/* Names of operations: the last word of the callee. */
bool wti_is_addition(const char *callee);
bool wti_is_product(const char *callee);
bool wti_is_elementwise(const char *callee);
bool wti_is_random(const char *callee);
/* Picks elements. */
bool wti_is_selection(const char *callee);
/* Puts elements into a value that is there. */
bool wti_is_store(const char *callee);
/* Hands out what is there, computed by others: `Tensor.grad`, memory of `torch.empty`. */
bool wti_is_access(const char *callee);

/* A line that digits were lost at, on the way to values that nothing has used since. */
struct wti_culprit {
	uint32_t site; /* row by site */
	double lost;   /* bits, of the worst such value */
	double left;   /* bits that it has left */
	unsigned mantissa;
	uint64_t values; /* that the loss has reached */
	uint64_t calls;  /* of the site on the way */
	int64_t step;
	uint32_t reached; /* row by site of the value that it reached */
	uint32_t name;    /* of that value; 0: none */
};

/* Sorted, the worst first. */
int wti_culprits(struct wti_book *tally, struct wti_culprit **ret_culprits, size_t *ret_count);

/* report.c */
void wti_digits_report(struct wti_book *tally, const struct wti_divergence *divergence,
		       const struct wti_match_run *about, const struct wti_digits_run *runs,
		       struct wt_result *result);

#endif
