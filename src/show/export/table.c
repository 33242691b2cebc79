/* SPDX-License-Identifier: Apache-2.0 */
/* All exporters. */
#include <string.h>

#include "export.h"

const struct wti_exporter *const wti_exporters[] = {
	&wti_exporter_perfetto, &wti_exporter_chrome,
	&wti_exporter_jsonl,    &wti_exporter_csv,
	&wti_exporter_sqlite,   &wti_exporter_strace,
	&wti_exporter_renacer,  &wti_exporter_html,
	&wti_exporter_sbt,      NULL,
};

const struct wti_exporter *wti_exporter_by_name(const char *name)
{
	for (size_t i = 0; wti_exporters[i]; i++) {
		if (!strcmp(wti_exporters[i]->name, name))
			return wti_exporters[i];
	}
	return NULL;
}
