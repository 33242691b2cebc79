/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why no Python process joined although one was there: the agent comes in through the interpreter's
 * start-up, by two variables of the environment, and there are a few ways to keep it out.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "recorder.h"
#include "trace/protocol.h"

/* The first interpreter that is not in the trace, or NULL. */
static const struct wti_tree_node *outsider(const struct wti_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct wti_tree_node *node = &tree->nodes[i];

		if (node->is_python && !node->joined && !node->copy)
			return node;
	}
	return NULL;
}

/* Not even an entrance for agents: wheeltap came without its Python package. */
static bool has_agents(const struct wti_recorder *recorder)
{
	return recorder->options->additions && recorder->options->additions[0];
}

static enum wti_python_cause cause_of(const struct wti_recorder *recorder,
				      const struct wti_tree_node *node)
{
	if (!has_agents(recorder))
		return WTI_PYTHON_NO_AGENT;
	if (node && node->shut[0])
		return WTI_PYTHON_ISOLATED;
	if (node && node->looked_inside && !node->has_variable)
		return WTI_PYTHON_ENVIRONMENT;
	if (node && node->looked_inside && !node->has_entrance)
		return WTI_PYTHON_PATH;
	if (recorder->outcome->agent_trouble[0])
		return WTI_PYTHON_NO_AGENT;
	if (recorder->outcome->mismatch_count)
		return WTI_PYTHON_VERSION;
	return WTI_PYTHON_UNKNOWN;
}

static void put_why(char *out, size_t bytes, enum wti_python_cause cause,
		    const struct wti_tree_node *node, const char *trouble,
		    unsigned mismatch_protocol)
{
	const char *command = node ? node->command : "python";

	switch (cause) {
	case WTI_PYTHON_ISOLATED:
		snprintf(out, bytes,
			 "'%s' was started with %s, which keeps the agent out; start it without "
			 "that option",
			 command, node->shut);
		break;
	case WTI_PYTHON_ENVIRONMENT:
		snprintf(out, bytes,
			 "'%s' was started with a cleared environment; pass on WHEELTAP_AGENT and "
			 "PYTHONPATH",
			 command);
		break;
	case WTI_PYTHON_PATH:
		snprintf(out, bytes,
			 "the PYTHONPATH of '%s' was replaced; add to it instead of setting it",
			 command);
		break;
	case WTI_PYTHON_NO_AGENT:
		if (trouble[0])
			snprintf(out, bytes, "%s", trouble);
		else
			snprintf(out, bytes, "there is no agent for Python beside this program; %s",
				 wti_library_cure("install wheeltap again"));
		break;
	case WTI_PYTHON_VERSION:
		snprintf(out, bytes,
			 "the agent of '%s' uses protocol %u, this recorder (wheeltap " WTI_VERSION
			 ") protocol %u; record with the wheeltap that the agent belongs to, or "
			 "rebuild the agent with 'wheeltap python add'",
			 command, mismatch_protocol, WTI_PROTOCOL);
		break;
	default:
		snprintf(out, bytes,
			 "the agent did not start in '%s'; 'wheeltap record --dry-run' with the "
			 "same command shows more",
			 command);
	}
}

void wti_python_look(struct wti_recorder *recorder)
{
	struct wti_record_outcome *outcome = recorder->outcome;
	const struct wti_tree_node *node = outsider(&recorder->tree);
	char text[sizeof(outcome->python_why) + 32];
	struct wti_session_counts counts;

	wti_session_trouble(&recorder->session, outcome->agent_trouble,
			    sizeof(outcome->agent_trouble));
	wti_session_count(&recorder->session, &counts);
	outcome->mismatch_count = counts.mismatch_count;
	outcome->python_count = counts.python_count;
	if (outcome->python_count || (!node && !outcome->agent_trouble[0]))
		return;
	if (recorder->python_kept_out[0]) {
		outcome->python_cause = WTI_PYTHON_LIMITED;
		wti_record_limited(recorder, recorder->python_kept_out);
		return;
	}
	outcome->python_cause = cause_of(recorder, node);
	put_why(outcome->python_why, sizeof(outcome->python_why), outcome->python_cause, node,
		outcome->agent_trouble, counts.mismatch_protocol);
	snprintf(text, sizeof(text), "no Python process joined: %s", outcome->python_why);
	wti_streams_note(&recorder->streams, WT_NOTE_NO_PYTHON, text);
}

const char *wti_python_cause_name(enum wti_python_cause cause)
{
	static const char *const names[] = {"none",     "isolated", "environment", "path",
					    "no_agent", "version",  "unknown",     "limited"};

	return names[cause];
}
