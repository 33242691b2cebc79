/* SPDX-License-Identifier: Apache-2.0 */
/* What a code of findings means, where it is no rule's: everything that `explain` says of it. */
#ifndef WTI_INSPECT_CODE_H
#define WTI_INSPECT_CODE_H

struct wti_code {
	const char *code;
	const char *title;
	const char *means;
	const char *hint;
	const char *definition;
	const char *innocent;
};

#endif
