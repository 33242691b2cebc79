/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and partial results: what is taken is written as it was read; what is not has a place. */
#include <string.h>

#include "fuzz.h"
#include "inspect/learn/pack.h"
#include "inspect/learn/partial.h"

static void try_pack(const char *text, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_pack *pack, *again;
	struct wti_buf out;
	int r = wti_pack_read("input", text, bytes, &pack, &err);

	if (r) {
		PROMISE(err.message[0] && err.code == r);
		return;
	}
	wti_buf_init(&out, (size_t)1 << 26);
	wti_pack_write(&out, pack);
	PROMISE(!wti_buf_status(&out));
	PROMISE(!wti_pack_read("output", (const char *)out.data, out.bytes, &again, &err));
	PROMISE(again->count == pack->count);
	wti_buf_release(&out);
	wti_pack_free(again);
	wti_pack_free(pack);
}

static void try_partial(const char *text, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_symbols symbols;
	struct wti_tables tables;
	int r;

	wti_symbols_init(&symbols);
	PROMISE(!wti_tables_init(&tables, &symbols, &err));
	r = wti_partial_read("input", text, bytes, &tables, &err);
	PROMISE(!r || err.message[0]);
	wti_tables_release(&tables);
	wti_symbols_release(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	try_pack((const char *)data, bytes);
	try_partial((const char *)data, bytes);
	return 0;
}
