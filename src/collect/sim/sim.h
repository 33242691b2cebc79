/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: deterministic accelerator workloads with known ground truth.
 *
 * The same configuration gives the same bytes on every machine: integer arithmetic only, a random
 * generator of its own, no clock and nothing of the host in the files. docs/sim.md describes the
 * model and every key of a configuration.
 */
#ifndef WTI_COLLECT_SIM_H
#define WTI_COLLECT_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#define WTI_SIM_DEVICES_MAX 16
#define WTI_SIM_LAYERS_MAX 256
#define WTI_SIM_KERNELS_MAX 128
#define WTI_SIM_EVENTS_MAX 10000000000u
#define WTI_SIM_JITTER_DRAWN UINT32_MAX /* 2 to 5 %, by the seed and the kernel's name */
#define WTI_SIM_SHARE_ONE (1u << 20)    /* shares are kept as fractions of this */

/* What the host threads emit about their launches. */
enum wti_sim_host {
	WTI_SIM_HOST_SPANS, /* a span around each call */
	WTI_SIM_HOST_MARKS, /* a mark with the correlation */
	WTI_SIM_HOST_NONE,
};

enum wti_sim_phase {
	WTI_SIM_FORWARD,   /* once a layer, first to last */
	WTI_SIM_HEAD,      /* once a step, between forward and backward */
	WTI_SIM_BACKWARD,  /* once a layer, last to first */
	WTI_SIM_WEIGHT,    /* the same, on the side queue if there is one */
	WTI_SIM_OPTIMIZER, /* once a step */
};

struct wti_sim_kernel {
	char name[64];
	char geometry[64];
	uint32_t phase; /* enum wti_sim_phase */
	uint32_t mean_ns;
	uint32_t load_percent; /* of the device, when it runs alone */
	uint32_t jitter_share; /* standard deviation, or WTI_SIM_JITTER_DRAWN */
};

struct wti_sim_config {
	uint64_t seed;
	uint64_t events;   /* rows of all kinds together */
	uint64_t start_ns; /* first moment of the stream's clock */
	uint32_t devices;
	uint32_t layers;
	uint32_t host; /* enum wti_sim_host */
	bool edges;
	bool stamps;     /* queued and submitted are known */
	bool side_queue; /* weight gradients run beside the others */
	bool stream_per_device;
	uint32_t launch_ns;             /* a launch call takes */
	uint32_t launch_gap_ns;         /* from one to the next */
	uint32_t queue_gap_ns;          /* between operations of a queue, at least */
	uint32_t emit_ns;               /* from an end until it is emitted */
	uint32_t step_ns;               /* the host between two steps */
	uint32_t jitter_share;          /* deviation of the times above */
	uint32_t transfer_jitter_share; /* of copies, fills and collectives */
	uint32_t outlier_share;         /* how many operations are far slower than usual */
	uint32_t link_bytes_per_us;
	uint32_t link_devices;   /* that share a link to the host */
	uint64_t batch_bytes;    /* copied to the device in each step */
	uint32_t offload_layers; /* every so many layers activations go to the host; 0: never */
	uint64_t offload_bytes;
	uint32_t bucket_layers;       /* layers whose gradients are reduced together */
	uint64_t layer_bytes;         /* of gradients */
	uint32_t fabric_bytes_per_us; /* of collectives */
	uint32_t collective_load_percent;
	struct wti_sim_kernel kernels[WTI_SIM_KERNELS_MAX];
	size_t kernel_count;
};

/* The defaults: a transformer of 12 layers on two devices. */
void wti_sim_config_init(struct wti_sim_config *config);
/* Adds what the TOML file says. Unknown keys and wrong types are errors with line and column. */
int wti_sim_config_load(struct wti_sim_config *config, const char *path, struct wt_err *err);
/* All of it as a JSON object with the keys of the file. */
struct wti_json;
void wti_sim_config_write(const struct wti_sim_config *config, struct wti_json *json);

struct wti_sim_options {
	const struct wti_sim_config *config;
	const char *folder; /* of the run; made, and refused if there is a run in it already */
	bool all_kinds;     /* random but valid rows of every kind instead of a workload */
	/* Called now and then with the share done, 0 to 1. May be NULL. */
	void (*progress)(void *cookie, double share);
	void *cookie;
};

struct wti_sim_summary {
	uint64_t events;
	uint64_t bytes;       /* of the streams */
	uint64_t duration_ns; /* simulated */
};

int wti_sim_run(const struct wti_sim_options *options, struct wti_sim_summary *ret_summary,
		struct wt_err *err);

#endif
