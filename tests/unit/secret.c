/* SPDX-License-Identifier: Apache-2.0 */
/* What must be masked, what must stay, and that any bytes are survived. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

static int failed_count;

static const struct {
	const char *text;
	const char *expected;
} cases[] = {
	{"password=hunter2", "password=*******"},
	{"PASSWORD: hunter2 and on", "PASSWORD: ******* and on"},
	{"{\"db_password\": \"with blanks\", \"a\": 1}",
	 "{\"db_password\": \"********\", \"a\": 1}"},
	{"{\\\"password\\\": \\\"hunter2\\\"}", "{\\\"password\\\": \\\"*******\\\"}"},
	{"--api-key 0123456789 --steps 30", "--api-key ******** --steps 30"},
	{"--token=abcdef", "--token=******"},
	{"the password is swordfish", "the password is ********"},
	{"Authorization: Bearer abc def", "Authorization: Bearer *******"},
	{"curl -H 'Authorization: Basic dXNlcjpwYXNz' host",
	 "curl -H 'Authorization: Basic ********' host"},
	{"bearer 12345678", "bearer ********"},
	{"HF_TOKEN=x1y2", "HF_TOKEN=****"},
	{"apiKey='k'", "apiKey='*'"},
	{"clientSecret: s3", "clientSecret: **"},
	{"AWS_SECRET_ACCESS_KEY=short", "AWS_SECRET_ACCESS_KEY=*****"},
	{"postgres://me:pw@host/db", "postgres://me:**@host/db"},
	{"https://h/p?sig=abc", "https://h/p?sig=***"},
	{"x sk-abcdefghijklmnop0123 y", "x ******** y"},
	{"ghp_0123456789abcdefghij", "********"},
	{"id AKIAIOSFODNN7EXAMPLE.", "id ********"},
	{"xoxb-1234-5678-abcd", "********"},
	{"hf_AbCdEfGhIjKlMnOpQr", "********"},
	{"jwt=eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "jwt=********"},
	{"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEX4mPL3k9", "********"},
	{"key: 9f86d081884c7d659a2feaa0c55ad015", "key: ********"},
	{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
	 "-----BEGIN RSA PRIVATE KEY-----******-----END RSA PRIVATE KEY-----"},
	{"session q7Zx9KfLw2Rt8VbNm4Yp", "session ********"},
};

static const char *const kept[] = {
	"",
	"epoch 3 loss 0.123456789012345678901 lr 1e-4",
	"model.layers.0.self_attn.q_proj.weight",
	"layers_0_self_attn_q_proj_weight",
	"TransformerEncoderLayer2/MultiHeadAttention/forward",
	"_ZN2at6native29vectorized_elementwise_kernelILi4E",
	"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
	"volta_sgemm_128x32_sliced1x4_tn",
	"bn1_conv2d_fc1_relu6_k3x3s2p1",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/home/somebody/experiments/2024-01-15/checkpoint-000123.safetensors",
	"64x3x224x224x16x16x8",
	"2024-01-15T10:30:45.123456Z",
	"123e4567-e89b-12d3-a456-426614174000",
	"tokens=512 max_tokens: 100 tokens/s 12345 tokenizer=gpt2",
	"eos_token=</s> pad_token=<pad> token: 17",
	"forward_pass: done, backward_pass=ok",
	"password=None",
	"Enter password: ",
	"PWD=/home/somebody",
	"sort_key=name, key=3, keyboard: qwerty",
	"https://example.org:8080/path?page=2",
	"resnet50_imagenet1k_v2",
	"hash 0123456789abcdef",
	"scaled_dot_product_flash_attention_backward",
	"optimizer=AdamW(lr=0.001, betas=(0.9, 0.999), weight_decay=0.01)",
};

static void expect(const char *text, const char *expected)
{
	size_t bytes = strlen(text);
	char *copy = malloc(bytes + 1); /* exact, so that ASan sees a byte too far */

	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	bytes = wti_secret_mask(copy, bytes);
	if (bytes != strlen(expected) || memcmp(copy, expected, bytes) != 0) {
		printf("'%s'\n  gives    '%.*s'\n  expected '%s'\n", text, (int)bytes, copy,
		       expected);
		failed_count++;
	}
	free(copy);
}

/* Random words must hardly ever get through: 32 letters of base64, none of 1000 in this sequence.
 */
static void expect_random_masked(void)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	uint64_t state = 1;
	unsigned leaked = 0;

	for (int round = 0; round < 1000; round++) {
		char word[32];

		for (size_t i = 0; i < sizeof(word); i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			word[i] = letters[(state >> 33) % 62];
		}
		leaked += wti_secret_mask(word, sizeof(word)) == sizeof(word);
	}
	if (leaked > 5) {
		printf("%u of 1000 random words were kept\n", leaked);
		failed_count++;
	}
}

static void survive_any_bytes(void)
{
	static const char alphabet[] = "-\"'\\=: \nkeypasswordtokenBEGIN/@?&.\xff\x80\x00";
	uint64_t state = 7;

	for (int round = 0; round < 20000; round++) {
		size_t bytes = round % 97;
		char *text = malloc(bytes ? bytes : 1);

		for (size_t i = 0; i < bytes; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			text[i] = alphabet[(state >> 33) % (sizeof(alphabet) - 1)];
		}
		if (wti_secret_mask(text, bytes) > bytes)
			failed_count++;
		free(text);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].text, cases[i].expected);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		expect(kept[i], kept[i]);
	expect_random_masked();
	survive_any_bytes();
	return failed_count != 0;
}
