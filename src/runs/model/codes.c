/* SPDX-License-Identifier: Apache-2.0 */
/* What the codes of `model verify` mean: everything that `explain` says of them. */
#include "runs/model/codes.h"

#define A_MANIFEST "a manifest (wheeltap model manifest)"
#define A_MODEL "a model file"

static const struct wti_model_code codes[] = {
	[WTI_MODEL_FILE_DIFFERS] =
		{{"WT-MODEL-001", "a file is not the one that the manifest describes",
		  "the file was truncated, damaged or replaced after the manifest was made",
		  "copy or download the file again, and compare the source of the copy",
		  "The size or the SHA-256 of a file of the model is not the one in the manifest. "
		  "Where tensors differ, too, WT-MODEL-002 and WT-MODEL-003 name them instead.",
		  "A file that was saved again has another hash, even with the same tensors: make "
		  "a new manifest. A file of another format is judged by its tensors alone."},
		 WT_ERROR,
		 A_MANIFEST},
	[WTI_MODEL_TENSOR_DIFFERS] =
		{{"WT-MODEL-002", "a tensor is not the one that the manifest describes",
		  "its elements, its type or its shape changed after the manifest was made",
		  "`wheeltap model diff` against a good copy shows which elements",
		  "The SHA-256 of the packed little-endian elements of a tensor, its type or its "
		  "shape is not the one in the manifest.",
		  "A checkpoint of another step: make a manifest for each."},
		 WT_ERROR,
		 A_MANIFEST},
	[WTI_MODEL_TENSOR_MISSING] =
		{{"WT-MODEL-003", "tensors and manifest do not list the same names",
		  "a tensor was dropped, added or renamed after the manifest was made",
		  "look for the name in the program that saved the file",
		  "A tensor of the manifest is not in the model, or one of the model is not in the "
		  "manifest.",
		  "None is known."},
		 WT_ERROR,
		 A_MANIFEST},
	[WTI_MODEL_NOT_SIGNED] =
		{{"WT-MODEL-004", "the signature does not prove this manifest",
		  "the manifest was changed after it was signed, or somebody else signed it",
		  "get the manifest and signature again from a source you trust; check which key "
		  "is theirs",
		  "The Ed25519 signature of the envelope is not of this key over this content, or "
		  "the content names other digests than the manifest.",
		  "The key was exchanged: verify with the new one."},
		 WT_ERROR,
		 "a signature (wheeltap model sign) and a public key (--key)"},
	[WTI_MODEL_NAN] =
		{{"WT-MODEL-005", "weights are NaN",
		  "the training diverged before the model was saved: whatever these weights touch "
		  "becomes NaN",
		  "go back to an earlier checkpoint; `wheeltap doctor` on the run shows the step",
		  "A tensor of floating-point numbers has elements that are NaN.",
		  "Buffers that mark missing values by NaN."},
		 WT_ERROR,
		 A_MODEL},
	[WTI_MODEL_INFINITE] =
		{{"WT-MODEL-006", "weights are infinite",
		  "the training diverged, or a conversion to a narrower type overflowed",
		  "compare with the file before the conversion (`wheeltap model diff`)",
		  "A tensor of floating-point numbers has elements that are infinite.",
		  "Masks that are saved with the model have -inf on purpose."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_DEAD_ROWS] =
		{{"WT-MODEL-007", "units do not depend on their input",
		  "each of these rows has the same value everywhere: the unit is pruned, dead, or "
		  "was never trained",
		  "compare with an earlier checkpoint; look at the unit's activations",
		  "In a tensor of two dimensions or more, all elements of a row (first dimension) "
		  "are the same, but not in all rows.",
		  "Structured pruning, padding of a vocabulary, the row of a padding index of an "
		  "embedding."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_DEAD_COLUMNS] =
		{{"WT-MODEL-008", "inputs are ignored",
		  "each of these columns has the same value in every row: the input makes no "
		  "difference between the units",
		  "check that this input is ever different from 0 in the training data",
		  "In a tensor of two dimensions, all elements of a column are the same, but not "
		  "in all columns.",
		  "An input that is always 0 (a pixel at the edge) under weight decay; pruning."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_SAME_ROWS] =
		{{"WT-MODEL-009", "all units are the same",
		  "all rows of the tensor are equal: the units started equal and nothing made them "
		  "different",
		  "initialise the weights with random numbers",
		  "In a tensor of two dimensions all rows are the same, and not all elements.",
		  "Tables that are repeated on purpose, such as masks and position indices."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_CONSTANT] =
		{{"WT-MODEL-010", "a weight matrix has one value",
		  "it was made (zeros, ones, empty) and neither initialised nor trained",
		  "check that the parameter is given to the optimizer and used in the forward pass",
		  "All elements of a floating-point tensor of two dimensions or more are the same.",
		  "Layers that start at zero on purpose (the second matrix of LoRA, zero "
		  "convolutions) before the first step; masks."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_INITIAL] =
		{{"WT-MODEL-011", "the weights look as if they were never trained",
		  "every large weight matrix is as it is drawn before the first step",
		  "check that this is the file that was saved after the training; `wheeltap model "
		  "diff` against the initial model",
		  "Every weight matrix of 1,000 elements or more is as a usual family draws it: "
		  "the "
		  "default of PyTorch, kaiming, xavier, lecun (uniform, normal, truncated), normal "
		  "0.02 or 1; and no vector has moved. Uniform and truncated ones have a sharp "
		  "range: "
		  "the largest magnitude is between 99 % and 100 % of it, the standard deviation "
		  "within 3 %. That training leaves none of the numbers near the end beyond it is "
		  "as "
		  "likely as so many coins that all fall on one side. Normal ones fit within four "
		  "deviations, which a little training does not change: they count only where 64 "
		  "zeros or ones of biases and norms are exact as well, which a step changes. "
		  "Otherwise this is not measured.",
		  "A model that was saved before its first step on purpose."},
		 WT_WARNING,
		 A_MODEL},
	[WTI_MODEL_PROBE] =
		{{"WT-MODEL-012", "the model computes something else",
		  "the outputs for the probe batch are not those that were kept",
		  "compare library versions; `wheeltap model diff` shows whether the weights "
		  "changed",
		  "The outputs of the probe differ from the expected ones by more than the "
		  "tolerance, in shape, or in being finite.",
		  "Another processor or library sums in another order: allow for it with "
		  "--tolerance."},
		 WT_ERROR,
		 "a probe (--probe) and what it should give (--expect)"},
	[WTI_MODEL_CHANCE] =
		{{"WT-MODEL-013", "the model has learned nothing, or next to nothing",
		  "its answers are not better than always giving the same one, or hardly depend on "
		  "the input: the loss that was minimised is not the one that was meant, or "
		  "nothing "
		  "was trained",
		  "look at what the loss gets (labels as classes or as probabilities), and at the "
		  "data; `wheeltap doctor` on the run of the training",
		  "The model is run as a chain of linear layers on the rows of --data. Violated if "
		  "its accuracy is not above that of the most frequent class (one-sided binomial "
		  "test, p > 0.01), or if no probability of its softmax is 0.1 or more away from "
		  "1/C.",
		  "Data of another task than the model's; features that were scaled for the "
		  "training; another function between the layers (--activation)."},
		 WT_ERROR,
		 "data with labels (--data, --labels), and a chain of linear layers"},
};

_Static_assert(sizeof(codes) / sizeof(codes[0]) == WTI_MODEL_CODES, "a row a code");

const struct wti_model_code *wti_model_code_at(size_t number)
{
	return number < WTI_MODEL_CODES ? &codes[number] : 0;
}
