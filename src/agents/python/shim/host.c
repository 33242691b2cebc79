/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim in this process: loaded if it was built for exactly the torch that runs, and asked to
 * watch what the level wants. What it knows of tensors is for tensor/seen.c.
 */
#include "host.h"

#include <dlfcn.h>
#include <string.h>

struct wti_shim_state wti_shim_state;

/* ---- Loading -------------------------------------------------------------------------------- */

/* NULL, or why it cannot be used. */
static const char *load(const char *path, const char *identity)
{
	const struct wti_shim *(*entry)(void);
	const struct wti_shim *shim;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return "it cannot be loaded";
	*(void **)&entry = dlsym(library, WTI_SHIM_ENTRY);
	shim = entry ? entry() : NULL;
	if (!shim || shim->version != WTI_SHIM_VERSION)
		return "it is of another wheeltap";
	if (strcmp(shim->identity, identity) != 0)
		return "it was built for another torch";
	wti_shim_state.shim = shim;
	return NULL;
}

bool wti_shim_load(const char *path, const char *identity, uint32_t what,
		   const struct wti_shim_host *host)
{
	const char *why = wti_shim_state.shim ? NULL : load(path, identity);

	if (why) {
		PyErr_Format(PyExc_ImportError, "%s", why);
		return false;
	}
	wti_shim_state.what = what;
	wti_shim_state.host = host;
	if (wti_python.is_on)
		wti_shim_start();
	return true;
}

static void watch(uint32_t what)
{
	if (wti_shim_state.shim && wti_shim_state.shim->watch(wti_shim_state.host, what))
		__atomic_store_n(&wti_shim_state.watched, what, __ATOMIC_RELAXED);
}

void wti_shim_start(void)
{
	watch(wti_shim_state.what);
}

void wti_shim_stop(void)
{
	watch(0);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

uint64_t wti_shim_thread(void)
{
	return wti_shim_state.shim ? wti_shim_state.shim->thread() : 0;
}

uint64_t wti_shim_sequence(void)
{
	return __atomic_load_n(&wti_shim_state.watched, __ATOMIC_RELAXED)
		       ? wti_shim_state.shim->sequence()
		       : 0;
}

/* ---- Modes ---------------------------------------------------------------------------------- */

static uint32_t modes_now(void)
{
	uint32_t modes = wti_shim_state.shim->modes();

	return (modes & WTI_SHIM_GRAD ? WT_CALL_GRAD : 0) |
	       (modes & WTI_SHIM_AUTOCAST ? WT_CALL_AUTOCAST : 0) |
	       (modes & WTI_SHIM_INFERENCE ? WT_CALL_INFERENCE : 0);
}

bool wti_shim_modes(uint32_t *ret)
{
	if (!wti_shim_state.knows_modes)
		return false;
	*ret = modes_now();
	return true;
}

bool wti_shim_modes_are(uint32_t asked)
{
	return wti_shim_state.shim && modes_now() == asked;
}

void wti_shim_modes_trust(bool is_right)
{
	wti_shim_state.knows_modes = wti_shim_state.shim && is_right;
}
