/* SPDX-License-Identifier: Apache-2.0 */
/* Pickles: nothing is called, and what is refused has a reason. */
#include "fuzz_model.h"
#include "model/torch/torch.h"

/* Any storage lies in the first bytes. */
static int find(void *cookie, const struct wti_torch_id *id, struct wti_torch_storage *ret,
		struct wt_err *err)
{
	*ret = (struct wti_torch_storage){0, 0, *(uint64_t *)cookie};
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {0};
	struct wti_pickle pickle;
	struct wti_torch torch = {0};
	uint64_t storage = bytes & ~(uint64_t)15;
	int r = wti_pickle_open(&pickle, "input", 0, data, bytes, &err);

	if (r) {
		PROMISE(r < 0 && *err.message);
		return 0;
	}
	PROMISE(pickle.used <= bytes);
	torch = (struct wti_torch){
		.model = fuzz_model(data, bytes, &err), .find = find, .cookie = &storage};
	fuzz_read_all(torch.model, wti_torch_add(&torch, "", pickle.root, &err), &err);
	wti_pickle_release(&pickle);
	return 0;
}
