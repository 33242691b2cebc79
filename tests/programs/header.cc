// SPDX-License-Identifier: Apache-2.0
// The public header as C++ sees it; every warning is an error.
#include <wheeltap/wheeltap.h>

#include <cstdio>
#include <vector>

static int step_of(int step)
{
	WT_SPAN("step")
	{
		if (step > 2)
			return step; // the span ends here as well
		wt_step(step);
	}
	return 0;
}

int main()
{
	std::vector<float> weights(12, 0.5f);
	const std::size_t extents[] = {3, 4};
	struct wt_device_op operation{};

	operation.size = sizeof(operation);
	operation.name = WT_NAME("kernel");
	for (int i = 0; i < 4; i++)
		step_of(i);
	wt_counter(WT_NAME("loss"), 0.5);
	wt_tensor(WT_NAME("weights"), weights.data(), WT_DTYPE_F32, 2, extents);
	wt_log(WT_LEVEL_INFO, "done");
	wt_edge(WT_EDGE_LAUNCH, 1, 2);
	return wt_device_op(&operation) ? 0 : 1;
}
