/* SPDX-License-Identifier: Apache-2.0 */
/* An array that the program perturbs by name, and prints. */
#include <stdio.h>
#include <string.h>

#include <wheeltap/wheeltap.h>

int main(void)
{
	double numbers[6];
	bool is_perturbed;

	for (int i = 0; i < 6; i++)
		numbers[i] = i % 3 ? i / 7. : i;
	is_perturbed = wt_noise(WT_NAME("numbers"), numbers, WT_DTYPE_F64, 2, (size_t[]){2, 3});
	printf("%d", is_perturbed);
	for (int i = 0; i < 6; i++) {
		uint64_t bits;

		memcpy(&bits, &numbers[i], sizeof(bits));
		printf(" %016llx", (unsigned long long)bits);
	}
	printf("\n");
	return 0;
}
