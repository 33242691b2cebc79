/* SPDX-License-Identifier: Apache-2.0 */
/* What the findings about data sets are called, and what `explain` says of them. */
#include "dataset/codes.h"

const struct wti_code wti_dataset_codes[] = {
	[WTI_SET_LEAK] =
		{.code = "WT-SET-001",
		 .title = "the same rows are in two data sets",
		 .means = "the second set is no independent test: a model that only memorised "
			  "the first looks as good as one that has learned",
		 .hint = "split the data again, by what the rows have in common (a person, a "
			 "document, a day), after removing duplicates",
		 .definition = "Two rows are the same if all features are, to the bit of a "
			       "double; zero has one sign, and all that is missing is the "
			       "same. The labels do not matter.",
		 .innocent = "features of a few small numbers, where rows agree by chance"},
	[WTI_SET_CONTRADICTION] =
		{.code = "WT-SET-002",
		 .title = "rows with the same features have different labels",
		 .means = "no model can be right about all of them; labels may be wrong, or "
			  "misaligned with the rows",
		 .hint = "look at the rows listed; compare the order of the labels with that of "
			 "the rows",
		 .definition = "Rows are compared as for WT-SET-001, within a file and "
			       "between files; the first row of that content gives the "
			       "label.",
		 .innocent = "a task that is not decided by its features"},
	[WTI_SET_DUPLICATES] =
		{.code = "WT-SET-003",
		 .title = "rows occur more than once",
		 .means = "they count more than others, and a random split puts them on both "
			  "sides",
		 .hint = "remove them before splitting the data",
		 .definition =
			 "Rows are compared as for WT-SET-001, within one file; those with another "
			 "label are reported by WT-SET-002.",
		 .innocent = "deliberate oversampling"},
	[WTI_SET_CONSTANT] =
		{.code = "WT-SET-004",
		 .title = "a column has the same value in all rows",
		 .means = "it carries no information; normalising by its standard deviation "
			  "divides by zero",
		 .hint = "leave it out, or find out why it is constant",
		 .definition = "All rows have the same number, or all are missing.",
		 .innocent = "a part of a larger set that has no other values"},
	[WTI_SET_MISSING] = {.code = "WT-SET-005",
			     .title = "values are missing or infinite",
			     .means = "a single NaN makes the loss NaN, and then all parameters",
			     .hint = "fill them in or leave the rows out, before training",
			     .definition = "NaN, infinities and empty cells.",
			     .innocent = "models that expect missing values"},
	[WTI_SET_UNBALANCED] =
		{.code = "WT-SET-006",
		 .title = "a class is much rarer than another",
		 .means = "accuracy is misleading: always predicting the frequent class is right "
			  "most of the time",
		 .hint = "use the accuracy of each class, or weight the classes",
		 .definition = "The most frequent class has ten times as many rows as the "
			       "rarest one, or more.",
		 .innocent = "rare events, which are the task"},
	[WTI_SET_LABEL_INSIDE] = {.code = "WT-SET-007",
				  .title = "a column is the label itself",
				  .means = "the model is given the answer",
				  .hint = "leave the column out",
				  .definition =
					  "Each value of the column occurs with one class only and "
					  "each class with one value.",
				  .innocent = "a task that is trivial on purpose"},
	{.code = 0},
};

void wti_dataset_report(struct wt_result *result, enum wti_set_code code, enum wt_severity severity,
			const struct wti_dataset *set, uint64_t count, const char *title,
			const char *evidence)
{
	const struct wti_code *row = &wti_dataset_codes[code];

	wt_result_finding(result, &(struct wt_finding){.code = row->code,
						       .severity = severity,
						       .title = title,
						       .step = -1,
						       .rank = -1,
						       .line = -1,
						       .first_step = -1,
						       .last_step = -1,
						       .file = set->path,
						       .evidence = evidence,
						       .count = count,
						       .case_count = set->rows,
						       .means = row->means,
						       .hint = row->hint});
}
