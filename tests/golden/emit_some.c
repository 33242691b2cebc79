/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be recorded, so that a stream of the recorder's is read by both decoders too. */
#include <stddef.h>
#include <wheeltap/wheeltap.h>

#define STEPS 500

int main(void)
{
	float weights[64];

	for (int i = 0; i < 64; i++)
		weights[i] = (float)i / 3;
	for (int step = 0; step < STEPS; step++) {
		wt_step(step);
		wt_stage(step % 10 ? "train" : "eval");
		WT_SPAN("forward")
		{
			wt_counter(WT_NAME("loss"), 1.0 / (1 + step));
			wt_mark(WT_NAME("not one line\n\xff"), (uint64_t)step * (uint64_t)step);
		}
		wt_tensor(WT_NAME("weights"), weights, WT_DTYPE_F32, 2, (size_t[]){8, 8});
		wt_logf(WT_LEVEL_INFO, "step %d", step);
		if (step % 50 == 0)
			wt_stack();
	}
	return 0;
}
