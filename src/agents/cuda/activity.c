/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts, as the libraries of CUDA 11.7 to 13.0 walk and fill them. */
#include "activity.h"

#include <string.h>

struct field {
	uint16_t at;    /* in the record */
	uint16_t width; /* 1, 2, 4 or 8 */
	uint16_t to;    /* in struct wti_cuda_record */
};

/* A place of 4 bytes, of 8, or of another width that is widened to 4. */
#define F4(place, member)                                                                          \
	{                                                                                          \
		place, 4, offsetof(struct wti_cuda_record, member)                                 \
	}
#define F8(place, member)                                                                          \
	{                                                                                          \
		place, 8, offsetof(struct wti_cuda_record, member)                                 \
	}
#define F1(place, member)                                                                          \
	{                                                                                          \
		place, 1, offsetof(struct wti_cuda_record, member)                                 \
	}
#define F2(place, member)                                                                          \
	{                                                                                          \
		place, 2, offsetof(struct wti_cuda_record, member)                                 \
	}

static const struct field of_kernel[] = {
	F8(16, start),       F8(24, end),        F4(40, device),   F4(44, context),
	F4(48, stream),      F4(52, grid[0]),    F4(56, grid[1]),  F4(60, grid[2]),
	F4(64, block[0]),    F4(68, block[1]),   F4(72, block[2]), F8(104, name),
	F8(120, queued),     F8(128, submitted), F8(144, node),    F4(156, graph),
	F4(92, correlation),
};
static const struct field of_memcpy[] = {
	F1(4, what),    F1(5, from_memory),  F1(6, to_memory), F8(8, bytes),
	F8(16, start),  F8(24, end),         F4(32, device),   F4(36, context),
	F4(40, stream), F4(44, correlation), F8(64, node),     F4(72, graph),
};
static const struct field of_memcpy2[] = {
	F1(4, what),    F1(5, from_memory),  F1(6, to_memory), F8(8, bytes),
	F8(16, start),  F8(24, end),         F4(32, device),   F4(36, context),
	F4(40, stream), F4(60, correlation), F8(72, node),     F4(80, graph),
};
static const struct field of_memset[] = {
	F8(8, bytes),   F8(16, start),       F8(24, end),       F4(32, device), F4(36, context),
	F4(40, stream), F4(44, correlation), F2(50, to_memory), F8(64, node),   F4(72, graph),
};
static const struct field of_api[] = {
	F4(4, what), F8(8, start), F8(16, end), F4(28, thread), F4(32, correlation), F4(36, status),
};
static const struct field of_synchronization[] = {
	F4(4, what),    F8(8, start),   F8(16, end),      F4(24, correlation), F4(28, context),
	F4(32, stream), F4(36, object), F8(40, external), F4(48, status),
};
static const struct field of_event[] = {
	F4(4, correlation), F4(8, context), F4(12, stream),   F4(16, object),
	F4(24, device),     F8(40, start),  F8(48, external),
};
static const struct field of_external[] = {F4(4, object), F8(8, external), F4(16, correlation)};
static const struct field of_overhead[] = {
	F4(4, what), F4(8, object), F4(16, thread), F8(24, start), F8(32, end), F4(40, correlation),
};
static const struct field of_marker[] = {
	F4(4, what), F8(8, start), F4(16, object), F4(28, thread), F8(40, name),
};
static const struct field of_marker_data[] = {F4(4, what), F4(8, object)};
static const struct field of_memory[] = {
	F4(4, to_memory), F8(16, bytes),  F8(24, start),
	F8(32, end),      F4(60, device), F4(64, context),
};
static const struct field of_memory2[] = {
	F4(4, what),   F4(8, to_memory), F4(12, correlation), F8(24, bytes),
	F8(32, start), F4(52, device),   F4(56, context),     F4(60, stream),
};
static const struct field of_pool[] = {
	F4(4, what), F4(12, correlation), F4(20, device), F8(40, bytes), F8(56, start),
};
static const struct field of_graph[] = {
	F4(4, correlation), F8(8, start),    F8(16, end),    F4(24, device),
	F4(28, graph),      F4(32, context), F4(36, stream),
};
static const struct field of_stream[] = {F4(4, context), F4(8, stream), F4(16, what),
					 F4(20, correlation)};
static const struct field of_context[] = {F4(4, context), F4(8, device), F2(12, what)};
static const struct field of_device[] = {F4(112, device), F8(136, name)};
static const struct field of_name[] = {F4(4, object), F4(8, what), F8(24, name)};
static const struct field of_jit[] = {
	F4(4, object), F4(8, what),         F4(12, device), F8(16, start),
	F8(24, end),   F4(32, correlation), F4(68, thread),
};

#define LAYOUT(fields, least)                                                                      \
	{                                                                                          \
		fields, sizeof(fields) / sizeof(fields[0]), least                                  \
	}
/* `least`: of CUPTI 11.0; what is shorter is no such record. */
static const struct {
	const struct field *fields;
	size_t count;
	size_t least;
} layouts[WTI_CUDA_KIND_MAX] = {
	[WTI_CUDA_MEMCPY] = LAYOUT(of_memcpy, 64),
	[WTI_CUDA_MEMSET] = LAYOUT(of_memset, 64),
	[WTI_CUDA_KERNEL] = LAYOUT(of_kernel, 144),
	[WTI_CUDA_DRIVER] = LAYOUT(of_api, 40),
	[WTI_CUDA_RUNTIME] = LAYOUT(of_api, 40),
	[WTI_CUDA_DEVICE] = LAYOUT(of_device, 144),
	[WTI_CUDA_CONTEXT] = LAYOUT(of_context, 16),
	[WTI_CUDA_CONCURRENT_KERNEL] = LAYOUT(of_kernel, 144),
	[WTI_CUDA_NAME] = LAYOUT(of_name, 32),
	[WTI_CUDA_MARKER] = LAYOUT(of_marker, 48),
	[WTI_CUDA_MARKER_DATA] = LAYOUT(of_marker_data, 32),
	[WTI_CUDA_OVERHEAD] = LAYOUT(of_overhead, 40),
	[WTI_CUDA_MEMCPY2] = LAYOUT(of_memcpy2, 72),
	[WTI_CUDA_EVENT] = LAYOUT(of_event, 24),
	[WTI_CUDA_STREAM] = LAYOUT(of_stream, 24),
	[WTI_CUDA_SYNCHRONIZATION] = LAYOUT(of_synchronization, 40),
	[WTI_CUDA_EXTERNAL_CORRELATION] = LAYOUT(of_external, 24),
	[WTI_CUDA_MEMORY] = LAYOUT(of_memory, 80),
	[WTI_CUDA_INTERNAL_LAUNCH] = LAYOUT(of_api, 40),
	[WTI_CUDA_MEMORY2] = LAYOUT(of_memory2, 112),
	[WTI_CUDA_MEMORY_POOL] = LAYOUT(of_pool, 64),
	[WTI_CUDA_GRAPH_TRACE] = LAYOUT(of_graph, 48),
	[WTI_CUDA_JIT] = LAYOUT(of_jit, 64),
};

static void take(const uint8_t *at, const struct field *field, struct wti_cuda_record *record)
{
	uint8_t *to = (uint8_t *)record + field->to;
	uint32_t value = 0;

	if (field->width == 8) {
		memcpy(to, at + field->at, 8);
		return;
	}
	memcpy(&value, at + field->at, field->width); /* little-endian, as all hosts of CUDA are */
	memcpy(to, &value, 4);
}

bool wti_cuda_decode(const uint8_t *at, size_t bytes, struct wti_cuda_record *ret)
{
	uint32_t kind;

	*ret = (struct wti_cuda_record){0};
	if (bytes < sizeof(kind))
		return false;
	memcpy(&kind, at, sizeof(kind));
	ret->kind = kind;
	ret->bytes_of_record = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	if (kind >= WTI_CUDA_KIND_MAX || !layouts[kind].fields || bytes < layouts[kind].least)
		return false;
	for (size_t i = 0; i < layouts[kind].count; i++) {
		const struct field *field = &layouts[kind].fields[i];

		if (field->at + (size_t)field->width <= bytes)
			take(at, field, ret);
	}
	return true;
}

/* ---- Lengths -------------------------------------------------------------------------------- */

enum { VERSION_FIRST = 17, VERSION_LAST = 130001 };

/* From this version on; rows of a kind stand in order. Measured with cuptiActivityGetNextRecord().
 */
static const struct {
	uint8_t kind;
	uint32_t version;
	uint16_t bytes;
} lengths[] = {
	{1, 17, 88},   {1, 26, 96},      {2, 17, 88},       {3, 17, 176}, {3, 18, 200},
	{3, 19, 208},  {3, 130001, 216}, {4, 17, 40},       {5, 17, 40},  {8, 17, 176},
	{8, 20, 184},  {9, 17, 16},      {9, 22, 24},       {9, 23, 32},  {10, 17, 176},
	{10, 18, 200}, {10, 19, 208},    {10, 130001, 216}, {11, 17, 32}, {12, 17, 56},
	{13, 17, 32},  {13, 130001, 40}, {17, 17, 40},      {17, 21, 48}, {17, 22, 56},
	{22, 17, 96},  {36, 17, 24},     {36, 26, 56},      {37, 17, 24}, {38, 17, 40},
	{38, 26, 56},  {39, 17, 24},     {45, 17, 80},      {48, 17, 40}, {49, 17, 120},
	{49, 24, 128}, {50, 17, 72},     {50, 130001, 80},  {51, 17, 48}, {51, 21, 56},
	{52, 18, 64},  {52, 22, 72},
};

bool wti_cuda_version_is_known(uint32_t version)
{
	return version >= VERSION_FIRST && version <= VERSION_LAST;
}

size_t wti_cuda_record_bytes(uint32_t version, uint32_t kind)
{
	size_t bytes = 0;

	if (!wti_cuda_version_is_known(version))
		return 0;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (lengths[i].kind == kind && lengths[i].version <= version)
			bytes = lengths[i].bytes;
	return bytes;
}

/* ---- Walking -------------------------------------------------------------------------------- */

void wti_cuda_walk_init(struct wti_cuda_walk *walk, uint8_t *buffer, size_t bytes,
			wti_cuda_next_fn *next, uint32_t version)
{
	*walk = (struct wti_cuda_walk){
		.buffer = buffer, .bytes = bytes, .next = next, .version = version};
	if (next && bytes && next(buffer, bytes, &walk->ahead))
		walk->ahead = NULL;
}

/* Where `next` says that a record is; false: nowhere that can be. */
static bool place(const struct wti_cuda_walk *walk, const void *record, size_t *ret)
{
	const uint8_t *at = record;

	if (!record || at < walk->buffer || at >= walk->buffer + walk->bytes)
		return false;
	*ret = (size_t)(at - walk->buffer);
	return true;
}

/* The library knows how long each record is: as far as to the one behind it. */
static bool next_by_library(struct wti_cuda_walk *walk)
{
	size_t behind = walk->bytes;

	if (!place(walk, walk->ahead, &walk->at))
		return false;
	if (walk->next(walk->buffer, walk->bytes, &walk->ahead))
		walk->ahead = NULL;
	if (walk->ahead && (!place(walk, walk->ahead, &behind) || behind <= walk->at)) {
		walk->ahead = NULL;
		walk->is_cut = true;
	}
	walk->record_bytes = behind - walk->at;
	return true;
}

static bool next_by_table(struct wti_cuda_walk *walk)
{
	size_t at = walk->at + walk->record_bytes, bytes;
	uint32_t kind;

	if (at == walk->bytes)
		return false;
	walk->is_cut = true;
	if (walk->bytes - at < sizeof(kind))
		return false;
	memcpy(&kind, walk->buffer + at, sizeof(kind));
	bytes = wti_cuda_record_bytes(walk->version, kind);
	if (!bytes || bytes > walk->bytes - at)
		return false;
	walk->is_cut = false;
	walk->at = at;
	walk->record_bytes = bytes;
	return true;
}

bool wti_cuda_walk_next(struct wti_cuda_walk *walk)
{
	if (walk->is_cut)
		return false;
	return walk->next ? next_by_library(walk) : next_by_table(walk);
}
