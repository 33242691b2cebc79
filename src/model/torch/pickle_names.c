/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that are known in pickles of checkpoints, and what each means. Nothing is ever looked
 * up behind a name: it is compared with this list. What is missing here cannot be called.
 */
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "model/torch/pickle.h"

struct known_name {
	const char *name;
	uint8_t meaning;
	uint8_t dtype;
};

static const struct known_name names[] = {
	/* Containers and plain values of Python. */
	{"collections.OrderedDict", WTI_NAME_DICT},
	{"collections.defaultdict", WTI_NAME_DICT},
	{"collections.Counter", WTI_NAME_DICT},
	{"builtins.dict", WTI_NAME_DICT},
	{"__builtin__.dict", WTI_NAME_DICT},
	{"collections.deque", WTI_NAME_LIST},
	{"builtins.list", WTI_NAME_LIST},
	{"__builtin__.list", WTI_NAME_LIST},
	{"builtins.tuple", WTI_NAME_TUPLE},
	{"builtins.set", WTI_NAME_SET},
	{"builtins.frozenset", WTI_NAME_SET},
	{"__builtin__.set", WTI_NAME_SET},
	{"__builtin__.frozenset", WTI_NAME_SET},
	{"_codecs.encode", WTI_NAME_ENCODE},
	{"builtins.bytearray", WTI_NAME_BYTES},
	{"__builtin__.bytearray", WTI_NAME_BYTES},
	{"__builtin__.bytes", WTI_NAME_BYTES},
	{"builtins.bytes", WTI_NAME_BYTES},
	{"builtins.complex", WTI_NAME_PLAIN},
	{"__builtin__.complex", WTI_NAME_PLAIN},
	{"builtins.slice", WTI_NAME_PLAIN},
	{"builtins.range", WTI_NAME_PLAIN},
	{"__builtin__.xrange", WTI_NAME_PLAIN},
	{"__builtin__.slice", WTI_NAME_PLAIN},
	{"pathlib.PosixPath", WTI_NAME_PLAIN},
	{"pathlib.PurePosixPath", WTI_NAME_PLAIN},
	{"pathlib.WindowsPath", WTI_NAME_PLAIN},
	{"pathlib.PureWindowsPath", WTI_NAME_PLAIN},
	{"pathlib._local.PosixPath", WTI_NAME_PLAIN},
	{"pathlib._local.PurePosixPath", WTI_NAME_PLAIN},
	{"datetime.datetime", WTI_NAME_PLAIN},
	{"datetime.date", WTI_NAME_PLAIN},
	{"datetime.time", WTI_NAME_PLAIN},
	{"datetime.timedelta", WTI_NAME_PLAIN},
	{"datetime.timezone", WTI_NAME_PLAIN},
	{"decimal.Decimal", WTI_NAME_PLAIN},
	{"fractions.Fraction", WTI_NAME_PLAIN},
	{"copy_reg._reconstructor", WTI_NAME_NEW},
	{"copyreg._reconstructor", WTI_NAME_NEW},
	{"argparse.Namespace", WTI_NAME_CLASS},
	{"types.SimpleNamespace", WTI_NAME_CLASS},
	{"uuid.UUID", WTI_NAME_CLASS},

	/* Tensors of PyTorch. */
	{"torch._utils._rebuild_tensor", WTI_NAME_TENSOR},
	{"torch._utils._rebuild_tensor_v2", WTI_NAME_TENSOR},
	{"torch._utils._rebuild_tensor_v3", WTI_NAME_TENSOR_OF_TYPE},
	{"torch._utils._rebuild_parameter", WTI_NAME_PARAMETER},
	{"torch._utils._rebuild_parameter_with_state", WTI_NAME_PARAMETER},
	{"torch._tensor._rebuild_from_type", WTI_NAME_SUBCLASS},
	{"torch._tensor._rebuild_from_type_v2", WTI_NAME_SUBCLASS},
	{"torch._utils._rebuild_sparse_tensor", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_sparse_csr_tensor", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_nested_tensor", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_qtensor", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_meta_tensor_no_storage", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_wrapper_subclass", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_device_tensor_from_numpy", WTI_NAME_NOT_READ},
	{"torch._utils._rebuild_device_tensor_from_cpu_tensor", WTI_NAME_PARAMETER},
	{"torch.Size", WTI_NAME_TUPLE},
	{"torch.device", WTI_NAME_PLAIN},
	{"torch.serialization._get_layout", WTI_NAME_PLAIN},
	{"torch.jit._pickle.build_intlist", WTI_NAME_LIST},
	{"torch.jit._pickle.build_doublelist", WTI_NAME_LIST},
	{"torch.jit._pickle.build_boollist", WTI_NAME_LIST},
	{"torch.jit._pickle.build_tensorlist", WTI_NAME_LIST},
	{"torch.jit._pickle.restore_type_tag", WTI_NAME_PARAMETER},
	{"torch.FloatStorage", WTI_NAME_STORAGE, WT_DTYPE_F32},
	{"torch.DoubleStorage", WTI_NAME_STORAGE, WT_DTYPE_F64},
	{"torch.HalfStorage", WTI_NAME_STORAGE, WT_DTYPE_F16},
	{"torch.BFloat16Storage", WTI_NAME_STORAGE, WT_DTYPE_BF16},
	{"torch.LongStorage", WTI_NAME_STORAGE, WT_DTYPE_I64},
	{"torch.IntStorage", WTI_NAME_STORAGE, WT_DTYPE_I32},
	{"torch.ShortStorage", WTI_NAME_STORAGE, WT_DTYPE_I16},
	{"torch.CharStorage", WTI_NAME_STORAGE, WT_DTYPE_I8},
	{"torch.ByteStorage", WTI_NAME_STORAGE, WT_DTYPE_U8},
	{"torch.BoolStorage", WTI_NAME_STORAGE, WT_DTYPE_BOOL},
	{"torch.ComplexFloatStorage", WTI_NAME_STORAGE, WT_DTYPE_C64},
	{"torch.ComplexDoubleStorage", WTI_NAME_STORAGE, WT_DTYPE_C128},
	{"torch.storage.UntypedStorage", WTI_NAME_STORAGE, WT_DTYPE_U8},
	{"torch.UntypedStorage", WTI_NAME_STORAGE, WT_DTYPE_U8},
	{"torch.storage._UntypedStorage", WTI_NAME_STORAGE, WT_DTYPE_U8},
	{"torch.float32", WTI_NAME_TYPE, WT_DTYPE_F32},
	{"torch.float64", WTI_NAME_TYPE, WT_DTYPE_F64},
	{"torch.float16", WTI_NAME_TYPE, WT_DTYPE_F16},
	{"torch.bfloat16", WTI_NAME_TYPE, WT_DTYPE_BF16},
	{"torch.int64", WTI_NAME_TYPE, WT_DTYPE_I64},
	{"torch.int32", WTI_NAME_TYPE, WT_DTYPE_I32},
	{"torch.int16", WTI_NAME_TYPE, WT_DTYPE_I16},
	{"torch.int8", WTI_NAME_TYPE, WT_DTYPE_I8},
	{"torch.uint8", WTI_NAME_TYPE, WT_DTYPE_U8},
	{"torch.uint16", WTI_NAME_TYPE, WT_DTYPE_U16},
	{"torch.uint32", WTI_NAME_TYPE, WT_DTYPE_U32},
	{"torch.uint64", WTI_NAME_TYPE, WT_DTYPE_U64},
	{"torch.bool", WTI_NAME_TYPE, WT_DTYPE_BOOL},
	{"torch.complex32", WTI_NAME_TYPE, WT_DTYPE_C32},
	{"torch.complex64", WTI_NAME_TYPE, WT_DTYPE_C64},
	{"torch.complex128", WTI_NAME_TYPE, WT_DTYPE_C128},
	{"torch.float8_e4m3fn", WTI_NAME_TYPE, WT_DTYPE_F8E4M3},
	{"torch.float8_e5m2", WTI_NAME_TYPE, WT_DTYPE_F8E5M2},
	{"torch.float8_e4m3fnuz", WTI_NAME_TYPE, WT_DTYPE_F8E4M3FNUZ},
	{"torch.float8_e5m2fnuz", WTI_NAME_TYPE, WT_DTYPE_F8E5M2FNUZ},
	{"torch.float8_e8m0fnu", WTI_NAME_TYPE, WT_DTYPE_F8E8M0},

	/* Arrays of numpy. */
	{"numpy.core.multiarray._reconstruct", WTI_NAME_ARRAY},
	{"numpy._core.multiarray._reconstruct", WTI_NAME_ARRAY},
	{"numpy.core.numeric._frombuffer", WTI_NAME_ARRAY_OF},
	{"numpy._core.numeric._frombuffer", WTI_NAME_ARRAY_OF},
	{"numpy.core.multiarray.scalar", WTI_NAME_SCALAR},
	{"numpy._core.multiarray.scalar", WTI_NAME_SCALAR},
	{"numpy.dtype", WTI_NAME_NUMPY_TYPE},

	/* What torch.distributed.checkpoint says of a folder. */
	{"torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING", WTI_NAME_PLAIN},
	{"torch.distributed.checkpoint.metadata.Metadata", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.TensorStorageMetadata", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.BytesStorageMetadata", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.ChunkStorageMetadata", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.TensorProperties", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.MetadataIndex", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.metadata.StorageMeta", WTI_NAME_CLASS},
	{"torch.distributed.checkpoint.filesystem._StorageInfo", WTI_NAME_CLASS},
	{"torch.distributed._shard.sharded_tensor.metadata.TensorProperties", WTI_NAME_CLASS},
	{"torch.distributed._shard.sharded_tensor.metadata.MEM_FORMAT_ENCODING", WTI_NAME_PLAIN},
};

/* Classes whose instances are data wherever they come: modules, and what TorchScript has compiled.
 */
static const char *const fronts[] = {"torch.nn.modules.", "__torch__."};

void wti_pickle_name(struct wti_pickle_value *name)
{
	name->meaning = WTI_NAME_UNKNOWN;
	for (size_t i = 0; i < WTI_COUNT(fronts); i++)
		if (!strncmp(name->text, fronts[i], strlen(fronts[i])))
			name->meaning = WTI_NAME_CLASS;
	for (size_t i = 0; i < WTI_COUNT(names); i++) {
		if (strcmp(names[i].name, name->text))
			continue;
		name->meaning = names[i].meaning;
		name->dtype = names[i].dtype;
		return;
	}
}
