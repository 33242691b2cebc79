/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of torch.distributed.checkpoint: two bytes of length, `.metadata`, and one file. */
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fuzz_model.h"
#include "model/torch/torch.h"

static char folder[64];

static void remove_folder(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.metadata", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/__0_0.distcp", folder);
	unlink(path);
	rmdir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	PROMISE(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	size_t length;

	if (bytes < 2)
		return 0;
	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/wheeltap-fuzz-XXXXXX");
		PROMISE(mkdtemp(folder));
		atexit(remove_folder);
	}
	length = wti_get16(data);
	if (length > bytes - 2)
		length = bytes - 2;
	write_file(".metadata", data + 2, length);
	write_file("__0_0.distcp", data + 2 + length, bytes - 2 - length);
	PROMISE(!wti_model_new(folder, true, &model, &err));
	fuzz_read_all(model, wti_model_dcp.read(model, &err), &err);
	return 0;
}
