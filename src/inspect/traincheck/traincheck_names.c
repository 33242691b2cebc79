/* SPDX-License-Identifier: Apache-2.0 */
/* What TrainCheck calls functions, and what we do. */
#include "traincheck_names.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512

/* Names of classes begin with a capital: "torch.optim.adam" and "Adam.step". */
static const char *callee_of(const char *path)
{
	const char *last = strrchr(path, '.');
	const char *at = path;

	while (at) {
		if (*at >= 'A' && *at <= 'Z')
			return at;
		at = strchr(at, '.');
		at = at ? at + 1 : NULL;
	}
	return last ? last + 1 : path;
}

void wti_traincheck_split(const char *path, char *module, char *callee, size_t bytes)
{
	const char *at = callee_of(path);

	snprintf(module, bytes, "%.*s", at > path ? (int)(at - path - 1) : 0, path);
	snprintf(callee, bytes, "%s", at);
	if (!strncmp(at, "TensorBase.", 11) || !strncmp(at, "_TensorBase.", 12))
		snprintf(callee, bytes, "Tensor%s", strchr(at, '.'));
	if (!strcmp(module, "torch._C") || !strcmp(module, "torch._tensor"))
		snprintf(module, bytes, "torch");
}

void wti_traincheck_canonical(char *out, size_t bytes, const char *path)
{
	char module[PATH_BYTES], callee[PATH_BYTES];

	wti_traincheck_split(path, module, callee, sizeof(module));
	snprintf(out, bytes, "%s%s%s", module, *module ? "." : "", callee);
}

void wti_traincheck_path(char *out, size_t bytes, const char *function)
{
	static const char *const roles[][2] = {
		{"Optimizer.", "torch.optim.optimizer.Optimizer."},
		{"Scheduler.", "torch.optim.lr_scheduler.LRScheduler."},
		{"Module.", "torch.nn.modules.module.Module."},
		{"Scaler.", "torch.cuda.amp.grad_scaler.GradScaler."},
		{"Loader.", "torch.utils.data.dataloader.DataLoader."},
		{"torch.Tensor.", "torch._tensor.Tensor."},
		{"nn.", "torch.nn.functional."},
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strncmp(function, roles[i][0], strlen(roles[i][0]))) {
			snprintf(out, bytes, "%s%s", roles[i][1], function + strlen(roles[i][0]));
			return;
		}
	snprintf(out, bytes, "%s", function);
}

static const char *const dtypes[][2] = {
	{"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"},   {"bfloat16", "bf16"},
	{"int64", "i64"},   {"int32", "i32"},   {"int16", "i16"},     {"int8", "i8"},
	{"uint8", "u8"},    {"bool", "bool"},   {"complex64", "c64"},
};

#define DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

const char *wti_traincheck_dtype(const char *theirs)
{
	const char *name = strncmp(theirs, "torch.", 6) ? theirs : theirs + 6;

	for (size_t i = 0; i < DTYPES; i++)
		if (!strcmp(dtypes[i][0], name))
			return dtypes[i][1];
	return name;
}

const char *wti_traincheck_torch_dtype(const char *ours)
{
	for (size_t i = 0; i < DTYPES; i++)
		if (!strcmp(dtypes[i][1], ours))
			return dtypes[i][0];
	return ours;
}

const char *wti_traincheck_stage(const char *theirs)
{
	if (!strcmp(theirs, "training"))
		return "train";
	if (!strcmp(theirs, "testing") || !strcmp(theirs, "evaluation"))
		return "eval";
	return strcmp(theirs, "checkpointing") ? theirs : "save";
}
