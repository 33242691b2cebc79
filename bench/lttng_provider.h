/* SPDX-License-Identifier: Apache-2.0 */
/* One tracepoint with the same fields as wt_mark: a name's number, a value. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER wheeltap_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(WTI_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WTI_BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(wheeltap_bench, mark, LTTNG_UST_TP_ARGS(uint32_t, name, uint64_t, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, name, name)
						       lttng_ust_field_integer(uint64_t, value,
									       value)))

#endif

#include <lttng/tracepoint-event.h>
