/* SPDX-License-Identifier: Apache-2.0 */
/* Zip files made here, byte by byte, and each check of the reader with a file that breaks it. */
#include "test.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/bytes.h"
#include "model/format.h"
#include "model/zip.h"

enum { DESCRIPTOR = 8, CEILING = 1 << 20 };

/* One entry "a" with `content`, then the directory. What is to be wrong is changed afterwards. */
struct made {
	uint8_t bytes[1024];
	size_t count;
	size_t data, next, directory, end;
};

static void put(struct made *made, const void *data, size_t bytes)
{
	memcpy(made->bytes + made->count, data, bytes);
	made->count += bytes;
}

static void put16(struct made *made, uint16_t value)
{
	put(made, &value, 2);
}

static void put32(struct made *made, uint32_t value)
{
	put(made, &value, 4);
}

struct content {
	const char *name;
	const uint8_t *data;
	uint32_t packed, bytes, crc;
	uint16_t method, flags;
};

static void put_sizes(struct made *made, const struct content *content, bool is_local)
{
	put16(made, 20);
	put16(made, content->flags);
	put16(made, content->method);
	put32(made, 0);
	put32(made, is_local && content->flags & DESCRIPTOR ? 0 : content->crc);
	put32(made, is_local && content->flags & DESCRIPTOR ? 0 : content->packed);
	put32(made, is_local && content->flags & DESCRIPTOR ? 0 : content->bytes);
	put16(made, (uint16_t)strlen(content->name));
	put16(made, 0);
}

static void make(struct made *made, const struct content *contents, size_t count)
{
	size_t headers[4];

	memset(made, 0, sizeof(*made));
	for (size_t i = 0; i < count; i++) {
		headers[i] = made->count;
		put32(made, 0x04034b50);
		put_sizes(made, &contents[i], true);
		put(made, contents[i].name, strlen(contents[i].name));
		made->data = made->count;
		put(made, contents[i].data, contents[i].packed);
		if (contents[i].flags & DESCRIPTOR) {
			put32(made, 0x08074b50);
			put32(made, contents[i].crc);
			put32(made, contents[i].packed);
			put32(made, contents[i].bytes);
		}
	}
	made->directory = made->count;
	for (size_t i = 0; i < count; i++) {
		put32(made, 0x02014b50);
		put16(made, 20);
		put_sizes(made, &contents[i], false);
		put16(made, 0);
		put16(made, 0);
		put16(made, 0);
		put32(made, 0);
		put32(made, (uint32_t)headers[i]);
		put(made, contents[i].name, strlen(contents[i].name));
	}
	made->end = made->count;
	put32(made, 0x06054b50);
	put32(made, 0);
	put16(made, (uint16_t)count);
	put16(made, (uint16_t)count);
	put32(made, (uint32_t)(made->end - made->directory));
	put32(made, (uint32_t)made->directory);
	put16(made, 0);
}

static struct content stored(const char *name, const char *text)
{
	uint32_t bytes = (uint32_t)strlen(text);

	return (struct content){.name = name,
				.data = (const uint8_t *)text,
				.packed = bytes,
				.bytes = bytes,
				.crc = (uint32_t)crc32(0, (const uint8_t *)text, bytes)};
}

static struct wti_model *model;
static struct wti_zip *zip;
static struct wt_err err;

static int open_made(const struct made *made)
{
	struct wti_buf buf;
	uint32_t source;

	wti_zip_free(zip);
	wti_model_free(model);
	zip = NULL;
	model = NULL;
	err = (struct wt_err){0};
	wti_buf_init(&buf, CEILING);
	wti_buf_append(&buf, made->bytes, made->count);
	CHECK_INT(wti_model_new("made.zip", false, &model, &err), 0);
	CHECK_INT(wti_model_add_memory(model, &buf, &source, &err), 0);
	return wti_zip_open(model, source, &zip, &err);
}

static void reads(const char *name, const char *expected)
{
	const struct wti_zip_entry *entry = wti_zip_find(zip, name);
	struct wti_buf out;

	REQUIRE(entry);
	wti_buf_init(&out, CEILING);
	CHECK_INT(wti_zip_read(zip, entry, &out, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&out), expected);
	wti_buf_release(&out);
}

static void test_good(void)
{
	struct content two[] = {stored("a/data", "hello"), stored("b", "world!")};
	struct made made;

	make(&made, two, 2);
	REQUIRE(!open_made(&made));
	CHECK_INT(zip->count, 2);
	reads("a/data", "hello");
	reads("b", "world!");
	CHECK(!wti_zip_find(zip, "c"));
	CHECK_INT(wti_zip_check(zip, &zip->entries[1], &err), 0);
	two[0].flags = DESCRIPTOR;
	two[1].flags = DESCRIPTOR;
	make(&made, two, 2);
	REQUIRE(!open_made(&made));
	reads("b", "world!");
	make(&made, two, 0);
	CHECK_INT(open_made(&made), 0);
}

static struct content deflated(uint8_t *room, size_t room_bytes)
{
	static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct content content = stored("a", text);
	z_stream stream = {0};

	CHECK_INT(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, 0), Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = content.bytes;
	stream.next_out = room;
	stream.avail_out = (uInt)room_bytes;
	CHECK_INT(deflate(&stream, Z_FINISH), Z_STREAM_END);
	content.data = room;
	content.packed = (uint32_t)stream.total_out;
	content.method = 8;
	deflateEnd(&stream);
	return content;
}

static void fails_to_read(const char *why)
{
	struct wti_buf out;

	wti_buf_init(&out, CEILING);
	CHECK_INT(wti_zip_read(zip, &zip->entries[0], &out, &err), WT_E_FORMAT);
	if (!strstr(err.message, why))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message, why);
	wti_buf_release(&out);
}

static void test_deflated(void)
{
	uint8_t room[100];
	struct content content = deflated(room, sizeof(room));
	struct made made;

	make(&made, &content, 1);
	REQUIRE(!open_made(&made));
	reads("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	content.bytes--;
	make(&made, &content, 1);
	REQUIRE(!open_made(&made));
	fails_to_read("more than it says");
	content.bytes += 2;
	make(&made, &content, 1);
	REQUIRE(!open_made(&made));
	fails_to_read("damaged");
	content.bytes--;
	content.crc++;
	make(&made, &content, 1);
	REQUIRE(!open_made(&made));
	fails_to_read("checksum");
}

static void test_stored_checksum(void)
{
	struct content content = stored("a", "hello");
	struct made made;

	make(&made, &content, 1);
	made.bytes[made.data] ^= 1;
	REQUIRE(!open_made(&made));
	fails_to_read("checksum");
	CHECK_INT(wti_zip_check(zip, &zip->entries[0], &err), WT_E_FORMAT);
}

/* ---- Refused -------------------------------------------------------------------------------- */

static void refused(const struct made *made, const char *why)
{
	CHECK_INT(open_made(made), WT_E_FORMAT);
	if (!strstr(err.message, why))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message, why);
}

static void test_directory(void)
{
	struct content twice[] = {stored("a", "hello"), stored("a", "world")};
	struct made made;

	make(&made, twice, 2);
	refused(&made, "twice");
	make(&made, twice, 1);
	made.bytes[made.end + 10]++;
	refused(&made, "one part of several");
	make(&made, twice, 1);
	made.bytes[made.end + 8]++;
	made.bytes[made.end + 10]++;
	refused(&made, "entry of the directory is damaged");
	make(&made, twice, 1);
	made.bytes[made.end + 8] = made.bytes[made.end + 10] = 0;
	refused(&made, "more entries");
	make(&made, twice, 1);
	made.bytes[made.end + 16]++;
	refused(&made, "not where the end says");
	make(&made, twice, 1);
	made.bytes[made.directory] ^= 1;
	refused(&made, "entry of the directory is damaged");
	make(&made, twice, 1);
	made.bytes[made.directory + 10] = 12;
	refused(&made, "unknown way");
	make(&made, twice, 1);
	made.bytes[made.directory + 8] = 1;
	refused(&made, "encrypted");
	make(&made, twice, 1);
	made.bytes[made.directory + 24]++;
	refused(&made, "two different sizes");
	twice[0].name = "";
	make(&made, twice, 1);
	refused(&made, "no name");
}

static void test_local(void)
{
	struct content content[] = {stored("a", "hello"), stored("b", "world")};
	static const size_t places[] = {0, 6, 8, 14, 18, 22, 26, 30};
	struct made made;

	for (size_t i = 0; i < WTI_COUNT(places); i++) {
		make(&made, content, 2);
		made.bytes[places[i]] ^= 2;
		refused(&made, "differs from what the directory says");
	}
	content[0].flags = DESCRIPTOR;
	make(&made, content, 1);
	made.bytes[made.directory - 12] ^= 1;
	refused(&made, "sizes that differ");
	make(&made, content, 1);
	made.bytes[made.directory - 16] ^= 1;
	refused(&made, "belong to nothing");
}

static void test_hidden_bytes(void)
{
	struct content content = stored("a", "hello");
	struct made made;

	/* Behind the data: the sizes say one byte less than there is. */
	content.bytes = content.packed = 4;
	make(&made, &content, 1);
	memmove(made.bytes + made.directory + 1, made.bytes + made.directory,
		made.count - made.directory);
	made.count++;
	made.bytes[made.end + 1 + 16]++;
	refused(&made, "belong to nothing");
	/* Before the first entry. */
	content = stored("a", "hello");
	make(&made, &content, 1);
	memmove(made.bytes + 1, made.bytes, made.count);
	made.count++;
	made.bytes[made.end + 1 + 16]++;
	made.bytes[made.directory + 1 + 42]++;
	refused(&made, "before the first entry");
	/* Two entries at the same place. */
	struct content two[] = {content, stored("b", "hello")};

	make(&made, two, 2);
	made.bytes[made.directory + 46 + 1 + 42] = 0;
	CHECK_INT(open_made(&made), WT_E_FORMAT);
}

static void test_cut(void)
{
	struct content content = stored("a", "hello");
	struct made made;

	make(&made, &content, 1);
	for (size_t count = made.count; count-- > 0;) {
		made.count = count;
		CHECK_INT(open_made(&made), WT_E_FORMAT);
	}
	wti_zip_free(zip);
	wti_model_free(model);
	zip = NULL;
	model = NULL;
}

static const struct test tests[] = {
	{"good", test_good},
	{"deflated", test_deflated},
	{"stored_checksum", test_stored_checksum},
	{"directory", test_directory},
	{"local", test_local},
	{"hidden_bytes", test_hidden_bytes},
	{"cut", test_cut},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
