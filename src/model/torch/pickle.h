/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pickle, read without executing anything. What Python would make by importing modules and
 * calling functions is here a tree of inert values: a name stays a name. A few names are known
 * (pickle_names.c) and are taken for what they make: a container, a tensor, a plain value. A pickle
 * that wants to call anything else is refused, by the name that it wanted.
 */
#ifndef WTI_MODEL_TORCH_PICKLE_H
#define WTI_MODEL_TORCH_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/arena.h"

/* Of state dicts of ten thousand tensors they have a megabyte: the elements are elsewhere. */
#define WTI_PICKLE_BYTES_MAX ((size_t)64 << 20)

enum wti_pickle_type {
	WTI_PICKLE_NONE,
	WTI_PICKLE_BOOL,
	WTI_PICKLE_INT,
	WTI_PICKLE_LONG, /* more than 64 bits: its bytes, little-endian, as two's complement */
	WTI_PICKLE_FLOAT,
	WTI_PICKLE_TEXT,
	WTI_PICKLE_BYTES,
	WTI_PICKLE_TUPLE,
	WTI_PICKLE_LIST,
	WTI_PICKLE_SET,
	WTI_PICKLE_DICT,
	WTI_PICKLE_NAME,       /* "module.name", not resolved */
	WTI_PICKLE_CALL,       /* what a known function makes of its arguments */
	WTI_PICKLE_INSTANCE,   /* of a class, with the state that it was given */
	WTI_PICKLE_PERSISTENT, /* what the file has outside of the pickle: its id */
	WTI_PICKLE_MARK,       /* only while it is read */
};

/* What a name means to us. */
enum wti_pickle_meaning {
	WTI_NAME_UNKNOWN, /* may be the class of an instance, may not be called */
	WTI_NAME_DICT,    /* the callables: a container of what it is given */
	WTI_NAME_LIST,
	WTI_NAME_TUPLE,
	WTI_NAME_SET,
	WTI_NAME_ENCODE, /* a text to bytes */
	WTI_NAME_BYTES,
	WTI_NAME_PLAIN,          /* a value that no tensor depends on: a device, a path, a date */
	WTI_NAME_NEW,            /* an instance of the class that it is given */
	WTI_NAME_TENSOR,         /* (storage, offset, size, stride, ...) */
	WTI_NAME_TENSOR_OF_TYPE, /* the same, and the type is the last argument */
	WTI_NAME_PARAMETER,      /* (tensor, ...) */
	WTI_NAME_SUBCLASS,       /* (function, type, arguments, state) */
	WTI_NAME_NOT_READ, /* a tensor of a kind that is not read: sparse, quantised, without data
			    */
	WTI_NAME_ARRAY,    /* numpy's: its state has all */
	WTI_NAME_ARRAY_OF, /* numpy's: (bytes, type, shape, order) */
	WTI_NAME_SCALAR,   /* numpy's: (type, bytes) */
	WTI_NAME_NUMPY_TYPE,
	WTI_NAME_STORAGE, /* not callables: a type of storage */
	WTI_NAME_TYPE,    /* of elements */
	WTI_NAME_CLASS,   /* of instances that are known to be data */
};

struct wti_pickle_value {
	uint8_t type;     /* enum wti_pickle_type */
	uint8_t meaning;  /* of a name, and of a call: that of its function */
	uint32_t dtype;   /* of WTI_NAME_STORAGE and WTI_NAME_TYPE */
	int64_t integer;  /* of INT and BOOL */
	double number;    /* of FLOAT */
	const char *text; /* of TEXT, BYTES, LONG and NAME; ends with NUL */
	size_t bytes;     /* of text */
	/* Of containers; of a dict key, value, key, value. Of a call or instance: what was added.
	 */
	struct wti_pickle_value **items;
	size_t count;
	size_t capacity;
	struct wti_pickle_value *of;        /* of a call or instance: the name */
	struct wti_pickle_value *arguments; /* a tuple; of PERSISTENT: the id */
	struct wti_pickle_value *state;     /* NULL: it was given none */
};

struct wti_pickle {
	const char *path;       /* for messages */
	uint64_t offset;        /* of the pickle in that file, for messages */
	struct wti_arena arena; /* all values */
	struct wti_pickle_value *root;
	struct wti_pickle_value *persistent; /* the last one; its `state` is the one before */
	size_t used;                         /* bytes up to its end */
};

/*
 * Reads one pickle, which may be followed by other bytes. `path` stays the caller's. After a
 * failure nothing is to be released.
 */
int wti_pickle_open(struct wti_pickle *pickle, const char *path, uint64_t offset,
		    const uint8_t *data, size_t bytes, struct wt_err *err);
void wti_pickle_release(struct wti_pickle *pickle);

/* ---- Looking into values: NULL in, NULL or false out ---------------------------------------- */

const struct wti_pickle_value *wti_pickle_item(const struct wti_pickle_value *value, size_t index,
					       uint8_t type);
/* Of a dict, or of the state of an instance: the value of a text key. */
const struct wti_pickle_value *wti_pickle_get(const struct wti_pickle_value *value,
					      const char *key);
bool wti_pickle_is_text(const struct wti_pickle_value *value, const char *text);
bool wti_pickle_u64(const struct wti_pickle_value *value, uint64_t *ret);
/* As text for people; NULL: it is not a plain value. In `room` or in the value itself. */
const char *wti_pickle_text(const struct wti_pickle_value *value, char room[128]);

/* Fills in meaning and dtype of a name. */
void wti_pickle_name(struct wti_pickle_value *name);

#endif
