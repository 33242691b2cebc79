/* SPDX-License-Identifier: Apache-2.0 */
/* The findings about the lineage of a file. Codes never change. */
#include <string.h>

#include "own.h"

const struct wti_code wti_origin_codes[] = {
	{"WT-LIN-001", "a tensor in the file is not what the run saved",
	 "the file was changed, damaged or replaced after it was written",
	 "copy the file again from where the run wrote it; keep a manifest (`wheeltap model "
	 "manifest`)",
	 "Every tensor of the file has the bytes that the run saved under its name. Where it can "
	 "be proven, the evidence has how it differs: one flipped bit, a cast to bf16 or f16 and "
	 "back, a transposition.",
	 "A file that was converted to another type on purpose."},
	{"WT-LIN-002", "the file holds the values of an earlier step than the one it was saved in",
	 "an older state was written: the steps since then are not in the file",
	 "call model.state_dict() where the file is written",
	 "What is saved is what the model holds at that moment. An error if the file's name or a "
	 "number in it (`step`) says that it is of the step in which it was saved, otherwise a "
	 "note.",
	 "The best model so far, which is kept and written later: that is a note."},
	{"WT-LIN-003", "one part of the file is of another step than the rest",
	 "the model mixes states that never coexisted, as when one shard is left from an earlier "
	 "save",
	 "save all shards again in one step; write each save to a folder of its own",
	 "No tensor of the file has a value that it had in another step than the one in which the "
	 "file was saved.",
	 "None is known."},
	{"WT-LIN-004", "a tensor holds the value of another tensor",
	 "names were swapped on the way: the model computes something else",
	 "compare the names with those of the model that was saved",
	 "No tensor of the file has the bytes that the run had under another name only.",
	 "None is known."},
	{"WT-LIN-005", "tensors that the run saved are missing from the file",
	 "what is loaded from the file keeps its random or default values there",
	 "copy the file again; look for a filter by name where it was converted",
	 "Every tensor that the run saved to the file is in it.",
	 "A part that was taken out on purpose."},
	{"WT-LIN-006", "the file has tensors that the run did not save",
	 "they come from elsewhere: another model, another version of the program",
	 "find out who wrote the file last", "Every tensor of the file was saved by the run.",
	 "A file to which something was added on purpose."},
	{"WT-LIN-007", "the file is what the run saved under another name, or earlier",
	 "an older checkpoint was copied or linked to this name",
	 "take the file that was saved under this name, or rename it back",
	 "Where the run saved a file of this name, the file is that one, and not all of another "
	 "save.",
	 "A link such as best.pt that the program itself never wrote has no save of its name."},
	{"WT-LIN-008", "no tensor of the file was ever in the run",
	 "the file belongs to another run", "name the run that saved it",
	 "At least one tensor of the file was saved, loaded or held by the run. The runs beside it "
	 "are searched for the one that saved the file.",
	 "None is known."},
	{"WT-LIN-009", "averaged weights are saved as the model",
	 "training that resumes from the file goes on from smoothed weights, with an optimizer "
	 "state that does not belong to them",
	 "save model.state_dict() as the model, and the average under a key of its own",
	 "More of the parameters that are saved are what the model holds than what only a copy of "
	 "it holds.",
	 "A file that is meant for inference."},
	{"WT-LIN-010", "the state of the optimizer is missing from the checkpoint",
	 "training that resumes from the file starts the optimizer over",
	 "save optimizer.state_dict() beside the model",
	 "A save with a step number in it has the state of an optimizer, if another save of the "
	 "run has it.",
	 "Optimizers that keep no state."},
	{"WT-LIN-011", "what was saved is not what the model held",
	 "the values were changed between the model and the file",
	 "save the tensors of model.state_dict() as they are",
	 "A tensor that is saved under the name of a parameter is what that parameter holds, or "
	 "held before.",
	 "Weights that are quantised or merged for the file on purpose."},
	{"WT-LIN-012", "a loaded tensor is overwritten before the first step",
	 "the layer was initialised again, or loaded from elsewhere: what the file has of it is "
	 "not used",
	 "initialise before load_state_dict(), not after it",
	 "A parameter that holds a value of the file keeps it until an optimizer steps.",
	 "A head that is initialised again on purpose, to learn another task."},
	{"WT-LIN-013", "tensors that were one are loaded as two",
	 "a weight that was shared is two parameters now, which training moves apart",
	 "tie them again after loading: head.weight = embedding.weight",
	 "Matrices that are the same in the file and are two parameters of the model that loads it "
	 "are the same at the end of the run.",
	 "Two layers that begin with the same values on purpose."},
	{0},
};

void wti_lineage_finding(struct wt_result *result, const struct wti_lineage_finding *finding)
{
	const struct wti_code *row = wti_origin_codes;

	while (row->code && strcmp(row->code, finding->code))
		row++;
	wt_result_finding(result, &(struct wt_finding){.code = row->code,
						       .severity = finding->severity,
						       .title = row->title,
						       .means = row->means,
						       .hint = row->hint,
						       .step = finding->step,
						       .first_step = finding->step,
						       .last_step = finding->step,
						       .rank = -1,
						       .line = -1,
						       .file = finding->path,
						       .evidence = finding->evidence,
						       .count = finding->count,
						       .case_count = finding->case_count});
}

void wti_origin_finding(const struct wti_origin *origin, struct wt_result *result, const char *code,
			enum wt_severity severity, const char *evidence, int64_t step,
			uint64_t count)
{
	wti_lineage_finding(result,
			    &(struct wti_lineage_finding){.code = code,
							  .severity = severity,
							  .evidence = evidence,
							  .path = origin->options.path,
							  .step = step,
							  .count = count,
							  .case_count = origin->options.count});
}
