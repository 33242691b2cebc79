/* SPDX-License-Identifier: Apache-2.0 */
/* What the bits of a field mean. */
#include <stdio.h>
#include <string.h>

#include "inspect/core/label.h"

#include "event.h"

int wti_event_name_field(const struct wt_kind *kind)
{
	for (int i = 0; i < kind->field_count; i++) {
		if (kind->fields[i].type == WT_TYPE_NAME)
			return i;
	}
	return -1;
}

/* The enum of the builtin schema that says what the 64 bits beside it are. */
static int value_type_field(const struct wt_kind *kind)
{
	int field = wt_kind_field(kind, "type");

	if (field < 0 || kind->fields[field].type != WT_TYPE_ENUM ||
	    kind->fields[field].enum_count <= WT_VALUE_TYPE_TEXT ||
	    strcmp(kind->fields[field].enum_names[WT_VALUE_TYPE_FLOAT], "float"))
		return -1;
	return field;
}

int wti_event_value_type(const struct wt_kind *kind, int index)
{
	const struct wt_field *field = &kind->fields[index];

	if (field->type != WT_TYPE_U64 ||
	    (strcmp(field->name, "value") != 0 && strcmp(field->name, "old") != 0 &&
	     strcmp(field->name, "new") != 0))
		return -1;
	return value_type_field(kind);
}

bool wti_event_is_site(const struct wt_kind *kind, int index)
{
	const struct wt_kind *ours = wt_kind_builtin(kind->number);

	return kind->fields[index].type == WT_TYPE_U32 &&
	       !strcmp(kind->fields[index].name, "site") && ours && !strcmp(ours->name, kind->name);
}

/* A tensor that was not read has no hash and no statistics, which zeros would pretend. */
uint64_t wti_event_unread_flag(const struct wt_kind *kind, int index)
{
	const struct wt_kind *ours = wt_kind_builtin(WT_KIND_TENSOR);

	if (kind->number != WT_KIND_TENSOR || index < WT_TENSOR_FIELD_HASH ||
	    index > WT_TENSOR_FIELD_M2 || strcmp(kind->name, ours->name) != 0 ||
	    strcmp(kind->fields[index].name, ours->fields[index].name) != 0 ||
	    kind->fields[index].type != ours->fields[index].type ||
	    strcmp(kind->fields[WT_TENSOR_FIELD_FLAGS].name, "flags") != 0)
		return 0;
	return index == WT_TENSOR_FIELD_HASH ? WT_TENSOR_NO_HASH : WT_TENSOR_NO_STATISTICS;
}

static void typed_value(struct wti_shown *ret, uint64_t type, uint64_t bits)
{
	ret->u = bits;
	switch (type) {
	case WT_VALUE_TYPE_BOOL:
		ret->type = WTI_SHOWN_BOOL;
		break;
	case WT_VALUE_TYPE_INT:
		ret->type = WTI_SHOWN_INT;
		break;
	case WT_VALUE_TYPE_FLOAT:
		ret->type = WTI_SHOWN_FLOAT;
		break;
	case WT_VALUE_TYPE_HASH:
		ret->type = WTI_SHOWN_HASH;
		break;
	default: /* none, or a text that has a field of its own */
		ret->type = WTI_SHOWN_ABSENT;
	}
}

/* 0 stands for "not known", but for when an operation ran, unless all is 0: see label.h. */
static void time_value(struct wti_shown *ret, const struct wt_event *event, int index,
		       uint64_t ticks)
{
	bool op = event->kind->number == WT_KIND_DEVICE_OP;
	uint32_t clock = op ? (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_CLOCK) : 0;
	bool known = ticks ||
		     (op && index >= WT_DEVICE_OP_FIELD_STARTED && wti_device_op_has_times(event));

	ret->type = known ? WTI_SHOWN_TIME : WTI_SHOWN_ABSENT;
	ret->i = wt_trace_domain_ns(event->trace, event->stream, clock, ticks);
}

/* A length in ticks, that ends with the event, in ns. */
static void length_value(struct wti_shown *ret, const struct wt_event *event, uint64_t ticks)
{
	uint64_t begin = ticks < event->ticks ? event->ticks - ticks : 0;
	int64_t begin_ns = wt_trace_ns(event->trace, event->stream, begin);

	ret->type = WTI_SHOWN_INT;
	if (begin_ns >= event->time_ns)
		ret->i = 0;
	else if (__builtin_sub_overflow(event->time_ns, begin_ns, &ret->i))
		ret->i = INT64_MAX;
}

static bool site_value(struct wti_shown *ret, const struct wt_event *event, uint64_t id)
{
	const struct wt_site *site = wt_reader_site(event->reader, (uint32_t)id);
	struct wt_text file;

	if (!site)
		return false;
	file = wt_reader_string(event->reader, site->file);
	snprintf(ret->scratch, sizeof(ret->scratch), "%.*s:%u",
		 (int)(file.bytes < 480 ? file.bytes : 480), file.data, site->line);
	ret->type = WTI_SHOWN_TEXT;
	ret->text = (struct wt_text){ret->scratch, strlen(ret->scratch)};
	return true;
}

static void enum_value(struct wti_shown *ret, const struct wt_field *field, uint64_t bits)
{
	if (bits < field->enum_count) {
		ret->type = WTI_SHOWN_TEXT;
		ret->text =
			(struct wt_text){field->enum_names[bits], strlen(field->enum_names[bits])};
	} else {
		ret->type = WTI_SHOWN_UINT; /* appended since this schema was written */
	}
}

static bool is_unread(const struct wt_event *event, int index)
{
	uint64_t flag = wti_event_unread_flag(event->kind, index);

	return flag && wt_event_u64(event, WT_TENSOR_FIELD_FLAGS) & flag;
}

void wti_event_field(struct wti_shown *ret, const struct wt_event *event, int index)
{
	const struct wt_field *field = &event->kind->fields[index];
	uint64_t bits = wt_event_u64(event, index);
	int type;

	ret->type = WTI_SHOWN_UINT;
	ret->u = bits;
	if (is_unread(event, index)) {
		ret->type = WTI_SHOWN_ABSENT;
		return;
	}
	switch (field->type) {
	case WT_TYPE_I32:
	case WT_TYPE_I64:
		ret->type = WTI_SHOWN_INT;
		break;
	case WT_TYPE_F64:
		ret->type = WTI_SHOWN_FLOAT;
		break;
	case WT_TYPE_HASH:
		ret->type = WTI_SHOWN_HASH;
		break;
	case WT_TYPE_TICKS:
		time_value(ret, event, index, bits);
		break;
	case WT_TYPE_STR:
	case WT_TYPE_NAME:
		ret->type = WTI_SHOWN_TEXT;
		ret->text = wt_event_text(event, index);
		break;
	case WT_TYPE_BYTES:
		ret->type = WTI_SHOWN_BYTES;
		ret->text = wt_event_text(event, index);
		break;
	case WT_TYPE_ENUM:
		enum_value(ret, field, bits);
		break;
	case WT_TYPE_U64:
		if (!strcmp(field->unit, "ticks")) {
			length_value(ret, event, bits);
			break;
		}
		type = wti_event_value_type(event->kind, index);
		if (type >= 0)
			typed_value(ret, wt_event_u64(event, type), bits);
		break;
	case WT_TYPE_U32:
		if (wti_event_is_site(event->kind, index))
			site_value(ret, event, bits);
		break;
	}
}
