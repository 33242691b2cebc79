/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a person agrees to what cannot be undone: asked on a terminal, and where there is none
 * nobody has agreed. What --yes has to say instead is up to each verb.
 */
#ifndef WTI_CLI_CONSENT_H
#define WTI_CLI_CONSENT_H

enum wti_consent {
	WTI_CONSENT_GIVEN,
	WTI_CONSENT_REFUSED,
	WTI_CONSENT_NOBODY, /* there is no terminal to ask on */
};

enum wti_consent wti_consent_ask(const char *question, ...) __attribute__((format(printf, 1, 2)));

#endif
