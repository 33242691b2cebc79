/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all forms of a Burn record have in common. A record is metadata of five texts and an item, a
 * tree of modules whose leaves are parameters. Readers bring it into one shape:
 *
 *	tensors         the parameters, in the order of the file
 *	burn.float ...  the five texts: float, int, format, version, settings
 *	burn.record     the tree as JSON, for writing the same file again: "@" is the next
 *parameter,
 *	                "#" a tensor without an id, "=TEXT" a text, "fBITS" and "dBITS" floats,
 *	                "uNUMBER" what JSON cannot hold, null a constant or an absent parameter
 *	burn.fields     instead of it for a .bin, which has neither names nor nesting: the list of
 *	                parameters ("@") and of the numbers between them
 *	burn.id.NAME    the id of a parameter
 *	burn.dtype.NAME what a type has besides its name, as JSON
 */
#ifndef WTI_MODEL_BURN_H
#define WTI_MODEL_BURN_H

#include "base/doc.h"
#include "model/format.h"

#define WTI_BURN_FIELDS 5u
#define WTI_BURN_FORMAT 2u /* among the fields: the type of the recorder, in Rust's words */
#define WTI_BURN_VERSION 3u
#define WTI_BURN_TEXT_MAX 1024u /* bytes of such a field */
#define WTI_BURN_DEPTH_MAX 48u  /* of the tree; leaves room for what a tensor nests by itself */

extern const char *const wti_burn_fields[WTI_BURN_FIELDS];

struct wti_burn_meta {
	char fields[WTI_BURN_FIELDS][WTI_BURN_TEXT_MAX + 1];
	unsigned minor; /* 17 of "0.17.1" */
};

/* Up to this version tensors are lists of numbers without a type. */
#define WTI_BURN_LAST_UNTYPED 13u

/* Understands the version, and checks that it is one. */
int wti_burn_meta_check(struct wti_burn_meta *meta, struct wt_err *err);
int wti_burn_meta_keep(struct wti_model *model, const struct wti_burn_meta *meta,
		       struct wt_err *err);
/* Of a model that may come from anywhere; `recorder` takes the place of the one that wrote it. */
int wti_burn_meta_of(const struct wti_model *model, const char *recorder,
		     struct wti_burn_meta *meta, struct wt_err *err);

/* ---- Types --------------------------------------------------------------------------------- */

struct wti_burn_dtype {
	const char *name; /* "F32" */
	uint32_t dtype;   /* enum wt_dtype */
	unsigned bytes;   /* of an element; 0: not known */
	/* The number that it has in a .bin: up to 0.15, in 0.16, from 0.17 on; -1: is not there. */
	int numbers[3];
};

const struct wti_burn_dtype *wti_burn_dtype_named(const char *name, size_t bytes);
const struct wti_burn_dtype *wti_burn_dtype_numbered(unsigned minor, uint64_t number);
const struct wti_burn_dtype *wti_burn_dtype_of(const struct wti_model_tensor *tensor);
int wti_burn_dtype_number(unsigned minor, const struct wti_burn_dtype *type); /* or -1 */
/* Of the elements in untyped files; NULL: they are not packed. */
const struct wti_burn_dtype *wti_burn_dtype_untyped(const struct wti_burn_meta *meta);

/* Where a Boolean's payload of 0.21 is a number in a .bin: Native, U8, U32. */
#define WTI_BURN_BOOL_STORES 3u
extern const char *const wti_burn_bool_stores[WTI_BURN_BOOL_STORES];
#define WTI_BURN_FIRST_BOOL_STORE 21u

/* ---- Ids ----------------------------------------------------------------------------------- */

#define WTI_BURN_ID_MAX 40u

bool wti_burn_id_valid(unsigned minor, const char *id, size_t bytes);
int wti_burn_id_keep(struct wti_model *model, const char *name, const char *id, struct wt_err *err);
/* The one that was kept, or one made from the name; as 0.`minor` of Burn has them. */
void wti_burn_id_of(const struct wti_model *model, unsigned minor, const char *name,
		    char ret_id[WTI_BURN_ID_MAX + 1]);

/* ---- Entries ------------------------------------------------------------------------------- */

/* The value of the entry PREFIX NAME, or NULL. */
const char *wti_burn_entry(const struct wti_model *model, const char *prefix, const char *name);

/* ---- The file ------------------------------------------------------------------------------ */

#define WTI_BURN_WINDOW 8192u

/* A place in a source of the model. */
struct wti_burn_in {
	struct wti_model *model;
	uint32_t source;
	uint64_t at;
	uint64_t end;
	uint64_t window_at;
	size_t window_bytes;
	uint8_t window[WTI_BURN_WINDOW];
};

void wti_burn_in_init(struct wti_burn_in *in, struct wti_model *model, uint32_t source);
/* As many of `wanted` bytes at `at` as the source has: at most WTI_BURN_WINDOW. */
int wti_burn_peek(struct wti_burn_in *in, uint64_t at, size_t wanted, const uint8_t **ret_data,
		  size_t *ret_bytes, struct wt_err *err);
/* Moves over `bytes` and gives them; `what` is for the error where the file ends before. */
int wti_burn_take(struct wti_burn_in *in, size_t bytes, const char *what, const uint8_t **ret_data,
		  struct wt_err *err);

/* Writing through a buffer to an open file, in pieces. */
struct wti_burn_out {
	struct wti_model *model;
	int fd;
	struct wti_buf buf;
	struct wt_err *err;
	int status;
};

void wti_burn_out_init(struct wti_burn_out *out, struct wti_model *model, int fd,
		       struct wt_err *err);
int wti_burn_out_end(struct wti_burn_out *out); /* writes the rest; the first failure */
void wti_burn_put(struct wti_burn_out *out, const void *data, size_t bytes);
void wti_burn_put_elements(struct wti_burn_out *out, const struct wti_model_tensor *tensor);

/* ---- Forms of a record, on a source that is open already ------------------------------------ */

bool wti_burn_is_bin(const uint8_t *head, size_t bytes);
bool wti_burn_is_mpk(const uint8_t *head, size_t bytes);
bool wti_burn_is_json(const uint8_t *head, size_t bytes);
int wti_burn_read_bin(struct wti_model *model, uint32_t source, struct wt_err *err);
int wti_burn_read_mpk(struct wti_model *model, uint32_t source, struct wt_err *err);
int wti_burn_read_json(struct wti_model *model, uint32_t source, struct wt_err *err);
int wti_burn_write_bin(struct wti_model *model, int fd, struct wt_err *err);
int wti_burn_write_mpk(struct wti_model *model, int fd, struct wt_err *err);

#endif
