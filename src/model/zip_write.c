/* SPDX-License-Identifier: Apache-2.0 */
/* Zip files as APPNOTE 6.3 has them, with the wide sizes where they are needed. */
#include "model/zip_write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"

enum {
	LOCAL_BYTES = 30,
	CRC_OFFSET = 14, /* in the local header */
	ALIGNMENT = 64,
	WIDE_EXTRA = 0x0001,
	PADDING_EXTRA = 0x4246, /* "FB", as torch has it */
	VERSION_PLAIN = 20,
	VERSION_WIDE = 45,
	DATE_1980 = 0x21, /* the same bytes whenever they are written */
};

#define NARROW_MAX 0xffffffffull
#define DIRECTORY_MAX ((size_t)256 << 20)

struct entry {
	const char *name;
	uint64_t header;
	uint64_t bytes;
	uint32_t crc;
};

void wti_zip_writer_init(struct wti_zip_writer *writer, int fd)
{
	*writer = (struct wti_zip_writer){.fd = fd};
	wti_buf_init(&writer->directory, DIRECTORY_MAX);
}

void wti_zip_writer_release(struct wti_zip_writer *writer)
{
	wti_buf_release(&writer->directory);
}

static void put16(struct wti_buf *out, uint32_t number)
{
	uint8_t bytes[2];

	wti_put16(bytes, (uint16_t)number);
	wti_buf_append(out, bytes, sizeof(bytes));
}

static void put32(struct wti_buf *out, uint64_t number)
{
	uint8_t bytes[4];

	wti_put32(bytes, number > NARROW_MAX ? (uint32_t)NARROW_MAX : (uint32_t)number);
	wti_buf_append(out, bytes, sizeof(bytes));
}

static void put64(struct wti_buf *out, uint64_t number)
{
	uint8_t bytes[8];

	wti_put64(bytes, number);
	wti_buf_append(out, bytes, sizeof(bytes));
}

static int put_bytes(int fd, const void *data, size_t bytes, struct wt_err *err)
{
	int r = wti_write_all(fd, data, bytes);

	if (!r)
		return 0;
	errno = -r;
	return wti_err_errno(err, "cannot write", "the model");
}

static int out_of_memory(struct wt_err *err)
{
	return wti_err(err, WT_E_NOMEM, "out of memory, or more entries than a zip file may have");
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* What both headers of an entry have in common. */
static void put_common(struct wti_buf *out, const struct entry *entry, size_t extra_bytes)
{
	put16(out, entry->bytes >= NARROW_MAX || entry->header >= NARROW_MAX ? VERSION_WIDE
									     : VERSION_PLAIN);
	put16(out, 0); /* flags */
	put16(out, 0); /* stored */
	put16(out, 0); /* time */
	put16(out, DATE_1980);
	put32(out, entry->crc);
	put32(out, entry->bytes);
	put32(out, entry->bytes);
	put16(out, (uint32_t)strlen(entry->name));
	put16(out, (uint32_t)extra_bytes);
}

static int put_local(struct wti_zip_writer *writer, const struct entry *entry, struct wt_err *err)
{
	size_t wide = entry->bytes >= NARROW_MAX ? 20 : 0;
	uint64_t end = writer->at + LOCAL_BYTES + strlen(entry->name) + wide + 4;
	size_t padding = (size_t)(-end % ALIGNMENT);
	struct wti_buf out;
	int r;

	wti_buf_init(&out, 65536 * 2);
	put32(&out, 0x04034b50);
	put_common(&out, entry, wide + 4 + padding);
	wti_buf_text(&out, entry->name);
	if (wide) {
		put16(&out, WIDE_EXTRA);
		put16(&out, 16);
		put64(&out, entry->bytes);
		put64(&out, entry->bytes);
	}
	put16(&out, PADDING_EXTRA);
	put16(&out, (uint32_t)padding);
	for (size_t i = 0; i < padding; i++)
		wti_buf_byte(&out, 'Z');
	r = wti_buf_status(&out) ? out_of_memory(err)
				 : put_bytes(writer->fd, out.data, out.bytes, err);
	writer->at += out.bytes;
	wti_buf_release(&out);
	return r;
}

static int put_central(struct wti_zip_writer *writer, const struct entry *entry, struct wt_err *err)
{
	struct wti_buf *out = &writer->directory;
	size_t sizes = entry->bytes >= NARROW_MAX ? 16 : 0;
	size_t place = entry->header >= NARROW_MAX ? 8 : 0;

	put32(out, 0x02014b50);
	put16(out, VERSION_WIDE);
	put_common(out, entry, sizes + place ? sizes + place + 4 : 0);
	put16(out, 0); /* comment */
	put16(out, 0); /* disk */
	put16(out, 0); /* attributes */
	put32(out, 0);
	put32(out, entry->header);
	wti_buf_text(out, entry->name);
	if (sizes + place) {
		put16(out, WIDE_EXTRA);
		put16(out, (uint32_t)(sizes + place));
	}
	if (sizes) {
		put64(out, entry->bytes);
		put64(out, entry->bytes);
	}
	if (place)
		put64(out, entry->header);
	writer->count++;
	return wti_buf_status(out) ? out_of_memory(err) : 0;
}

int wti_zip_put(struct wti_zip_writer *writer, const char *name, const void *data, size_t bytes,
		struct wt_err *err)
{
	struct entry entry = {name, writer->at, bytes, 0};
	int r;

	entry.crc = (uint32_t)crc32_z(0, data, bytes);
	r = put_local(writer, &entry, err);
	r = r ? r : put_bytes(writer->fd, data, bytes, err);
	writer->at += bytes;
	return r ? r : put_central(writer, &entry, err);
}

struct putting {
	struct wti_zip_writer *writer;
	uint32_t crc;
	struct wt_err *err;
};

static int put_block(void *cookie, const void *data, size_t bytes)
{
	struct putting *putting = cookie;

	putting->crc = (uint32_t)crc32_z(putting->crc, data, bytes);
	putting->writer->at += bytes;
	return put_bytes(putting->writer->fd, data, bytes, putting->err);
}

int wti_zip_put_tensor(struct wti_zip_writer *writer, const char *name, const struct wti_buf *head,
		       struct wti_model *model, const struct wti_model_tensor *tensor,
		       struct wt_err *err)
{
	struct entry entry = {name, writer->at, (head ? head->bytes : 0) + tensor->bytes, 0};
	struct putting putting = {writer, 0, err};
	int r = put_local(writer, &entry, err);

	r = r || !head ? r : put_block(&putting, head->data, head->bytes);
	r = r ? r : wti_model_walk(model, tensor, put_block, &putting, err);
	if (r)
		return r;
	entry.crc = putting.crc;
	if (pwrite(writer->fd, &entry.crc, sizeof(entry.crc), (off_t)(entry.header + CRC_OFFSET)) !=
	    (ssize_t)sizeof(entry.crc))
		return wti_err_errno(err, "cannot write", "the model");
	return put_central(writer, &entry, err);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* For more than 65,535 entries or 4 GB: the numbers in full, and where they are. */
static void put_wide_end(struct wti_buf *out, const struct wti_zip_writer *writer, size_t bytes)
{
	put32(out, 0x06064b50);
	put64(out, 44);
	put16(out, VERSION_WIDE);
	put16(out, VERSION_WIDE);
	put32(out, 0);
	put32(out, 0);
	put64(out, writer->count);
	put64(out, writer->count);
	put64(out, bytes);
	put64(out, writer->at);
	put32(out, 0x07064b50);
	put32(out, 0);
	put64(out, writer->at + bytes);
	put32(out, 1);
}

int wti_zip_finish(struct wti_zip_writer *writer, struct wt_err *err)
{
	struct wti_buf *out = &writer->directory;
	size_t bytes = out->bytes;
	uint32_t count = writer->count >= 0xffff ? 0xffff : (uint32_t)writer->count;

	if (count == 0xffff || writer->at + bytes >= NARROW_MAX)
		put_wide_end(out, writer, bytes);
	put32(out, 0x06054b50);
	put32(out, 0); /* disks */
	put16(out, count);
	put16(out, count);
	put32(out, bytes);
	put32(out, writer->at);
	put16(out, 0);
	if (wti_buf_status(out))
		return out_of_memory(err);
	return put_bytes(writer->fd, out->data, out->bytes, err);
}
