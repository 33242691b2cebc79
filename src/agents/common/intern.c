/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: numbers for what records refer to, appended to chunks that the recorder shares.
 *
 * Two stores, of different lives. The table of entries (by type and key) is private memory of the
 * program and survives a fork; each entry remembers its number together with the generation of the
 * process that gave it, so that a child simply finds all numbers out of date. The chunks belong to
 * one process. A definition is committed before its number is handed out.
 */
#include "agent.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "private.h"

enum {
	BUCKETS = 1 << 16,
	ARENA_MIN_BYTES = 1 << 20,
	MASK_AHEAD_BYTES = 512, /* looked at beyond the longest text, so as not to cut a secret */
};

struct entry {
	uint32_t next; /* in units of 8 bytes from the arena's begin; 0: none */
	uint32_t hash;
	uint32_t key_bytes;
	uint32_t type;       /* enum wti_definition_type */
	struct wt_name name; /* text: the key; cached: generation << 32 | number */
	char key[];          /* ends in a zero that is not counted */
};

/* What wt_name_of() gives when there is no room: the empty name, number 0. */
static struct wt_name name_overflow = {"", 0};

static void *map_private(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool wti_intern_init(void)
{
	size_t bytes = wti_agent.control->definitions_bytes_max;

	wti_agent.arena_bytes = wti_room_names(bytes > ARENA_MIN_BYTES ? bytes : ARENA_MIN_BYTES);
	wti_agent.arena_used = 8; /* offset 0 says "none" */
	wti_agent.buckets = map_private(BUCKETS * sizeof(*wti_agent.buckets));
	wti_agent.arena = map_private(wti_agent.arena_bytes);
	return wti_agent.buckets && wti_agent.arena;
}

/* ---- Chunks --------------------------------------------------------------------------------- */

static void count_overflow(struct wti_agent_process *process)
{
	if (process->first_chunk)
		atomic_fetch_add(&process->first_chunk->overflow_count, 1);
}

/* With the lock held. */
static bool chunk_begin(struct wti_agent_process *process, uint32_t message)
{
	struct wti_chunk *chunk = MAP_FAILED;
	bool sent = false;
	int fd = -1;

	if (!wti_room_take(process, WTI_CHUNK_BYTES))
		return false;
	fd = wti_memory_make("wheeltap-definitions", WTI_CHUNK_BYTES);
	if (fd < 0) {
		wti_room_give(process, WTI_CHUNK_BYTES);
		return false;
	}
	chunk = mmap(NULL, WTI_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (chunk != MAP_FAILED) {
		madvise(chunk, WTI_CHUNK_BYTES, MADV_DONTFORK);
		chunk->magic = WTI_CHUNK_MAGIC;
		chunk->index = process->chunk_count;
		chunk->bytes = WTI_CHUNK_BYTES;
		sent = wti_send(process, message, 0, process->chunk_count, fd);
	}
	close(fd);
	if (!sent) {
		if (chunk != MAP_FAILED)
			munmap(chunk, WTI_CHUNK_BYTES);
		wti_room_give(process, WTI_CHUNK_BYTES);
		return false;
	}
	if (process->chunk && process->chunk != process->first_chunk) {
		munmap(process->chunk, WTI_CHUNK_BYTES);
		wti_room_give(process, WTI_CHUNK_BYTES);
	}
	process->chunk = chunk;
	process->chunk_used = sizeof(*chunk);
	process->chunk_count++;
	return true;
}

bool wti_definitions_begin(struct wti_agent_process *process)
{
	if (!chunk_begin(process, WTI_MSG_HELLO))
		return false;
	process->first_chunk = process->chunk;
	return true;
}

/* No further chunk is allowed. */
static bool is_full(const struct wti_agent_process *process)
{
	return (uint64_t)WTI_CHUNK_BYTES * (process->chunk_count + 1) >
	       wti_agent.control->definitions_bytes_max;
}

/* Room for a definition with so many bytes of payload, not committed. */
static struct wti_definition *chunk_room(struct wti_agent_process *process, size_t payload_bytes)
{
	uint32_t size = (uint32_t)sizeof(struct wti_definition) + wti_round8(payload_bytes);

	if (!process->chunk)
		return NULL;
	if (process->chunk_used + size > WTI_CHUNK_BYTES &&
	    (is_full(process) || !chunk_begin(process, WTI_MSG_CHUNK)))
		return NULL;
	return (struct wti_definition *)((uint8_t *)process->chunk + process->chunk_used);
}

static uint32_t chunk_commit(struct wti_agent_process *process, struct wti_definition *definition,
			     uint32_t type, size_t payload_bytes)
{
	uint32_t size = (uint32_t)sizeof(*definition) + wti_round8(payload_bytes);

	definition->type = (uint16_t)type;
	definition->payload_bytes = (uint16_t)payload_bytes;
	definition->id = ++process->id_last[type];
	process->chunk_used += size;
	atomic_store_explicit(&definition->size, size, memory_order_release);
	return definition->id;
}

uint32_t wti_define_new(struct wti_agent_process *process, uint32_t type, const void *payload,
			size_t payload_bytes)
{
	struct wti_definition *definition = chunk_room(process, payload_bytes);

	if (!definition) {
		count_overflow(process);
		/* A thread has a track, even one that could not be described. */
		return type == WTI_DEF_TRACK ? ++process->id_last[type] : 0;
	}
	memcpy(definition + 1, payload, payload_bytes);
	return chunk_commit(process, definition, type, payload_bytes);
}

/* Written in place, masked, cut, and the rest wiped: the size that follows must read 0. */
static uint32_t define_string(struct wti_agent_process *process, const char *text, size_t bytes)
{
	size_t written =
		bytes < WTI_TEXT_MAX + MASK_AHEAD_BYTES ? bytes : WTI_TEXT_MAX + MASK_AHEAD_BYTES;
	struct wti_definition *definition = chunk_room(process, written);
	char *payload;
	size_t kept;

	if (!definition) {
		count_overflow(process);
		return 0;
	}
	payload = (char *)(definition + 1);
	memcpy(payload, text, written);
	kept = wti_agent.control->strings_keep ? written : wti_secret_mask(payload, written);
	kept = wti_text_cut(payload, kept, WTI_TEXT_MAX);
	memset(payload + kept, 0, written - kept);
	return chunk_commit(process, definition, WTI_DEF_STRING, kept);
}

/* ---- Entries -------------------------------------------------------------------------------- */

static struct entry *entry_at(uint32_t offset)
{
	return (struct entry *)(wti_agent.arena + (size_t)offset * 8);
}

static struct entry *entry_find(uint32_t type, uint32_t hash, const void *key, size_t bytes)
{
	uint32_t offset =
		atomic_load_explicit(&wti_agent.buckets[hash % BUCKETS], memory_order_acquire);

	while (offset) {
		struct entry *entry = entry_at(offset);

		if (entry->hash == hash && entry->type == type && entry->key_bytes == bytes &&
		    memcmp(entry->key, key, bytes) == 0)
			return entry;
		offset = entry->next;
	}
	return NULL;
}

/* With the lock held. Linked in only when complete. */
static struct entry *entry_add(uint32_t type, uint32_t hash, const void *key, size_t bytes)
{
	size_t need = wti_round8(sizeof(struct entry) + bytes + 1);
	_Atomic uint32_t *bucket = &wti_agent.buckets[hash % BUCKETS];
	struct entry *entry;

	if (need > wti_agent.arena_bytes - wti_agent.arena_used)
		return NULL;
	entry = (struct entry *)(wti_agent.arena + wti_agent.arena_used);
	entry->next = atomic_load_explicit(bucket, memory_order_relaxed);
	entry->hash = hash;
	entry->key_bytes = (uint32_t)bytes;
	entry->type = type;
	entry->name = (struct wt_name){entry->key, 0};
	memcpy(entry->key, key, bytes);
	entry->key[bytes] = 0;
	atomic_store_explicit(bucket, (uint32_t)(wti_agent.arena_used / 8), memory_order_release);
	wti_agent.arena_used += need;
	return entry;
}

static uint32_t entry_hash(uint32_t type, const void *key, size_t bytes)
{
	return (uint32_t)XXH3_64bits_withSeed(key, bytes, type);
}

static struct entry *entry_get(uint32_t type, const void *key, size_t bytes)
{
	uint32_t hash = entry_hash(type, key, bytes);
	struct entry *entry = entry_find(type, hash, key, bytes);

	return entry ? entry : entry_add(type, hash, key, bytes);
}

static uint32_t number_of(struct wti_agent_process *process, struct entry *entry)
{
	uint64_t cached = __atomic_load_n(&entry->name.cached, __ATOMIC_ACQUIRE);

	return cached >> 32 == process->generation ? (uint32_t)cached : 0;
}

static uint32_t define_locked(struct wti_agent_process *process, uint32_t type, const void *key,
			      size_t key_bytes, const void *payload, size_t payload_bytes)
{
	struct entry *entry = entry_get(type, key, key_bytes);
	uint32_t id = entry ? number_of(process, entry) : 0;

	if (id)
		return id;
	if (!entry) {
		count_overflow(process);
		return 0;
	}
	id = type == WTI_DEF_STRING ? define_string(process, payload, payload_bytes)
				    : wti_define_new(process, type, payload, payload_bytes);
	if (id)
		__atomic_store_n(&entry->name.cached, (uint64_t)process->generation << 32 | id,
				 __ATOMIC_RELEASE);
	return id;
}

uint32_t wti_define(uint32_t type, const void *key, size_t key_bytes, const void *payload,
		    size_t payload_bytes)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_guard guard;
	uint32_t id;

	if (!wti_agent.control || payload_bytes > UINT16_MAX - 8)
		return 0;
	wti_guard_begin(&guard);
	wti_lock(process);
	id = define_locked(process, type, key, key_bytes, payload, payload_bytes);
	wti_unlock(process);
	wti_guard_end(&guard);
	return id;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Longer texts than any that is kept need not be distinguished. */
static size_t name_bytes(const char *text)
{
	return strnlen(text, WTI_TEXT_MAX + MASK_AHEAD_BYTES);
}

uint32_t wti_name_slow(struct wt_name *name)
{
	uint32_t generation = wti_slot_of_thread->generation;
	size_t bytes = name->text ? name_bytes(name->text) : 0;
	uint32_t id;

	if (bytes == 0)
		return 0;
	id = wti_define(WTI_DEF_STRING, name->text, bytes, name->text, bytes);
	if (generation && (id || is_full(wti_agent.process)))
		__atomic_store_n(&name->cached, (uint64_t)generation << 32 | id, __ATOMIC_RELEASE);
	return id;
}

struct wt_name *wti_name_find(const char *text, size_t bytes)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_guard guard;
	struct entry *entry;

	if (!wti_agent.control || bytes == 0)
		return &name_overflow;
	if (bytes > WTI_TEXT_MAX + MASK_AHEAD_BYTES)
		bytes = WTI_TEXT_MAX + MASK_AHEAD_BYTES;
	entry = entry_find(WTI_DEF_STRING, entry_hash(WTI_DEF_STRING, text, bytes), text, bytes);
	if (entry)
		return &entry->name;
	wti_guard_begin(&guard);
	wti_lock(process);
	entry = entry_get(WTI_DEF_STRING, text, bytes);
	if (!entry)
		count_overflow(process);
	wti_unlock(process);
	wti_guard_end(&guard);
	return entry ? &entry->name : &name_overflow;
}
