/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initialisers of an ONNX model: protobuf, of which only the way to them is known (ModelProto,
 * GraphProto, TensorProto). Messages lie in one another at most four deep, so nothing recurses.
 * Elements are left where they are in the file, or in the file that external_data names; numbers
 * that are kept as varints are unpacked.
 */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/text.h"
#include "digest/digest.h"
#include "model/cursor.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Numbers of fields, from onnx.proto. */
enum {
	MODEL_GRAPH = 7,
	MODEL_PRODUCER = 2,
	MODEL_PRODUCER_VERSION = 3,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_SEGMENT = 3,
	TENSOR_FLOATS = 4,
	TENSOR_INT32 = 5,
	TENSOR_STRINGS = 6,
	TENSOR_INT64 = 7,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	TENSOR_DOUBLES = 10,
	TENSOR_UINT64 = 11,
	TENSOR_EXTERNAL = 13,
	TENSOR_LOCATION = 14,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	TYPE_STRING = 8,
};

static const struct type {
	const char *word;
	uint32_t dtype;
	unsigned bits;
} types[] = {
	[1] = {"FLOAT", WT_DTYPE_F32, 32},
	[2] = {"UINT8", WT_DTYPE_U8, 8},
	[3] = {"INT8", WT_DTYPE_I8, 8},
	[4] = {"UINT16", WT_DTYPE_U16, 16},
	[5] = {"INT16", WT_DTYPE_I16, 16},
	[6] = {"INT32", WT_DTYPE_I32, 32},
	[7] = {"INT64", WT_DTYPE_I64, 64},
	[9] = {"BOOL", WT_DTYPE_BOOL, 8},
	[10] = {"FLOAT16", WT_DTYPE_F16, 16},
	[11] = {"DOUBLE", WT_DTYPE_F64, 64},
	[12] = {"UINT32", WT_DTYPE_U32, 32},
	[13] = {"UINT64", WT_DTYPE_U64, 64},
	[14] = {"COMPLEX64", WT_DTYPE_C64, 64},
	[15] = {"COMPLEX128", WT_DTYPE_C128, 128},
	[16] = {"BFLOAT16", WT_DTYPE_BF16, 16},
	[17] = {"FLOAT8E4M3FN", WT_DTYPE_F8E4M3, 8},
	[18] = {"FLOAT8E4M3FNUZ", WT_DTYPE_F8E4M3FNUZ, 8},
	[19] = {"FLOAT8E5M2", WT_DTYPE_F8E5M2, 8},
	[20] = {"FLOAT8E5M2FNUZ", WT_DTYPE_F8E5M2FNUZ, 8},
	[21] = {"UINT4", WT_DTYPE_OTHER, 4},
	[22] = {"INT4", WT_DTYPE_OTHER, 4},
	[23] = {"FLOAT4E2M1", WT_DTYPE_OTHER, 4},
	[24] = {"FLOAT8E8M0", WT_DTYPE_F8E8M0, 8},
};

/* ---- Protobuf ------------------------------------------------------------------------------- */

static uint64_t varint(struct wti_model_cursor *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = wti_cursor_u8(in);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	wti_cursor_bad(in, "a number is longer than 64 bits");
	return 0;
}

struct field {
	uint32_t number;
	uint32_t wire;
	uint64_t value; /* of WIRE_VARINT */
	uint64_t begin; /* of the others: where the content is, */
	uint64_t end;   /* and ends; the cursor stands there */
};

/* The next field of the message that ends at `end`; false: there is none, or it is damaged. */
static bool next_field(struct wti_model_cursor *in, uint64_t end, struct field *ret)
{
	uint64_t key, bytes = 0;

	if (in->code || in->at >= end)
		return false;
	key = varint(in);
	*ret = (struct field){.number = (uint32_t)(key >> 3), .wire = key & 7};
	if (ret->wire == WIRE_VARINT)
		ret->value = varint(in);
	else if (ret->wire == WIRE_64 || ret->wire == WIRE_32)
		bytes = ret->wire == WIRE_64 ? 8 : 4;
	else if (ret->wire == WIRE_BYTES)
		bytes = varint(in);
	else
		wti_cursor_bad(in, "a field has an unknown type");
	if (!in->code && (!(key >> 3) || key >> 3 > UINT32_MAX))
		wti_cursor_bad(in, "a field has no number");
	if (!in->code && (in->at > end || bytes > end - in->at))
		wti_cursor_bad(in, "a field is longer than what it is in: the file was cut, or is "
				   "not ONNX");
	if (in->code)
		return false;
	ret->begin = in->at;
	ret->end = in->at + bytes;
	in->at = ret->end;
	return true;
}

/* ---- One tensor ----------------------------------------------------------------------------- */

struct initialiser {
	char *name;
	uint32_t rank;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	const struct type *type;
	struct field data; /* which field has the elements, and where; number 0: none */
	unsigned data_fields;
	bool is_external;
	char *location;
	uint64_t offset, length;
	bool has_length;
};

static void read_dims(struct wti_model_cursor *in, const struct field *field,
		      struct initialiser *tensor)
{
	uint64_t back = in->at;

	if (field->wire == WIRE_VARINT && tensor->rank < WTI_MODEL_RANK_MAX) {
		tensor->shape[tensor->rank++] = field->value;
		return;
	}
	if (field->wire != WIRE_BYTES) {
		wti_cursor_bad(in, "a tensor has too many dimensions");
		return;
	}
	for (in->at = field->begin; in->at < field->end && !in->code;) {
		if (tensor->rank == WTI_MODEL_RANK_MAX)
			wti_cursor_bad(in, "a tensor has too many dimensions");
		else
			tensor->shape[tensor->rank++] = varint(in);
	}
	if (!in->code && in->at != field->end)
		wti_cursor_bad(in, "the dimensions of a tensor are damaged");
	in->at = back;
}

static char *read_text(struct wti_model_cursor *in, const struct field *field)
{
	char *text;

	in->at = field->begin;
	if (field->wire != WIRE_BYTES)
		wti_cursor_bad(in, "a name is not a text");
	text = in->code ? NULL : wti_cursor_text(in, field->end - field->begin, WTI_MODEL_NAME_MAX);
	in->at = field->end;
	return text;
}

/* One of the pairs that say where the elements are. */
static void read_external(struct wti_model_cursor *in, const struct field *pair,
			  struct initialiser *tensor)
{
	char *key = NULL, *value = NULL;
	struct field field;

	in->at = pair->begin;
	while (next_field(in, pair->end, &field)) {
		if (field.number == ENTRY_KEY)
			key = read_text(in, &field);
		else if (field.number == ENTRY_VALUE)
			value = read_text(in, &field);
	}
	in->at = pair->end;
	if (!key || !value)
		return;
	if (!strcmp(key, "location"))
		tensor->location = value;
	else if (!strcmp(key, "offset") && !wti_parse_u64(value, &tensor->offset))
		wti_cursor_bad(in, "the offset of external data is not a number");
	else if (!strcmp(key, "length") &&
		 !(tensor->has_length = wti_parse_u64(value, &tensor->length)))
		wti_cursor_bad(in, "the length of external data is not a number");
}

static void read_tensor_field(struct wti_model_cursor *in, const struct field *field,
			      struct initialiser *tensor)
{
	switch (field->number) {
	case TENSOR_DIMS:
		read_dims(in, field, tensor);
		break;
	case TENSOR_TYPE:
		if (field->value < WTI_COUNT(types) && types[field->value].word)
			tensor->type = &types[field->value];
		else
			wti_cursor_bad(in, field->value == TYPE_STRING
						   ? "an initialiser has texts: such are not read"
						   : "an initialiser has an unknown type");
		break;
	case TENSOR_NAME:
		tensor->name = read_text(in, field);
		break;
	case TENSOR_SEGMENT:
	case TENSOR_STRINGS:
		wti_cursor_bad(in, "an initialiser is in segments or has texts: such are not read");
		break;
	case TENSOR_FLOATS:
	case TENSOR_INT32:
	case TENSOR_INT64:
	case TENSOR_RAW:
	case TENSOR_DOUBLES:
	case TENSOR_UINT64:
		if (field->wire != WIRE_BYTES)
			wti_cursor_bad(in, "elements are not packed: such are not read");
		else if (tensor->data_fields++)
			wti_cursor_bad(in, "an initialiser has its elements twice");
		tensor->data = *field;
		break;
	case TENSOR_EXTERNAL:
		if (field->wire == WIRE_BYTES)
			read_external(in, field, tensor);
		break;
	case TENSOR_LOCATION:
		tensor->is_external = field->value == 1;
		break;
	}
}

/* ---- Its elements --------------------------------------------------------------------------- */

/* Those that are kept as varints, each as wide as its type, in memory. */
static int unpack(struct wti_model_cursor *in, const struct initialiser *tensor,
		  uint32_t *ret_source)
{
	size_t bytes = tensor->type->bits / 8;
	struct wti_buf out;
	int r;

	wti_buf_init(&out, WTI_MODEL_UNPACKED_MAX);
	for (in->at = tensor->data.begin; in->at < tensor->data.end && !in->code;) {
		uint64_t value = varint(in);

		wti_buf_append(&out, &value, bytes);
		if (wti_buf_status(&out))
			break;
	}
	if (!in->code && !wti_buf_status(&out) && in->at != tensor->data.end)
		wti_cursor_bad(in, "the elements of an initialiser are damaged");
	r = in->code ? in->code : wti_model_add_memory(in->model, &out, ret_source, in->err);
	wti_buf_release(&out);
	return r;
}

/* Which field the specification keeps elements of that type in. */
static bool is_in_its_field(const struct initialiser *tensor)
{
	uint32_t dtype = tensor->type->dtype;

	switch (tensor->data.number) {
	case TENSOR_RAW:
		return true;
	case TENSOR_FLOATS:
		return dtype == WT_DTYPE_F32 || dtype == WT_DTYPE_C64;
	case TENSOR_DOUBLES:
		return dtype == WT_DTYPE_F64 || dtype == WT_DTYPE_C128;
	case TENSOR_INT64:
		return dtype == WT_DTYPE_I64;
	case TENSOR_UINT64:
		return dtype == WT_DTYPE_U64 || dtype == WT_DTYPE_U32;
	default:
		return tensor->type->bits <= 32 && tensor->type->bits >= 8 &&
		       dtype != WT_DTYPE_F32 && dtype != WT_DTYPE_U32;
	}
}

static bool is_as_varints(const struct initialiser *tensor)
{
	return tensor->data.number == TENSOR_INT32 || tensor->data.number == TENSOR_INT64 ||
	       tensor->data.number == TENSOR_UINT64;
}

/* Where the elements are: source, offset and bytes. */
static int find_elements(struct wti_model_cursor *in, const struct initialiser *tensor,
			 struct wti_model_tensor *ret, uint64_t *ret_bytes)
{
	int r = 0;

	if (tensor->is_external) {
		if (!tensor->location || tensor->data_fields)
			return wti_cursor_bad(in, "external data need a location, and no others");
		r = wti_model_add_file(in->model, tensor->location, &ret->source, in->err);
		ret->offset = tensor->offset;
		*ret_bytes = wti_model_source_bytes(in->model, ret->source);
		*ret_bytes -= tensor->offset < *ret_bytes ? tensor->offset : *ret_bytes;
		if (tensor->has_length)
			*ret_bytes = tensor->length;
		return r;
	}
	if (tensor->data.number && !is_in_its_field(tensor))
		return wti_cursor_bad(in, "elements are in a field for another type");
	if (is_as_varints(tensor)) {
		r = unpack(in, tensor, &ret->source);
		*ret_bytes = wti_model_source_bytes(in->model, ret->source);
		return r;
	}
	ret->source = in->source;
	ret->offset = tensor->data.begin;
	*ret_bytes = tensor->data.end - tensor->data.begin;
	return 0;
}

/* The bytes that shape and type ask for; UINT64_MAX: too many. */
static uint64_t bytes_of(const struct initialiser *tensor)
{
	uint64_t bits = tensor->type->bits;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (__builtin_mul_overflow(bits, tensor->shape[i], &bits))
			return UINT64_MAX;
	}
	return bits / 8 + (bits % 8 != 0);
}

static int add_initialiser(struct wti_model_cursor *in, const struct initialiser *tensor)
{
	struct wti_model_tensor added = {
		.name = tensor->name, .rank = tensor->rank, .shape = tensor->shape};
	uint64_t bytes = 0;
	int r;

	if (!tensor->name || !tensor->type)
		return wti_cursor_bad(in, "an initialiser needs a name and a type");
	added.dtype = tensor->type->dtype;
	added.type = tensor->type->word;
	added.bytes = bytes_of(tensor);
	r = find_elements(in, tensor, &added, &bytes);
	if (r)
		return r;
	if (bytes != added.bytes)
		return wti_model_bad(in->model, added.source, added.offset, in->err,
				     "initialiser '%.200s' has %llu bytes of elements; its shape "
				     "and type ask for %llu",
				     tensor->name, (unsigned long long)bytes,
				     (unsigned long long)added.bytes);
	return wti_model_add(in->model, &added, in->err);
}

/* ---- The model ------------------------------------------------------------------------------ */

static int read_tensor(struct wti_model_cursor *in, const struct field *message)
{
	struct initialiser tensor = {0};
	struct field field;
	int r;

	in->at = message->begin;
	while (next_field(in, message->end, &field))
		read_tensor_field(in, &field, &tensor);
	r = in->code ? in->code : add_initialiser(in, &tensor);
	in->at = message->end;
	return r;
}

static int read_graph(struct wti_model_cursor *in, const struct field *message)
{
	struct field field;
	int r = 0;

	if (message->wire != WIRE_BYTES)
		return wti_cursor_bad(in, "the graph is not a message");
	in->at = message->begin;
	while (!r && next_field(in, message->end, &field)) {
		if (field.number == GRAPH_INITIALIZER && field.wire == WIRE_BYTES)
			r = read_tensor(in, &field);
		else if (field.number == GRAPH_NAME && field.wire == WIRE_BYTES &&
			 field.end - field.begin <= WTI_MODEL_NAME_MAX) {
			char *name = read_text(in, &field);

			r = name ? wti_model_add_entry(in->model, "graph", name, in->err)
				 : in->code;
		}
	}
	in->at = message->end;
	return r ? r : in->code;
}

static int read_model(struct wti_model_cursor *in)
{
	unsigned graphs = 0;
	struct field field;
	int r = 0;

	while (!r && next_field(in, in->end, &field)) {
		if (field.number == MODEL_GRAPH) {
			graphs++;
			r = read_graph(in, &field);
		} else if ((field.number == MODEL_PRODUCER ||
			    field.number == MODEL_PRODUCER_VERSION) &&
			   field.wire == WIRE_BYTES) {
			char *text = read_text(in, &field);

			r = text ? wti_model_add_entry(in->model,
						       field.number == MODEL_PRODUCER
							       ? "producer_name"
							       : "producer_version",
						       text, in->err)
				 : in->code;
		}
	}
	r = r ? r : in->code;
	if (!r && graphs != 1)
		r = wti_cursor_bad(in, "it has no graph, or several: not a whole ONNX model");
	return r;
}

static int read_one(struct wti_model *model, struct wt_err *err)
{
	struct wti_model_cursor *in = wti_cursor_new(model, 0, err);
	int r = in ? read_model(in) : WT_E_NOMEM;

	free(in);
	return r;
}

/*
 * Protobuf has no mark. A model begins with ir_version, a small number, and goes on with one of the
 * other fields of ModelProto, all of which have numbers below 32.
 */
static bool is_one(const struct wti_model_probe *probe)
{
	const uint8_t *head = probe->head;

	return probe->head_bytes >= 4 && head[0] == (1 << 3 | WIRE_VARINT) && head[1] >= 1 &&
	       head[1] < 64 && ((head[2] & 7) == WIRE_BYTES || head[2] == (5 << 3 | WIRE_VARINT)) &&
	       head[2] >> 3 >= 2 && head[2] >> 3 < 16;
}

const struct wti_model_format wti_model_onnx = {
	.name = "onnx",
	.title = "ONNX (initialisers)",
	.suffixes = "",
	.is_one = is_one,
	.read = read_one,
};
