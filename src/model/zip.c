/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a zip file, and that the rest of the file is what it says (APPNOTE 6.3). */
#include "model/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "model/format.h"

enum {
	LOCAL_BYTES = 30,
	CENTRAL_BYTES = 46,
	END_BYTES = 22,
	LOCATOR_BYTES = 20,
	END64_BYTES = 56,
	COMMENT_MAX = 65535,
	ENTRIES_MAX = 1 << 20,
	DIRECTORY_MAX = 256 << 20,
	ZIP64_EXTRA = 0x0001,
	FLAG_ENCRYPTED = 1 << 0,
	FLAG_DESCRIPTOR = 1 << 3, /* sizes and checksum follow the data */
	FLAG_PATCHED = 1 << 5,
	FLAG_MASKED = 1 << 13,
	DESCRIPTOR_MAX = 24,
};

#define LOCAL_MARK 0x04034b50u
#define CENTRAL_MARK 0x02014b50u
#define END_MARK 0x06054b50u
#define LOCATOR_MARK 0x07064b50u
#define END64_MARK 0x06064b50u
#define DESCRIPTOR_MARK 0x08074b50u

/* Where the directory is. */
struct directory {
	uint64_t offset;
	uint64_t bytes;
	uint64_t count;
	uint64_t end; /* of the directory: where the records of the end begin */
};

static int bad(const struct wti_zip *zip, uint64_t offset, struct wt_err *err, const char *reason)
{
	return wti_model_bad(zip->model, zip->source, offset, err, "zip: %s", reason);
}

static int bad_entry(const struct wti_zip *zip, const struct wti_zip_entry *entry,
		     struct wt_err *err, const char *reason)
{
	return wti_model_bad(zip->model, zip->source, entry->header, err, "zip: entry '%.120s' %s",
			     entry->name, reason);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* The record that ends the file, comment included: `tail` has its last bytes. */
static const uint8_t *find_end(const uint8_t *tail, size_t bytes)
{
	for (size_t comment = 0; comment <= COMMENT_MAX && comment + END_BYTES <= bytes;
	     comment++) {
		const uint8_t *at = tail + bytes - END_BYTES - comment;

		if (wti_get32(at) == END_MARK && wti_get16(at + 20) == comment)
			return at;
	}
	return NULL;
}

/* Files of more than 4 GB: the numbers stand in a record of their own, before a locator. */
static int read_end64(struct wti_zip *zip, uint64_t end, struct directory *directory,
		      struct wt_err *err)
{
	uint8_t locator[LOCATOR_BYTES], record[END64_BYTES];
	uint64_t at;
	int r;

	if (end < LOCATOR_BYTES + END64_BYTES)
		return bad(zip, end, err, "the record of a large file is missing");
	r = wti_model_read(zip->model, zip->source, end - LOCATOR_BYTES, locator, sizeof(locator),
			   err);
	if (r)
		return r;
	at = wti_get64(locator + 8);
	if (wti_get32(locator) != LOCATOR_MARK || wti_get32(locator + 4) ||
	    wti_get32(locator + 16) > 1 || at != end - LOCATOR_BYTES - END64_BYTES)
		return bad(zip, end - LOCATOR_BYTES, err, "the record of a large file is wrong");
	r = wti_model_read(zip->model, zip->source, at, record, sizeof(record), err);
	if (r)
		return r;
	if (wti_get32(record) != END64_MARK || wti_get64(record + 4) != END64_BYTES - 12 ||
	    wti_get32(record + 16) || wti_get32(record + 20) ||
	    wti_get64(record + 24) != wti_get64(record + 32))
		return bad(zip, at, err, "the record of a large file is wrong");
	directory->count = wti_get64(record + 32);
	directory->bytes = wti_get64(record + 40);
	directory->offset = wti_get64(record + 48);
	directory->end = at;
	return 0;
}

/* Whether a locator lies before the end: some writers make one for small files, too. */
static bool has_locator(struct wti_zip *zip, uint64_t end)
{
	uint8_t mark[4];

	return end >= LOCATOR_BYTES + END64_BYTES &&
	       !wti_model_read(zip->model, zip->source, end - LOCATOR_BYTES, mark, sizeof(mark),
			       NULL) &&
	       wti_get32(mark) == LOCATOR_MARK;
}

static int read_end(struct wti_zip *zip, struct directory *directory, struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(zip->model, zip->source);
	uint64_t tail_bytes = all < COMMENT_MAX + END_BYTES ? all : COMMENT_MAX + END_BYTES;
	struct wti_buf tail;
	const uint8_t *end;
	int r;

	wti_buf_init(&tail, COMMENT_MAX + END_BYTES);
	r = wti_model_read_buf(zip->model, zip->source, all - tail_bytes, tail_bytes, &tail, err);
	end = r ? NULL : find_end(tail.data, tail.bytes);
	if (!r && !end)
		r = bad(zip, all, err,
			"its directory is missing: the file was cut; copy or download it again");
	if (!r &&
	    (wti_get16(end + 4) || wti_get16(end + 6) || wti_get16(end + 8) != wti_get16(end + 10)))
		r = bad(zip, all - tail_bytes, err, "it is one part of several: join them first");
	if (!r) {
		directory->count = wti_get16(end + 10);
		directory->bytes = wti_get32(end + 12);
		directory->offset = wti_get32(end + 16);
		directory->end = all - tail_bytes + (uint64_t)(end - tail.data);
		if (has_locator(zip, directory->end))
			r = read_end64(zip, directory->end, directory, err);
	}
	wti_buf_release(&tail);
	return r;
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* The sizes that do not fit into 32 bits stand in a field of their own, in this order. */
static bool widen(struct wti_bytes extra, uint64_t *bytes, uint64_t *packed, uint64_t *header)
{
	uint64_t *const wide[] = {bytes, packed, header};

	while (wti_bytes_left(&extra) >= 4) {
		uint16_t id = wti_bytes_u16(&extra);
		struct wti_bytes field = wti_bytes_part(&extra, wti_bytes_u16(&extra));

		if (field.bad)
			return false;
		for (size_t i = 0; id == ZIP64_EXTRA && i < WTI_COUNT(wide); i++) {
			if (wide[i] && *wide[i] == UINT32_MAX)
				*wide[i] = wti_bytes_u64(&field);
		}
		if (field.bad)
			return false;
	}
	return !extra.bad && !wti_bytes_left(&extra);
}

static int keep(struct wti_zip *zip, struct wti_zip_entry *entry, const uint8_t *name,
		size_t name_bytes, struct wt_err *err)
{
	uint64_t *slot;
	int r;

	entry->name = wti_arena_text(&zip->model->arena, name, name_bytes);
	if (!entry->name)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (!name_bytes || strlen(entry->name) != name_bytes)
		return bad_entry(zip, entry, err, "has no name, or a NUL in it");
	slot = wti_map_text(&zip->names, entry->name, name_bytes);
	if (!slot)
		return wti_map_failed(&zip->names, err, "entries of a zip file");
	if (*slot)
		return bad_entry(zip, entry, err, "is there twice");
	r = wti_grow(&zip->entries, zip->count + 1, &zip->capacity, ENTRIES_MAX);
	if (r)
		return wti_err(err, r, "cannot keep the entries of '%s'", zip->model->path);
	zip->entries[zip->count++] = *entry;
	*slot = zip->count;
	return 0;
}

static int check_kind(const struct wti_zip *zip, const struct wti_zip_entry *entry,
		      struct wt_err *err)
{
	if (entry->flags & (FLAG_ENCRYPTED | FLAG_PATCHED | FLAG_MASKED))
		return bad_entry(zip, entry, err, "is encrypted or patched");
	if (entry->method != WTI_ZIP_STORED && entry->method != WTI_ZIP_DEFLATED)
		return bad_entry(zip, entry, err, "is compressed in an unknown way");
	if (entry->method == WTI_ZIP_STORED && entry->packed != entry->bytes)
		return bad_entry(zip, entry, err, "is stored with two different sizes");
	return 0;
}

static int read_entry(struct wti_zip *zip, const struct directory *directory, struct wti_bytes *in,
		      struct wt_err *err)
{
	uint64_t at = directory->end - wti_bytes_left(in);
	const uint8_t *fixed = wti_bytes_take(in, CENTRAL_BYTES);
	struct wti_zip_entry entry = {0};
	struct wti_bytes name, extra;

	if (!fixed || wti_get32(fixed) != CENTRAL_MARK)
		return bad(zip, at, err, "an entry of the directory is damaged");
	entry.flags = wti_get16(fixed + 8);
	entry.method = wti_get16(fixed + 10);
	entry.crc = wti_get32(fixed + 16);
	entry.packed = wti_get32(fixed + 20);
	entry.bytes = wti_get32(fixed + 24);
	entry.header = wti_get32(fixed + 42);
	name = wti_bytes_part(in, wti_get16(fixed + 28));
	extra = wti_bytes_part(in, wti_get16(fixed + 30));
	wti_bytes_take(in, wti_get16(fixed + 32));
	if (in->bad || !widen(extra, &entry.bytes, &entry.packed, &entry.header) ||
	    wti_get16(fixed + 34))
		return bad(zip, at, err, "an entry of the directory is damaged");
	return keep(zip, &entry, name.at, wti_bytes_left(&name), err);
}

static int read_directory(struct wti_zip *zip, const struct directory *directory,
			  struct wt_err *err)
{
	struct wti_buf text;
	struct wti_bytes in;
	int r;

	if (directory->bytes > directory->end ||
	    directory->offset != directory->end - directory->bytes)
		return bad(zip, directory->end, err, "the directory is not where the end says");
	if (directory->count > ENTRIES_MAX || directory->bytes > DIRECTORY_MAX)
		return bad(zip, directory->offset, err, "it has too many entries");
	wti_buf_init(&text, DIRECTORY_MAX);
	r = wti_model_read_buf(zip->model, zip->source, directory->offset, directory->bytes, &text,
			       err);
	in = (struct wti_bytes){text.data, text.data + text.bytes, false};
	for (uint64_t i = 0; !r && i < directory->count; i++)
		r = read_entry(zip, directory, &in, err);
	if (!r && wti_bytes_left(&in))
		r = bad(zip, directory->end - wti_bytes_left(&in), err,
			"the directory has more entries than the end says");
	wti_buf_release(&text);
	return r;
}

/* ---- Local headers -------------------------------------------------------------------------- */

static int check_local(struct wti_zip *zip, struct wti_zip_entry *entry, struct wt_err *err)
{
	uint8_t fixed[LOCAL_BYTES];
	uint64_t bytes, packed;
	struct wti_buf rest;
	size_t name_bytes;
	int r = wti_model_read(zip->model, zip->source, entry->header, fixed, sizeof(fixed), err);

	if (r)
		return r;
	name_bytes = wti_get16(fixed + 26);
	packed = wti_get32(fixed + 18);
	bytes = wti_get32(fixed + 22);
	if (wti_get32(fixed) != LOCAL_MARK || wti_get16(fixed + 6) != entry->flags ||
	    wti_get16(fixed + 8) != entry->method || name_bytes != strlen(entry->name))
		return bad_entry(zip, entry, err, "differs from what the directory says");
	wti_buf_init(&rest, 2 * (size_t)UINT16_MAX);
	r = wti_model_read_buf(zip->model, zip->source, entry->header + LOCAL_BYTES,
			       name_bytes + wti_get16(fixed + 28), &rest, err);
	if (!r && (memcmp(rest.data, entry->name, name_bytes) ||
		   !widen((struct wti_bytes){rest.data + name_bytes, rest.data + rest.bytes, false},
			  &bytes, &packed, NULL)))
		r = bad_entry(zip, entry, err, "differs from what the directory says");
	entry->offset = entry->header + LOCAL_BYTES + rest.bytes;
	wti_buf_release(&rest);
	/* With a descriptor both may be 0 here, and stand behind the data. */
	if (!r && !(entry->flags & FLAG_DESCRIPTOR && !bytes && !packed) &&
	    (bytes != entry->bytes || packed != entry->packed ||
	     (wti_get32(fixed + 14) != entry->crc && !(entry->flags & FLAG_DESCRIPTOR))))
		r = bad_entry(zip, entry, err, "differs from what the directory says");
	return r;
}

/* What lies between the data of an entry and the next thing: nothing, or its descriptor. */
static int check_descriptor(struct wti_zip *zip, const struct wti_zip_entry *entry, uint64_t next,
			    struct wt_err *err)
{
	uint8_t found[DESCRIPTOR_MAX];
	uint64_t bytes = next - (entry->offset + entry->packed);
	struct wti_bytes in = {0};
	bool is_wide = bytes == 20 || bytes == 24;
	int r;

	if (!bytes && !(entry->flags & FLAG_DESCRIPTOR))
		return 0;
	if (!(entry->flags & FLAG_DESCRIPTOR) || (bytes != 12 && bytes != 16 && !is_wide))
		return bad_entry(zip, entry, err, "is followed by bytes that belong to nothing");
	r = wti_model_read(zip->model, zip->source, next - bytes, found, (size_t)bytes, err);
	if (r)
		return r;
	in = (struct wti_bytes){found, found + bytes, false};
	if ((bytes == 16 || bytes == 24) && wti_bytes_u32(&in) != DESCRIPTOR_MARK)
		return bad_entry(zip, entry, err, "is followed by bytes that belong to nothing");
	if (wti_bytes_u32(&in) != entry->crc ||
	    (is_wide ? wti_bytes_u64(&in) : wti_bytes_u32(&in)) != entry->packed ||
	    (is_wide ? wti_bytes_u64(&in) : wti_bytes_u32(&in)) != entry->bytes)
		return bad_entry(zip, entry, err, "has sizes that differ from the directory's");
	return 0;
}

static int by_header(const void *a, const void *b)
{
	const struct wti_zip_entry *one = *(const struct wti_zip_entry *const *)a;
	const struct wti_zip_entry *other = *(const struct wti_zip_entry *const *)b;

	return one->header < other->header ? -1 : one->header > other->header;
}

/* From the first byte to the directory, all is entries, and each byte belongs to one. */
static int check_all(struct wti_zip *zip, const struct directory *directory, struct wt_err *err)
{
	struct wti_zip_entry **sorted = calloc(zip->count + 1, sizeof(*sorted));
	uint64_t at = 0;
	int r = 0;

	if (!sorted)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < zip->count; i++)
		sorted[i] = &zip->entries[i];
	qsort(sorted, zip->count, sizeof(*sorted), by_header);
	if (zip->count ? sorted[0]->header : directory->offset)
		r = bad(zip, 0, err, "bytes before the first entry belong to nothing");
	for (size_t i = 0; !r && i < zip->count; i++) {
		struct wti_zip_entry *entry = sorted[i];

		at = i + 1 < zip->count ? sorted[i + 1]->header : directory->offset;
		r = check_kind(zip, entry, err);
		r = r ? r : check_local(zip, entry, err);
		if (!r && (entry->offset > at || entry->packed > at - entry->offset))
			r = bad_entry(zip, entry, err, "overlaps the next one");
		r = r ? r : check_descriptor(zip, entry, at, err);
	}
	free(sorted);
	return r;
}

/* ---- Opening -------------------------------------------------------------------------------- */

int wti_zip_open(struct wti_model *model, uint32_t source, struct wti_zip **ret, struct wt_err *err)
{
	struct wti_zip *zip = calloc(1, sizeof(*zip));
	struct directory directory;
	int r;

	if (!zip)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	zip->model = model;
	zip->source = source;
	wti_map_init(&zip->names, ENTRIES_MAX);
	r = read_end(zip, &directory, err);
	r = r ? r : read_directory(zip, &directory, err);
	r = r ? r : check_all(zip, &directory, err);
	if (r) {
		wti_zip_free(zip);
		return r;
	}
	*ret = zip;
	return 0;
}

void wti_zip_free(struct wti_zip *zip)
{
	if (!zip)
		return;
	free(zip->entries);
	wti_map_release(&zip->names);
	free(zip);
}

const struct wti_zip_entry *wti_zip_find(const struct wti_zip *zip, const char *name)
{
	const uint64_t *slot = wti_map_find_text(&zip->names, name, strlen(name));

	return slot ? &zip->entries[*slot - 1] : NULL;
}
