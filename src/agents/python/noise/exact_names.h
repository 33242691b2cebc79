/* SPDX-License-Identifier: Apache-2.0 */
/* Names for exact.c, in the order of strcmp(). */
/* clang-format off */

/* What a special method may be an in-place or reflected form of, with what ends its name. */
static const char *const operators[] = {
	"add__", "and__", "div__", "divmod__", "floordiv__", "lshift__", "matmul__", "mod__",
	"mul__", "or__", "pow__", "rshift__", "sub__", "truediv__", "xor__"
};

/* Movement, choice, comparison, creation, random draws. */
static const char *const exact[] = {
	"abs", "absolute", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
	"add_docstring", "adjoint", "alias", "align_as", "align_to", "all", "allclose", "amax",
	"amin", "aminmax", "and", "any", "arange", "argmax", "argmin", "argpartition", "argsort",
	"argwhere", "around", "array", "as_strided", "as_strided_scatter", "as_tensor",
	"asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "assert_async",
	"atleast_1d", "atleast_2d", "atleast_3d", "backward", "bernoulli", "bincount",
	"binomial", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "block_diag",
	"bool", "broadcast_arrays", "broadcast_tensors", "broadcast_to", "broadcast_to_copy",
	"bucketize", "byte", "byteswap", "can_cast", "cartesian_prod", "cat", "cauchy", "ceil",
	"channel_shuffle", "char", "choose", "chunk", "clamp", "clamp_max", "clamp_min", "clip",
	"clone", "coalesce", "col_indices", "column_stack", "combinations", "complex",
	"compress", "concat", "concatenate", "conj", "conj_physical", "conjugate",
	"constant_pad_nd", "contains", "contiguous", "copy", "copysign", "copyto",
	"count_nonzero", "cpu", "crow_indices", "cuda", "cummax", "cummin", "data", "deepcopy",
	"delitem", "detach", "detach_copy", "diag", "diag_embed", "diagflat", "diagonal",
	"diagonal_scatter", "digitize", "dsplit", "dstack", "dump", "dumps", "embedding",
	"embedding_renorm", "empty", "empty_like", "empty_quantized", "empty_strided", "eq",
	"equal", "expand", "expand_as", "expand_copy", "exponential", "eye", "fabs", "fake",
	"fill", "fill_diagonal", "fix", "flatten", "flip", "fliplr", "flipud", "floor",
	"floor_divide", "floordiv", "fmax", "fmin", "fmod", "format", "frac",
	"fractional_max_pool2d", "fractional_max_pool3d", "frexp", "from_buffer", "from_dlpack",
	"from_file", "from_numpy", "fromarray", "frombuffer", "fromfile", "fromiter",
	"fromstring", "full", "full_like", "functional_assert_async", "gather", "ge",
	"geometric", "get", "get_state", "getattr", "getattribute", "geterrobj", "getfield",
	"getitem", "getstate", "greater", "greater_equal", "gt", "hardtanh", "hash", "heaviside",
	"histc", "hsplit", "hstack", "identity", "im2col", "imag", "index", "index_copy",
	"index_fill", "index_put_impl", "index_select", "indices", "insert", "int", "int_repr",
	"invert", "is_nonzero", "is_shared", "isclose", "isfinite", "isin", "isinf", "isnan",
	"isneginf", "isposinf", "isreal", "item", "itemset", "iter", "kthvalue", "ldexp", "le",
	"left_shift", "len", "less", "less_equal", "lexsort", "lift", "lift_fresh", "linspace",
	"load", "local_scalar_dense", "log_normal", "logical_and", "logical_not", "logical_or",
	"logical_xor", "long", "lshift", "lt", "make_dual", "make_subclass",
	"make_wrapper_subclass", "manual_seed", "masked_fill", "masked_scatter", "masked_select",
	"max", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
	"max_pool3d", "max_pool3d_with_indices", "max_unpool2d", "max_unpool3d", "maximum",
	"may_share_memory", "median", "meshgrid", "min", "min_scalar_type", "minimum",
	"mkldnn_max_pool2d", "mkldnn_max_pool3d", "mode", "modf", "moveaxis", "movedim", "msort",
	"multinomial", "names", "nan_to_num", "nanmedian", "narrow", "narrow_copy",
	"native_channel_shuffle", "nbytes", "ndindex", "nditer", "ne", "neg", "negative",
	"nested_tensor", "nested_tensor_from_mask", "new", "new_empty", "new_empty_strided",
	"new_full", "new_ones", "new_tensor", "new_zeros", "newbyteorder", "next", "nextafter",
	"nonzero", "normal", "not_equal", "numpy", "numpy_dtype", "one_hot", "ones", "ones_like",
	"or", "pack_padded", "pack_padded_sequence", "packbits", "pad", "pad_circular",
	"pad_enum", "pad_packed_sequence", "pad_sequence", "partition", "permute",
	"permute_copy", "pin_memory", "pixel_shuffle", "pixel_unshuffle", "place", "poisson",
	"pos", "positive", "promote_types", "put", "putmask", "q_scale", "q_zero_point",
	"quantize_per_channel", "quantize_per_tensor", "quantized_max_pool2d", "rand",
	"rand_like", "randint", "randint_like", "randn", "randn_like", "random", "randperm",
	"range", "ravel", "ravel_multi_index", "real", "reduce", "reduce_ex", "refine_names",
	"reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "register_hook",
	"register_post_accumulate_grad_hook", "relu", "relu6", "rename", "repeat",
	"repeat_interleave", "replication_pad1d", "replication_pad2d", "replication_pad3d",
	"repr", "require", "requires_grad", "reshape", "reshape_as", "resize", "resize_as",
	"resolve_conj", "resolve_neg", "result_type", "retain_grad", "right_shift", "rint",
	"roll", "rot90", "round", "row_stack", "rshift", "sample_dirichlet", "save", "scalar",
	"scalar_tensor", "scatter", "searchsorted", "seed", "select", "select_copy",
	"select_scatter", "set", "set_numeric_ops", "set_state", "setattr", "seterrobj",
	"setfield", "setflags", "setitem", "setstate", "sgn", "share_memory", "shares_memory",
	"short", "sign", "signbit", "slice", "slice_copy", "slice_scatter", "sort", "spacing",
	"sparse_coo_tensor", "sparse_csr_tensor", "sparse_mask", "split", "split_copy",
	"split_with_sizes", "squeeze", "squeeze_copy", "stack", "standard_gamma",
	"standard_normal", "str", "swapaxes", "swapdims", "t", "t_copy", "take",
	"take_along_dim", "tensor", "tensor_split", "threshold", "tile", "to_dense", "to_dlpack",
	"to_mkldnn", "to_sparse", "to_sparse_coo", "to_sparse_csr", "toarray", "tobytes",
	"todense", "tofile", "tolist", "topk", "transpose", "transpose_copy", "tri", "tril",
	"triu", "trunc", "unbind", "unbind_copy", "unflatten", "unfold", "uniform", "unique",
	"unique2", "unique_consecutive", "unique_dim", "unpack_dual", "unpackbits",
	"unravel_index", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "unsqueeze",
	"unsqueeze_copy", "values", "view", "view_as", "view_as_complex", "view_as_real",
	"view_as_real_copy", "view_copy", "vsplit", "vstack", "where", "xor", "zero", "zeros",
	"zeros_like"
};

/* They round if the type gets narrower. */
static const char *const casts[] = {
	"astype", "bfloat16", "cdouble", "cfloat", "chalf", "convert_element_type", "copy_from",
	"double", "float", "half", "to", "to_copy", "to_dtype", "type", "type_as"
};

/* Elements that stay as they were, or pass through, are not rounded. */
static const char *const partial[] = {
	"celu", "elu", "hardshrink", "hardswish", "huber", "index_add", "index_put",
	"index_reduce", "leaky_relu", "masked_scatter_add", "prelu", "put_accumulate", "rrelu",
	"scatter_add", "scatter_reduce", "selu", "softplus", "softshrink", "threshold_backward",
	"unsafe_index_put"
};

/* Within backward, besides those above: they pass gradients on. */
static const char *const exact_below[] = {
	"as_strided", "cat", "clone", "constant_pad_nd", "contiguous", "copy", "detach",
	"diagonal_backward", "empty_strided", "expand", "fill", "hardtanh_backward",
	"index_select_backward", "is_same_size", "masked_fill", "max_pool2d_with_indices",
	"max_pool3d_with_indices", "neg", "new_empty", "new_empty_strided", "new_zeros",
	"relu_backward", "reshape_alias", "resize", "resolve_conj", "select_backward",
	"slice_backward", "split", "split_backward", "squeeze", "stack", "threshold_backward",
	"to", "to_copy", "trace_backward", "unbind_backward", "unsafe_view", "unsqueeze",
	"value_selecting_reduction_backward", "view", "where", "zero"
};

/* Of scipy's sparse tools, which write into their last argument. */
static const char *const sparse_rounding[] = {
	"bsr_eldiv_bsr", "bsr_elmul_bsr", "bsr_matmat", "bsr_matvec", "bsr_matvecs",
	"bsr_minus_bsr", "bsr_plus_bsr", "bsr_scale_columns", "bsr_scale_rows",
	"coo_matmat_dense", "coo_matvec", "csc_eldiv_csc", "csc_elmul_csc", "csc_matmat",
	"csc_matvec", "csc_matvecs", "csc_minus_csc", "csc_plus_csc", "csr_eldiv_csr",
	"csr_elmul_csr", "csr_matmat", "csr_matvec", "csr_matvecs", "csr_minus_csr",
	"csr_plus_csr", "csr_scale_columns", "csr_scale_rows", "dia_matvec", "dia_matvecs"
};
