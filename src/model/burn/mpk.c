/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's .mpk: MessagePack, a struct as a map with the names of its fields. Burn writes every value
 * in its shortest form; others are refused, so that a file that was read can be written again byte
 * by byte.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/text.h"
#include "model/burn/record.h"

/* The beginning of every record: a map of three that begins with the metadata, a map of five. */
static const uint8_t magic[] = "\x83\xa8metadata\x85\xa5"
			       "float";

bool wti_burn_is_mpk(const uint8_t *head, size_t bytes)
{
	return bytes >= sizeof(magic) - 1 && !memcmp(head, magic, sizeof(magic) - 1);
}

/* The kinds of values that a first byte can begin. */
enum kind { COUNT, NEGATIVE, MAP, LIST, TEXT, BYTES, F32, F64, NIL, BOOL, UNKNOWN };

/* What follows a first byte from 0xc0 to 0xdf: a number of so many bytes, and of what. */
static const struct {
	enum kind kind;
	uint8_t bytes;
} kinds[32] = {
	[0x00] = {NIL, 0},      [0x01] = {UNKNOWN, 0},  [0x02] = {BOOL, 0},
	[0x03] = {BOOL, 0},     [0x04] = {BYTES, 1},    [0x05] = {BYTES, 2},
	[0x06] = {BYTES, 4},    [0x07] = {UNKNOWN, 0},  [0x08] = {UNKNOWN, 0},
	[0x09] = {UNKNOWN, 0},  [0x0a] = {F32, 4},      [0x0b] = {F64, 8},
	[0x0c] = {COUNT, 1},    [0x0d] = {COUNT, 2},    [0x0e] = {COUNT, 4},
	[0x0f] = {COUNT, 8},    [0x10] = {NEGATIVE, 1}, [0x11] = {NEGATIVE, 2},
	[0x12] = {NEGATIVE, 4}, [0x13] = {NEGATIVE, 8}, [0x14] = {UNKNOWN, 0},
	[0x15] = {UNKNOWN, 0},  [0x16] = {UNKNOWN, 0},  [0x17] = {UNKNOWN, 0},
	[0x18] = {UNKNOWN, 0},  [0x19] = {TEXT, 1},     [0x1a] = {TEXT, 2},
	[0x1b] = {TEXT, 4},     [0x1c] = {LIST, 2},     [0x1d] = {LIST, 4},
	[0x1e] = {MAP, 2},      [0x1f] = {MAP, 4},
};

struct token {
	enum kind kind;
	uint64_t number; /* or a length, or how many entries */
	unsigned bytes;  /* that the number took; 0: it is in the first byte */
};

static uint64_t big_endian(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static struct token token_of(uint8_t first)
{
	if (first < 0x80)
		return (struct token){COUNT, first, 0};
	if (first < 0x90)
		return (struct token){MAP, first & 15, 0};
	if (first < 0xa0)
		return (struct token){LIST, first & 15, 0};
	if (first < 0xc0)
		return (struct token){TEXT, first & 31, 0};
	if (first >= 0xe0)
		return (struct token){NEGATIVE, (uint64_t)(int64_t)(int8_t)first, 0};
	return (struct token){kinds[first & 31].kind, first & 1, kinds[first & 31].bytes};
}

/* The least that each form may hold: what is smaller has a shorter one. */
static bool is_shortest(const struct token *token)
{
	uint64_t least = token->bytes == 2 ? 0x100 : token->bytes == 4 ? 0x10000 : 0x100000000;

	switch (token->kind) {
	case COUNT:
		return token->number >= (token->bytes == 1 ? 0x80 : least);
	case TEXT:
		return token->number >= (token->bytes == 1 ? 32 : least);
	case BYTES:
		return token->bytes == 1 || token->number >= least;
	case MAP:
	case LIST:
		return token->number >= (token->bytes == 2 ? 16 : least);
	default:
		return true;
	}
}

static bool is_shortest_negative(int64_t number, unsigned bytes)
{
	return bytes == 1   ? number < -32
	       : bytes == 2 ? number < INT8_MIN
	       : bytes == 4 ? number < INT16_MIN
			    : number < INT32_MIN;
}

static bool finish_number(struct token *token, const uint8_t *at)
{
	if (!token->bytes)
		return true;
	token->number = big_endian(at, token->bytes);
	if (token->kind == NEGATIVE) {
		unsigned unused = 64 - 8 * token->bytes;
		int64_t number = (int64_t)(token->number << unused) >> unused;

		token->number = (uint64_t)number;
		return is_shortest_negative(number, token->bytes);
	}
	return is_shortest(token);
}

static int refuse(const struct wti_burn_in *in, uint64_t at, const char *what, struct wt_err *err)
{
	return wti_err_at(err, WT_E_FORMAT, (int64_t)at, "'%s' is damaged: %s at byte %llu",
			  in->model->path, what, (unsigned long long)at);
}

static int take_token(struct wti_burn_in *in, struct token *token, struct wt_err *err)
{
	uint64_t at = in->at;
	const uint8_t *data;
	int r = wti_burn_take(in, 1, "a value", &data, err);

	if (r)
		return r;
	*token = token_of(*data);
	if (token->kind == UNKNOWN)
		return refuse(in, at, "a value of a kind that Burn does not write", err);
	r = wti_burn_take(in, token->bytes, "a number", &data, err);
	if (r)
		return r;
	return finish_number(token, data) ? 0
					  : refuse(in, at, "a value not in its shortest form", err);
}

/* The token as an event; text is copied, as the window may move. */
static int take_event(struct wti_burn_in *in, const struct token *token,
		      char text[WTI_MODEL_NAME_MAX + 1], struct wti_burn_event *event,
		      struct wt_err *err)
{
	static const enum wti_burn_event_type types[] = {
		[COUNT] = WTI_BURN_COUNT, [NEGATIVE] = WTI_BURN_NEGATIVE, [MAP] = WTI_BURN_MAP,
		[LIST] = WTI_BURN_LIST,   [TEXT] = WTI_BURN_TEXT,         [BYTES] = WTI_BURN_BYTES,
		[F32] = WTI_BURN_F32,     [F64] = WTI_BURN_F64,           [NIL] = WTI_BURN_NIL,
		[BOOL] = WTI_BURN_BOOL,
	};
	const uint8_t *data;
	int r;

	*event = (struct wti_burn_event){.type = types[token->kind],
					 .at = in->at,
					 .text = text,
					 .number = token->number,
					 .negative = (int64_t)token->number};
	memcpy(&event->real, &token->number, sizeof(event->real));
	if ((token->kind == MAP || token->kind == LIST) && token->number > in->end - in->at)
		return refuse(in, in->at, "more entries than the file has bytes", err);
	if (token->kind == BYTES) {
		if (token->number > in->end - in->at)
			return refuse(in, in->at, "more elements than the file has bytes", err);
		in->at += token->number;
	}
	if (token->kind != TEXT)
		return 0;
	if (token->number > WTI_MODEL_NAME_MAX)
		return refuse(in, in->at, "a text that is too long", err);
	r = wti_burn_take(in, (size_t)token->number, "a text", &data, err);
	if (r)
		return r;
	memcpy(text, data, (size_t)token->number);
	text[token->number] = '\0';
	if (!wti_is_utf8(text, (size_t)token->number))
		return refuse(in, in->at, "a text that is not UTF-8", err);
	event->bytes = (size_t)token->number;
	return 0;
}

static int read_all(struct wti_burn_in *in, struct wti_burn_record *record, struct wt_err *err)
{
	struct wti_burn_nest nest = {.take = wti_burn_record_take, .self = record};
	char text[WTI_MODEL_NAME_MAX + 1];
	bool done = false;

	while (!done) {
		struct wti_burn_event event;
		struct token token;
		int r = take_token(in, &token, err);

		if (!r)
			r = take_event(in, &token, text, &event, err);
		if (!r)
			r = wti_burn_nest_take(&nest, &event, token.number, &done, err);
		if (r)
			return r;
	}
	return in->at == in->end ? wti_burn_record_end(record, err)
				 : refuse(in, in->at, "bytes behind the end of the record", err);
}

int wti_burn_read_mpk(struct wti_model *model, uint32_t source, struct wt_err *err)
{
	struct wti_burn_in in;
	struct wti_burn_record *record;
	int r = wti_burn_record_open(model, source, &record, err);

	if (r)
		return r;
	wti_burn_in_init(&in, model, source);
	r = read_all(&in, record, err);
	wti_burn_record_free(record);
	return r;
}

static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && wti_burn_is_mpk(probe->head, probe->head_bytes);
}

static int read_first(struct wti_model *model, struct wt_err *err)
{
	return wti_burn_read_mpk(model, 0, err);
}

const struct wti_model_format wti_model_burn_mpk = {
	.name = "burn-mpk",
	.title = "Burn record (MessagePack)",
	.suffixes = "mpk",
	.is_one = is_one,
	.read = read_first,
	.write = wti_burn_write_mpk,
};
