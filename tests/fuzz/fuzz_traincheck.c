/* SPDX-License-Identifier: Apache-2.0 */
/* Files of TrainCheck's: invariants that are taken can be written as a pack; traces end somewhere.
 */
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "convert/traincheck.h"
#include "fuzz.h"

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
	return remove(path);
}

/* What was taken is a pack that can be read. */
static void try_pack(const struct wti_pack *pack)
{
	struct wt_err err = {.offset = -1};
	struct wti_pack *again = NULL;
	struct wti_buf out;
	int r;

	wti_buf_init(&out, (size_t)1 << 26);
	wti_pack_write(&out, pack);
	r = wti_pack_read("pack", (const char *)out.data, out.bytes, &again, &err);
	PROMISE(!r && again->count == pack->count);
	wti_pack_free(again);
	wti_buf_release(&out);
}

static void try_invariants(const char *text, size_t bytes)
{
	struct wti_traincheck_count count = {0};
	struct wt_err err = {.offset = -1};
	struct wti_pack *pack;
	struct wti_buf out;
	int r;

	PROMISE(!wti_pack_new(&pack, &err));
	r = wti_traincheck_read("input", text, bytes, pack, &count, &err);
	PROMISE(!r || err.message[0]);
	wti_pack_settle(pack);
	wti_buf_init(&out, (size_t)1 << 26);
	PROMISE(wti_traincheck_write(&out, pack) <= pack->count);
	wti_buf_release(&out);
	try_pack(pack);
	wti_pack_free(pack);
}

static void try_trace(const char *text, size_t bytes)
{
	char folder[] = "/tmp/wheeltap-fuzz-XXXXXX";
	struct wti_traincheck_import *import;
	struct wt_err err = {.offset = -1};
	uint64_t count;
	int r;

	PROMISE(mkdtemp(folder));
	PROMISE(!wti_traincheck_begin(folder, &import, &err));
	r = wti_traincheck_add(import, "input", text, bytes, &err);
	PROMISE(!r || err.message[0]);
	PROMISE(!wti_traincheck_finish(import, &count, &err));
	wti_traincheck_free(import);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wti_traincheck_is_trace((const char *)data, bytes);
	try_invariants((const char *)data, bytes);
	try_trace((const char *)data, bytes);
	return 0;
}
