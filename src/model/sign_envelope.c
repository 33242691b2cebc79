/* SPDX-License-Identifier: Apache-2.0 */
/* DSSE: what is signed is the type and the text with their lengths, so that neither can stand for
 * the other. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "model/sign.h"

#define PAYLOAD_TYPE "application/vnd.in-toto+json"
#define STATEMENT_MAX WTI_DOC_TEXT_MAX
#define SIGNED_MAX (STATEMENT_MAX + 256)
#define ENVELOPE_MAX WTI_DOC_TEXT_MAX

/* What the signature is over. */
static void put_signed(struct wti_buf *out, const void *statement, size_t bytes)
{
	wti_buf_printf(out, "DSSEv1 %zu " PAYLOAD_TYPE " %zu ", sizeof(PAYLOAD_TYPE) - 1, bytes);
	wti_buf_append(out, statement, bytes);
}

static int put_base64(struct wti_json *json, const void *data, size_t bytes)
{
	size_t room = sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_ORIGINAL);
	char *text = malloc(room);

	if (!text)
		return WT_E_NOMEM;
	sodium_bin2base64(text, room, data, bytes, sodium_base64_VARIANT_ORIGINAL);
	wti_json_text(json, text);
	free(text);
	return 0;
}

/* A key is known by the SHA-256 of its 32 bytes. */
static void put_key_id(struct wti_json *json, const uint8_t shared[WTI_PUBLIC_BYTES])
{
	char text[2 * WTI_SHA256_BYTES + 1];
	uint8_t id[WTI_SHA256_BYTES];
	struct wti_sha sha;

	wti_sha_init(&sha, true);
	wti_sha_add(&sha, shared, WTI_PUBLIC_BYTES);
	wti_sha_end(&sha, id);
	sodium_bin2hex(text, sizeof(text), id, sizeof(id));
	wti_json_key(json, "keyid");
	wti_json_text(json, text);
}

static int put_envelope(struct wti_buf *out, const struct wti_signing_key *key,
			const uint8_t *signature, const char *statement, size_t bytes)
{
	struct wti_json json;
	int r;

	wti_json_init(&json, out, true);
	wti_json_object(&json);
	wti_json_key(&json, "payloadType");
	wti_json_text(&json, PAYLOAD_TYPE);
	wti_json_key(&json, "payload");
	r = put_base64(&json, statement, bytes);
	wti_json_key(&json, "signatures");
	wti_json_array(&json);
	wti_json_object(&json);
	put_key_id(&json, key->shared);
	wti_json_key(&json, "sig");
	r = r ? r : put_base64(&json, signature, crypto_sign_BYTES);
	wti_json_object_end(&json);
	wti_json_array_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
	return r ? r : wti_buf_status(out);
}

int wti_envelope_write(struct wti_buf *out, const struct wti_signing_key *key,
		       const char *statement, size_t bytes, struct wt_err *err)
{
	uint8_t signature[crypto_sign_BYTES];
	struct wti_buf text;
	int r;

	if (!key) {
		wti_buf_append(out, statement, bytes);
		r = wti_buf_status(out);
		return r ? wti_err(err, r, "the statement is too large") : 0;
	}
	wti_buf_init(&text, SIGNED_MAX);
	put_signed(&text, statement, bytes);
	r = wti_buf_status(&text);
	if (!r) {
		crypto_sign_detached(signature, NULL, text.data, text.bytes, key->secret);
		r = put_envelope(out, key, signature, statement, bytes);
	}
	wti_buf_release(&text);
	return r ? wti_err(err, r, "the statement is too large to be signed") : 0;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Base64 in a document, appended. */
static bool take_base64(const struct wti_doc *text, struct wti_buf *out)
{
	size_t room, bytes = 0;
	uint8_t *end;

	if (!text || text->type != WTI_DOC_STRING)
		return false;
	room = text->string.bytes / 4 * 3 + 3;
	end = wti_buf_reserve(out, room);
	if (!end || sodium_base642bin(end, room, text->string.data, text->string.bytes, NULL,
				      &bytes, NULL, sodium_base64_VARIANT_ORIGINAL))
		return false;
	wti_buf_added(out, bytes);
	return true;
}

/* Whether one of the signatures is of this key. */
static bool is_signed_by(const struct wti_doc *signatures, const struct wti_buf *text,
			 const uint8_t public_key[WTI_PUBLIC_BYTES])
{
	bool is_one = false;

	if (!signatures || signatures->type != WTI_DOC_ARRAY)
		return false;
	for (const struct wti_doc *entry = signatures->first; entry && !is_one;
	     entry = entry->next) {
		struct wti_buf signature;

		wti_buf_init(&signature, 1024);
		is_one = take_base64(wti_doc_get(entry, "sig"), &signature) &&
			 signature.bytes == crypto_sign_BYTES &&
			 !crypto_sign_verify_detached(signature.data, text->data, text->bytes,
						      public_key);
		wti_buf_release(&signature);
	}
	return is_one;
}

static int open_envelope(const char *path, const struct wti_doc *root,
			 const uint8_t public_key[WTI_PUBLIC_BYTES], struct wti_buf *ret_statement,
			 const char **ret_reason, struct wt_err *err)
{
	const char *type = wti_doc_text(root, "payloadType");
	struct wti_buf text;
	int r;

	if (!type || strcmp(type, PAYLOAD_TYPE) != 0 ||
	    !take_base64(wti_doc_get(root, "payload"), ret_statement))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' is not a signature of a model: `wheeltap model sign` makes "
			       "one",
			       path);
	wti_buf_init(&text, SIGNED_MAX);
	put_signed(&text, ret_statement->data, ret_statement->bytes);
	r = wti_buf_status(&text);
	*ret_reason = NULL;
	if (!r && !is_signed_by(wti_doc_get(root, "signatures"), &text, public_key))
		*ret_reason = "no signature in it is of this key over this content";
	wti_buf_release(&text);
	return r ? wti_err(err, r, "the signature '%s' is too large", path) : 0;
}

int wti_envelope_read(const char *path, const uint8_t public_key[WTI_PUBLIC_BYTES],
		      struct wti_buf *ret_statement, const char **ret_reason, struct wt_err *err)
{
	struct wti_doc *root = NULL;
	struct wti_buf text;
	int r;

	if (sodium_init() < 0)
		return wti_err(err, WT_E_IO, "libsodium does not start");
	wti_buf_init(&text, ENVELOPE_MAX);
	r = wti_file_read(path, ENVELOPE_MAX, &text, err);
	r = r ? r : wti_json_parse(path, (const char *)text.data, text.bytes, &root, err);
	wti_buf_release(&text);
	r = r ? r : open_envelope(path, root, public_key, ret_statement, ret_reason, err);
	wti_doc_free(root);
	return r;
}
