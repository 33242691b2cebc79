/* SPDX-License-Identifier: Apache-2.0 */
/* The base without memory and with a bad disk. */
#include "each.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/map.h"
#include "base/steady.h"
#include "base/toml.h"

static char folder[] = "/tmp/wheeltap-test-XXXXXX";
static char path[64];

/* ---- Memory ---- */

static int use_buf(uint64_t *ret_found)
{
	struct wti_buf buf;
	int status;

	wti_buf_init(&buf, 1 << 20);
	for (int i = 0; i < 500; i++)
		wti_buf_printf(&buf, "%d %s\n", i, "a few words to make it grow");
	status = wti_buf_status(&buf);
	*ret_found = buf.bytes;
	wti_buf_release(&buf);
	return status;
}

static int use_json(uint64_t *ret_found)
{
	struct wti_json json;
	struct wti_buf buf;
	int status;

	wti_buf_init(&buf, 1 << 20);
	wti_json_init(&json, &buf, true);
	wti_json_array(&json);
	for (int i = 0; i < 100; i++) {
		wti_json_object(&json);
		wti_json_key(&json, "key\n");
		wti_json_f64(&json, i / 3.0);
		wti_json_object_end(&json);
	}
	wti_json_array_end(&json);
	status = wti_buf_status(&buf);
	*ret_found = buf.bytes;
	wti_buf_release(&buf);
	return status;
}

static int use_arena(uint64_t *ret_found)
{
	struct wti_arena arena;
	int status = 0;

	wti_arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < 300 && !status; i++)
		status = wti_arena_alloc(&arena, i) ? 0 : WT_E_NOMEM;
	*ret_found = arena.bytes;
	wti_arena_release(&arena);
	return status;
}

/* A failed insertion changes nothing: the next one is as good as new. */
static int use_map(uint64_t *ret_found)
{
	struct wti_map map;
	int status = 0;

	wti_map_init(&map, 1000);
	for (uint64_t i = 0; i < 100; i++) {
		if (!wti_map_number(&map, i) || !wti_map_text(&map, (char *)&i, sizeof(i)))
			status = WT_E_NOMEM;
		for (size_t j = 0; j < map.count; j++) {
			struct wti_map_entry *entry = &map.entries[j];
			const uint64_t *value =
				entry->text ? wti_map_find_text(&map, entry->text, entry->bytes)
					    : wti_map_find_number(&map, entry->key);

			if (value != &entry->value)
				status = WT_E_FORMAT;
		}
	}
	*ret_found = map.count;
	wti_map_release(&map);
	return status;
}

/* The same of an array: what is in it stays, and stays where it is. */
static int use_grow(uint64_t *ret_found)
{
	size_t *items = NULL, capacity = 0, count = 0;
	int status = 0;

	for (int i = 0; i < 100; i++) {
		size_t *items_before = items, capacity_before = capacity;
		int r = wti_grow_zeroed(&items, count + 1, &capacity, 1000);

		if (r)
			status = items == items_before && capacity == capacity_before ? r
										      : WT_E_FORMAT;
		else if (items[count])
			status = WT_E_FORMAT;
		else
			items[count++] = (size_t)i + 1;
	}
	for (size_t i = 1; i < count; i++)
		if (items[i] <= items[i - 1])
			status = WT_E_FORMAT;
	*ret_found = count;
	free(items);
	return status;
}

static int use_steady(uint64_t *ret_found)
{
	struct wti_steady array;
	int status = 0;

	wti_steady_init(&array, sizeof(uint64_t), 1000);
	for (uint64_t i = 0; i < 300 && !status; i++) {
		uint64_t *item = wti_steady_add(&array);

		status = item ? 0 : array.status;
		if (item)
			*item = i;
	}
	*ret_found = array.count;
	wti_steady_release(&array);
	return status;
}

static int use_toml(uint64_t *ret_found)
{
	static const char text[] =
		"title = \"a string\"\n[table.sub]\nlist = [1, [2.5, {x = true}]]\n"
		"[[array]]\n'quoted key'.dotted = '''\nlines\n'''\n[[array]]\n";
	struct wti_doc *root = NULL;
	struct wt_err err;
	int status = wti_toml_parse("t", text, sizeof(text) - 1, &root, &err);

	if (status && root)
		return WT_E_FORMAT; /* untouched on failure */
	*ret_found = !status;
	wti_doc_free(root);
	return status;
}

static int use_toml_load(uint64_t *ret_found)
{
	struct wti_doc *root = NULL;
	int status = wti_toml_load(path, &root, NULL);

	*ret_found = !status;
	wti_doc_free(root);
	return status;
}

static int use_file_read(uint64_t *ret_found)
{
	struct wti_buf buf;
	int status;

	wti_buf_init(&buf, 1 << 20);
	status = wti_file_read(path, 1 << 20, &buf, NULL);
	*ret_found = buf.bytes;
	wti_buf_release(&buf);
	return status;
}

static void test_buf(void)
{
	each_allocation_both(use_buf);
}

static void test_json(void)
{
	each_allocation_both(use_json);
}

static void test_arena(void)
{
	each_allocation_both(use_arena);
}

static void test_map(void)
{
	each_allocation_both(use_map);
}

static void test_grow(void)
{
	each_allocation_both(use_grow);
}

static void test_steady(void)
{
	each_allocation_both(use_steady);
}

static void test_toml(void)
{
	each_allocation_both(use_toml);
	each_allocation_both(use_toml_load);
}

static void test_file_read(void)
{
	each_allocation_both(use_file_read);
}

/* ---- The disk ---- */

static bool holds(const char *file, const char *text)
{
	struct wti_buf buf;
	bool same;

	wti_buf_init(&buf, 1 << 20);
	same = !wti_file_read(file, 1 << 20, &buf, NULL) && !strcmp(wti_buf_cstr(&buf), text);
	wti_buf_release(&buf);
	return same;
}

static size_t files_in_folder(void)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* Whatever fails, the file is the old or the new one, and nothing else is left in the folder. */
static void test_replace(void)
{
	static const int errors[] = {ENOSPC, EIO, EDQUOT};
	char file[64];
	unsigned failures = 0;

	snprintf(file, sizeof(file), "%s/replaced", folder);
	for (size_t i = 0; i < 3; i++) {
		for (uint64_t nth = 1;; nth++) {
			int status;
			bool fired;

			REQUIRE(!wti_file_replace(file, "old", 3, NULL));
			inject_system(nth, errors[i], false);
			status = wti_file_replace(file, "new", 3, NULL);
			fired = inject_stop();
			CHECK_INT(status, fired ? WT_E_IO : 0);
			CHECK(holds(file, fired ? "old" : "new"));
			CHECK_INT(files_in_folder(), 2);
			failures += fired;
			if (!fired)
				break;
		}
	}
	CHECK_INT(failures, 3 * 5); /* mkostemp, write, fsync, close, rename */
	unlink(file);
}

static void test_short_writes(void)
{
	char data[1000];
	char back[sizeof(data)];
	int fd = open(folder, O_TMPFILE | O_RDWR, 0600);

	if (fd < 0)
		SKIP("no O_TMPFILE here");
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31);
	inject_short_writes();
	CHECK_INT(wti_write_all(fd, data, sizeof(data)), 0);
	CHECK(inject_stop());
	CHECK_INT(wti_pread_all(fd, back, sizeof(back), 0), sizeof(back));
	CHECK_BYTES(back, data, sizeof(data));
	inject_system(1, ENOSPC, true);
	CHECK_INT(wti_write_all(fd, data, sizeof(data)), -ENOSPC);
	inject_stop();
	close(fd);
}

static const struct test tests[] = {
	{"buf", test_buf},
	{"json", test_json},
	{"arena", test_arena},
	{"map", test_map},
	{"grow", test_grow},
	{"steady", test_steady},
	{"toml", test_toml},
	{"file_read", test_file_read},
	{"replace", test_replace},
	{"short_writes", test_short_writes},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	static const char toml[] = "a = 1.5\nb = ['x', \"y\"]\n";
	int status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/file.toml", folder);
	if (wti_file_replace(path, toml, sizeof(toml) - 1, NULL))
		return 1;
	status = test_main(tests, argc, argv);
	unlink(path);
	rmdir(folder);
	return status;
}
