/* SPDX-License-Identifier: Apache-2.0 */
/* usage: configured [LR [OPTIMIZER]]: gives its configuration, LR twice; prints what the calls
 * return. */
#include <stdio.h>
#include <stdlib.h>

#include <wheeltap/wheeltap.h>

int main(int argc, char **argv)
{
	bool all = wt_config_float(WT_NAME("lr"), 0.1);

	all &= wt_config_int(WT_NAME("epochs"), -3);
	all &= wt_config_text(WT_NAME("optimizer"), argc > 2 ? argv[2] : "adam");
	all &= wt_config_int(WT_NAME("model.depth"), 4);
	all &= wt_config_text(WT_NAME("api_key"), "hunter2");
	all &= wt_config_text(WT_NAME("note"), "a sentence that nobody meant to keep");
	all &= wt_config_float(WT_NAME("lr"), argc > 1 ? atof(argv[1]) : 0.05);
	printf("%d\n", all);
	return 0;
}
