/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relation: a file in learn/relations/ and a row in src/inspect/relations.c. It sees the moments
 * that it asks for and reports occasions; tables, preconditions, packs and findings are the
 * engine's business (docs/invariants.md defines each relation, and lists its words).
 */
#ifndef WTI_LEARN_RELATION_H
#define WTI_LEARN_RELATION_H

#include "base/buf.h"
#include "scene.h"

struct wti_doc;
struct wti_json;

/*
 * What an invariant is about. What goes from one value to the next (NaN, types) has one topic
 * whoever notices it; what an act is there for has the act as its topic (causes.c).
 */
enum wti_topic {
	WTI_TOPIC_NONE,
	WTI_TOPIC_MODES,
	WTI_TOPIC_CLEARING, /* Optimizer.zero_grad */
	WTI_TOPIC_OPTIMIZER_STEP,
	WTI_TOPIC_SCHEDULER_STEP,
	WTI_TOPIC_BEGINNINGS,
	WTI_TOPIC_CHECKPOINTS,
	WTI_TOPIC_CONTENTS,
	WTI_TOPIC_GRADIENTS,
	WTI_TOPIC_MOVEMENT,
	WTI_TOPIC_NUMBERS, /* NaN and infinities */
	WTI_TOPIC_RANKS,
	WTI_TOPIC_RATES,
	WTI_TOPIC_REPETITION,
	WTI_TOPIC_SHAPES,
	WTI_TOPIC_TYPES,
	WTI_TOPIC_COUNT,
};

/*
 * A subject or a fact that a relation has a word for: all but functions, arguments and values,
 * which are called as the program calls them. A relation numbers its terms by an enum of its own.
 */
struct wti_term {
	const char *word; /* in packs, an identifier: "microbatch_loss"; it never changes */
	const char *text; /* in sentences: "loss of a micro-batch" */
	enum wti_topic topic;
	/* It is said of a number, which follows: "rate_of_step.3", "the rate of step 3". */
	bool is_numbered;
	/* Patterns of the calls that it stands for, as `record` takes them; ends with NULL. */
	const char *const *calls;
};

enum { WTI_NO_TERM = -1 };

/* An invariant's texts, for its sentence, and what they mean. Absent ones are "". */
struct wti_words {
	const char *subject[2];
	enum wti_form form;
	const char *a, *b;
	const char *then[WTI_CHAIN_MAX]; /* of an order: what comes after b */
	uint32_t then_count;
	double low, high;
	/* Which of the relation's terms they are, or WTI_NO_TERM. */
	int subject_term[2];
	int a_term, b_term;
	const char *a_word; /* as packs write it */
	char text[2][256];  /* of what has no text that stays */
};

/* What has to be recorded for a relation to be judged, besides the calls that an invariant names.
 */
enum {
	WTI_NEEDS_PARAMETERS = 1,
	WTI_NEEDS_GRADIENTS = 2,
	WTI_NEEDS_BUFFERS = 4,
	WTI_NEEDS_OPTIMIZER = 8,
	WTI_NEEDS_MODES = 16,
	WTI_NEEDS_LOSSES = 32,
	WTI_NEEDS_DATA = 64,
	WTI_NEEDS_ARGUMENTS = 128, /* and returns, of calls */
	WTI_NEEDS_TENSORS = 256,   /* what is in them */
};

/* Of what is true: what follows from it, about the same subject. Both are terms. */
struct wti_consequence {
	int fact, follows;
};

/*
 * Invariants that others have published, and that packs keep as they are: the second of their
 * subject is the entry, as a text. Who judges them knows what is in it.
 */
struct wti_publication {
	/* What a pack keeps of an entry. False: it cannot be judged, and why. */
	bool (*read)(struct wti_buf *out, struct wti_symbols *symbols, const struct wti_doc *doc,
		     const char **ret_why);
	/* The entry in a pack, from the document that is kept. */
	void (*write)(struct wti_json *json, const struct wti_doc *doc);
	/* Calls each function that has to be recorded for it. */
	void (*functions)(const char *text, void (*take)(void *self, const char *function),
			  void *self);
};

struct wti_relation {
	const char *name; /* in packs */
	const char *code; /* of findings; never changes */
	const char *title;
	const char *definition; /* hypothesis, what counts for and against */
	const char *means;
	const char *hint;
	/* Where it is a number that is not in its range; NULL: the same as of all else. */
	const char *number_means;
	const char *number_hint;
	const char *innocent;
	const char *needs; /* of a recording, for it to be measured */
	uint32_t measures; /* WTI_NEEDS_* */
	uint32_t moments;  /* enum wti_moment_type, bits */
	/* Circumstances that can matter to it, as bits of enum wti_feature. Fewer are better: a
	 * condition that cannot be the reason can only separate by chance. */
	uint32_t features;
	/* Its subjects and facts; ends with an empty row. May be NULL: it has only functions. */
	const struct wti_term *terms;
	/* Of what has no topic of its own. */
	enum wti_topic topic;
	/* What it keeps between moments: wti_recall() gives it. */
	struct wti_keeps keeps[WTI_MEMORIES_MAX];
	/* For memory of other kinds. */
	size_t state_bytes;
	void (*see)(struct wti_scene *scene, void *state, const struct wti_moment *moment);
	/* The run has ended. May be NULL. */
	void (*finish)(struct wti_scene *scene, void *state);
	void (*release)(void *state); /* may be NULL */
	/* The invariant as a sentence, without its precondition and without a full stop. */
	void (*describe)(struct wti_buf *out, const struct wti_words *words);
	/* Hypotheses of one kind are equally believable: by what they say. May be NULL: all are. */
	const char *(*kind_of)(const struct wti_words *words);
	/* Whether what is said depends on contents, which another seed draws anew: a good run may
	 * have a few occasions against it (wti_is_beyond_chance()). May be NULL: nothing does. */
	bool (*is_of_chance)(const struct wti_words *words);
	/* NULL: invariants of it are learned here. */
	const struct wti_publication *publication;
	/* Packs leave out what follows. May be NULL. */
	const struct wti_consequence *consequences;
	size_t consequence_count;
	/* It judges by what did not happen: where events were lost it is not measured. */
	bool needs_all;
	/* The second of its subject is which tensors a call has; invariants without are of all. */
	bool is_by_signature;
	/* The second of its subject is the stage in which something is done. */
	bool is_by_stage;
	/* A number that is not the same everywhere is held against the range that was seen. */
	bool keeps_ranges;
	/* It is about what comes of acts: contents, changes, counts of a run that goes on longer.
	 */
	bool is_of_values;
};

/* Causes before what follows from them; ends with NULL. */
extern const struct wti_relation *const wti_relations[];
int wti_relation_by_name(const char *name); /* or -1 */

/* The term of this word, with a number after it where it is numbered; or WTI_NO_TERM. */
int wti_term_by_word(const struct wti_relation *relation, const char *word);
/* What was written in a pack, for sentences. `words` stays where it is: it points into itself. */
void wti_words_init(struct wti_words *words, const struct wti_relation *relation,
		    const char *const subject[2], enum wti_form form, const char *a, const char *b);
/* What it is about: of its facts, of the fields that these are, or of the relation. */
enum wti_topic wti_topic_of(const struct wti_relation *relation, const struct wti_words *words);

/* "needs" of an invariant in a pack. */
struct wti_pack;
struct wti_invariant;
void wti_needs_write(struct wti_json *json, const struct wti_pack *pack,
		     const struct wti_invariant *invariant);

/* What is said is its own kind: for relations that say few things of many subjects. */
const char *wti_kind_by_fact(const struct wti_words *words);
/* What is said of the same field of whatever argument or result is of one kind. */
const char *wti_kind_by_field(const struct wti_words *words);

/* For relations of which all is of chance, and for those that speak of fields of tensors. */
bool wti_chance_always(const struct wti_words *words);
bool wti_chance_by_field(const struct wti_words *words);

/* "the call of torch.add is ..." for the forms that most relations share. */
void wti_describe_fact(struct wti_buf *out, const struct wti_words *words);

#endif
