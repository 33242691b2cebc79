/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the agent to emit through, and hands on to it what the headers of agents expect of their
 * own. Knows how the libraries of agents are called and where the client's is.
 */
#include "guest.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"

enum { FOUND_MAX = 8 };

struct wti_agent wti_agent; /* only its control page is used: text.h, queue.c */

static const struct wti_services *agent; /* whose guest we are; set once */

struct found {
	char paths[FOUND_MAX][PATH_MAX];
	size_t count;
};

static bool is_agent(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "_wheeltap.", 10) || !strncmp(name, "libwheeltap-client.so", 21);
}

/* Only notes the path: the loader's lock is held. */
static int look(struct dl_phdr_info *info, size_t bytes, void *cookie)
{
	struct found *found = cookie;

	(void)bytes;
	if (info->dlpi_name && is_agent(info->dlpi_name) && found->count < FOUND_MAX)
		snprintf(found->paths[found->count++], PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

static const struct wti_services *ask(const char *path, int how)
{
	const struct wti_services *(*services)(void) = NULL;
	const struct wti_services *answer;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | how);

	if (library)
		*(void **)&services = dlsym(library, WTI_SERVICES_SYMBOL);
	if (!services)
		return NULL;
	answer = services();
	if (answer->bytes != sizeof(*answer) || answer->slot_bytes != sizeof(struct wti_slot) ||
	    answer->protocol != WTI_PROTOCOL)
		return NULL;
	return answer;
}

/* In the build tree, or where it is installed. */
static const struct wti_services *load_client(void)
{
	static const char *const places[] = {"/../client/libwheeltap-client.so.1",
					     "/../libwheeltap-client.so.1"};
	const struct wti_services *services = NULL;
	char path[PATH_MAX];
	const char *slash;
	Dl_info self;

	if (!dladdr((void *)&wti_agent, &self) || !self.dli_fname)
		return NULL;
	slash = strrchr(self.dli_fname, '/');
	for (size_t i = 0; slash && !services && i < sizeof(places) / sizeof(*places); i++)
		if (snprintf(path, sizeof(path), "%.*s%s", (int)(slash - self.dli_fname),
			     self.dli_fname, places[i]) < (int)sizeof(path))
			services = ask(path, 0);
	return services;
}

const struct wti_services *wti_guest_find(void)
{
	struct found *found = calloc(1, sizeof(*found));

	if (!secure_getenv(WTI_ENV) || !found) {
		free(found);
		return NULL;
	}
	dl_iterate_phdr(look, found);
	for (size_t i = 0; i < found->count && !agent; i++)
		agent = ask(found->paths[i], RTLD_NOLOAD);
	free(found);
	if (!agent)
		agent = load_client();
	if (!agent || !agent->recording())
		return NULL;
	wti_agent.control = agent->agent->control;
	return agent;
}

/* ---- What the headers expect ----------------------------------------------------------------- */

uint32_t wti_name_slow(struct wt_name *name)
{
	return agent->name_slow(name);
}

struct wt_name *wti_name_find(const char *text, size_t bytes)
{
	return agent->name_find(text, bytes);
}

uint32_t wti_define(uint32_t type, const void *key, size_t key_bytes, const void *payload,
		    size_t payload_bytes)
{
	return agent->define(type, key, key_bytes, payload, payload_bytes);
}

bool wti_room_wait(struct wti_here here, uint32_t bytes)
{
	return agent->room_wait(here, bytes);
}

bool wti_recording(void)
{
	return agent && agent->recording();
}

uint32_t wti_stack_capture(unsigned skip)
{
	return agent->stack_capture(skip + 1);
}

bool wti_blob_keep(const struct wti_blob *blob)
{
	return agent->blob_keep(blob);
}
