/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key files. An Ed25519 key in PEM is base64 of a beginning that is always the same (PKCS #8 for
 * the private, SubjectPublicKeyInfo for the public key) and 32 bytes.
 */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "model/sign.h"

#define FILE_MAX 4096u
#define KEY_BYTES 32u
#define PATH_BYTES 4096u

struct pem {
	const char *label;
	const uint8_t *begin;
	size_t bytes;
};

static const uint8_t private_begin[] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
					0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
static const uint8_t public_begin[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
				       0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
static const struct pem private_pem = {"PRIVATE KEY", private_begin, sizeof(private_begin)};
static const struct pem public_pem = {"PUBLIC KEY", public_begin, sizeof(public_begin)};

/* ---- PEM ------------------------------------------------------------------------------------ */

static void put_pem(char *out, size_t out_bytes, const struct pem *pem,
		    const uint8_t key[KEY_BYTES])
{
	uint8_t der[sizeof(private_begin) + KEY_BYTES];
	char text[128];

	memcpy(der, pem->begin, pem->bytes);
	memcpy(der + pem->bytes, key, KEY_BYTES);
	sodium_bin2base64(text, sizeof(text), der, pem->bytes + KEY_BYTES,
			  sodium_base64_VARIANT_ORIGINAL);
	snprintf(out, out_bytes, "-----BEGIN %s-----\n%s\n-----END %s-----\n", pem->label, text,
		 pem->label);
	sodium_memzero(der, sizeof(der));
	sodium_memzero(text, sizeof(text));
}

static bool take_pem(const char *text, const struct pem *pem, uint8_t key[KEY_BYTES])
{
	uint8_t der[sizeof(private_begin) + KEY_BYTES];
	char line[64];
	const char *at, *end;
	size_t bytes = 0;
	bool is_one;

	snprintf(line, sizeof(line), "-----BEGIN %s-----", pem->label);
	at = strstr(text, line);
	snprintf(line, sizeof(line), "-----END %s-----", pem->label);
	end = at ? strstr(at, line) : NULL;
	if (!end)
		return false;
	at = strchr(at, '\n');
	is_one = at && at < end &&
		 !sodium_base642bin(der, sizeof(der), at, (size_t)(end - at), "\r\n ", &bytes, NULL,
				    sodium_base64_VARIANT_ORIGINAL) &&
		 bytes == pem->bytes + KEY_BYTES && !memcmp(der, pem->begin, pem->bytes);
	if (is_one)
		memcpy(key, der + pem->bytes, KEY_BYTES);
	sodium_memzero(der, sizeof(der));
	return is_one;
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Never over another key: what it signed could not be made again. */
static int create(const char *path, const char *text, mode_t mode, struct wt_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	int r;

	if (fd < 0)
		return wti_err_errno(err, "cannot make the key file", path);
	r = wti_write_all(fd, text, strlen(text));
	if (close(fd) || r) {
		unlink(path);
		return wti_err(err, WT_E_IO, "cannot write the key file '%s'", path);
	}
	return 0;
}

int wti_key_make(const char *path, struct wt_err *err)
{
	uint8_t shared[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	char text[256], public_path[PATH_BYTES];
	int r;

	if (sodium_init() < 0)
		return wti_err(err, WT_E_IO, "the system has no random numbers for a key");
	crypto_sign_keypair(shared, secret);
	put_pem(text, sizeof(text), &private_pem, secret); /* the seed comes first */
	r = create(path, text, 0600, err);
	sodium_memzero(secret, sizeof(secret));
	sodium_memzero(text, sizeof(text));
	if (r)
		return r;
	snprintf(public_path, sizeof(public_path), "%s.pub", path);
	put_pem(text, sizeof(text), &public_pem, shared);
	r = create(public_path, text, 0644, err);
	if (r)
		unlink(path);
	return r;
}

static int read_text(const char *path, char out[FILE_MAX + 1], struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, FILE_MAX);
	r = wti_file_read(path, FILE_MAX, &text, err);
	if (!r) {
		memcpy(out, text.data, text.bytes);
		out[text.bytes] = 0;
		sodium_memzero(text.data, text.bytes);
	}
	wti_buf_release(&text);
	return r;
}

int wti_key_read(const char *path, struct wti_signing_key *ret, struct wt_err *err)
{
	uint8_t seed[KEY_BYTES];
	char text[FILE_MAX + 1] = "";
	struct stat info;
	int r = sodium_init() < 0 ? wti_err(err, WT_E_IO, "libsodium does not start") : 0;

	r = r ? r : read_text(path, text, err);
	if (r)
		return r;
	if (!stat(path, &info) && info.st_mode & 077)
		r = wti_err(err, WT_E_ARG,
			    "others may read the private key '%s': chmod 600 it, or make a new one",
			    path);
	else if (!take_pem(text, &private_pem, seed))
		r = wti_err(err, WT_E_FORMAT,
			    "'%s' is not a private Ed25519 key: `wheeltap model key FILE` makes "
			    "one, or openssl genpkey -algorithm ed25519",
			    path);
	else
		crypto_sign_seed_keypair(ret->shared, ret->secret, seed);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, sizeof(text));
	return r;
}

int wti_key_read_public(const char *path, uint8_t ret_public[WTI_PUBLIC_BYTES], struct wt_err *err)
{
	char text[FILE_MAX + 1] = "";
	int r = sodium_init() < 0 ? wti_err(err, WT_E_IO, "libsodium does not start") : 0;

	r = r ? r : read_text(path, text, err);
	if (!r && !take_pem(text, &public_pem, ret_public))
		r = wti_err(err, WT_E_FORMAT,
			    "'%s' is not a public Ed25519 key: give the file that ends in .pub",
			    path);
	return r;
}

void wti_key_release(struct wti_signing_key *key)
{
	sodium_memzero(key, sizeof(*key));
}
