/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts are kept, and where a text is cut. */
#include <string.h>

#include "common/private.h"
#include "test.h"

static const char *const kept[] = {
	"",
	"train",
	"eval",
	"float32",
	"torch.bfloat16",
	"cuda:0",
	"-3.5e-4",
	"nan",
	"0x1f",
	"50%",
	"12.5ms",
	"lr=0.01",
	"epoch 3 loss 0.25 acc 0.9",
	"step 100 done",
	"shape (64, 3, 224, 224)",
	"/data/run-1/model.safetensors",
	"./out/checkpoint_10.bin",
	"AdamW(lr=0.001, eps=1e-8)",
};

static const char *const hidden[] = {
	"my dog is called Rex",
	"please summarise this text",
	"user@example.org wrote to me",
	"na\xc3\xafve",
	"password=1",
	"sk-abcdefghijklmnop0123",
	"q7Zx9KfLw2Rt8VbNm4Yp",
	"line\nbreak",
	"what? why! how;",
	"\"quoted\"",
};

static void test_kept(void)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!wti_private_may_keep(kept[i], strlen(kept[i])))
			test_fail(__FILE__, __LINE__, "not kept: '%s'", kept[i]);
}

static void test_hidden(void)
{
	char text[300];

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (wti_private_may_keep(hidden[i], strlen(hidden[i])))
			test_fail(__FILE__, __LINE__, "kept: '%s'", hidden[i]);
	memset(text, '7', sizeof(text));
	CHECK(!wti_private_may_keep(text, sizeof(text)));
}

static void test_describe(void)
{
	char a[WTI_PRIVATE_BYTES], b[WTI_PRIVATE_BYTES];

	size_t bytes = wti_private_describe("some text", 9, a);

	CHECK_INT((int64_t)bytes, (int64_t)strlen(a));
	CHECK(strncmp(a, "<9 bytes, hash ", 15) == 0);
	wti_private_describe("some texu", 9, b);
	CHECK(strcmp(a, b) != 0);
}

static void test_cut(void)
{
	static const char euro[] = "ab\xe2\x82\xac";

	CHECK_INT((int64_t)wti_text_cut(euro, 5, 5), 5);
	CHECK_INT((int64_t)wti_text_cut(euro, 5, 4), 2);
	CHECK_INT((int64_t)wti_text_cut(euro, 5, 3), 2);
	CHECK_INT((int64_t)wti_text_cut(euro, 5, 2), 2);
	CHECK_INT((int64_t)wti_text_cut("\x80\x80\x80\x80\x80", 5, 4), 4); /* no UTF-8 at all */
	CHECK_INT((int64_t)wti_text_cut("", 0, 4), 0);
}

static const struct test tests[] = {
	{"kept", test_kept},
	{"hidden", test_hidden},
	{"describe", test_describe},
	{"cut", test_cut},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
