/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors, as torch's own headers say where things are. Only what lies in plain memory of the CPU
 * is looked at; whether it does is known by its dispatch keys, so that no code of a subclass can
 * run.
 */
#include "internal.h"

#include <ATen/core/TensorBody.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <array>
#include <cstring>

namespace
{

constexpr size_t TYPES = static_cast<size_t>(c10::ScalarType::NumOptions);

/* By their names: which there are depends on the version of torch. */
uint32_t dtype_named(const char *name)
{
	static const struct {
		const char *name;
		uint32_t dtype;
	} names[] = {
		{"Bool", WT_DTYPE_BOOL},
		{"Byte", WT_DTYPE_U8},
		{"Char", WT_DTYPE_I8},
		{"UInt16", WT_DTYPE_U16},
		{"Short", WT_DTYPE_I16},
		{"UInt32", WT_DTYPE_U32},
		{"Int", WT_DTYPE_I32},
		{"UInt64", WT_DTYPE_U64},
		{"Long", WT_DTYPE_I64},
		{"Half", WT_DTYPE_F16},
		{"BFloat16", WT_DTYPE_BF16},
		{"Float", WT_DTYPE_F32},
		{"Double", WT_DTYPE_F64},
		{"ComplexFloat", WT_DTYPE_C64},
		{"ComplexDouble", WT_DTYPE_C128},
		{"Float8_e4m3fn", WT_DTYPE_F8E4M3},
		{"Float8_e5m2", WT_DTYPE_F8E5M2},
	};

	for (const auto &known : names)
		if (std::strcmp(known.name, name) == 0)
			return known.dtype;
	return WT_DTYPE_OTHER;
}

std::array<uint32_t, TYPES> make_dtypes()
{
	std::array<uint32_t, TYPES> dtypes;

	for (size_t i = 0; i < TYPES; i++)
		dtypes[i] = dtype_named(c10::toString(static_cast<c10::ScalarType>(i)));
	return dtypes;
}

const std::array<uint32_t, TYPES> dtypes = make_dtypes();

const uint64_t plain_keys = (c10::DispatchKeySet(c10::DispatchKey::CPU) |
			     c10::DispatchKeySet(c10::DispatchKey::AutogradCPU) |
			     c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView) |
			     c10::DispatchKeySet(c10::DispatchKey::AutocastCPU))
				    .raw_repr();

bool is_plain(const c10::TensorImpl *impl)
{
	return (impl->key_set().raw_repr() & ~plain_keys) == 0;
}

uint64_t version_of(const c10::TensorImpl *impl)
{
	const c10::VariableVersion &version = impl->version_counter();

	return version.enabled() ? version.current_version() : UINT64_MAX;
}

bool look_at(const c10::TensorImpl *impl, wti_shim_tensor *ret)
{
	const c10::IntArrayRef sizes = impl->sizes();
	const c10::IntArrayRef strides = impl->strides();
	const c10::Storage &storage = impl->unsafe_storage();

	if (sizes.size() > WTI_SHIM_RANK_MAX || strides.size() != sizes.size())
		return false;
	ret->storage = storage ? static_cast<const char *>(storage.data()) : nullptr;
	ret->storage_bytes = storage ? storage.nbytes() : 0;
	ret->offset = static_cast<uint64_t>(impl->storage_offset());
	ret->count = static_cast<uint64_t>(impl->numel());
	ret->version = version_of(impl);
	ret->sizes = sizes.data();
	ret->strides = strides.data();
	ret->rank = static_cast<uint32_t>(sizes.size());
	ret->dtype = dtypes[static_cast<size_t>(c10::typeMetaToScalarType(impl->dtype()))];
	ret->item_bytes = static_cast<uint32_t>(impl->itemsize());
	ret->requires_grad = impl->requires_grad();
	return true;
}

} // namespace

bool wti::look(const void *opaque, wti_shim_tensor *ret) noexcept
{
	const auto *impl = static_cast<const c10::TensorImpl *>(opaque);

	try {
		return is_plain(impl) && look_at(impl, ret);
	} catch (...) {
		return false;
	}
}

bool wti::requires_grad(const void *opaque) noexcept
{
	try {
		return static_cast<const c10::TensorImpl *>(opaque)->requires_grad();
	} catch (...) {
		return false;
	}
}

const void *wti::grad(const void *opaque) noexcept
{
	const auto *impl = static_cast<const c10::TensorImpl *>(opaque);

	try {
		const at::Tensor &grad = impl->grad();

		return grad.defined() ? grad.unsafeGetTensorImpl() : nullptr;
	} catch (...) {
		return nullptr;
	}
}

/* Held for the moment of the question: torch asks it of tensors alone. */
bool wti::is_leaf(const void *opaque) noexcept
{
	using holder = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
	auto *impl = const_cast<c10::TensorImpl *>(static_cast<const c10::TensorImpl *>(opaque));

	try {
		return at::Tensor(holder::reclaim_copy(impl)).is_leaf();
	} catch (...) {
		return false;
	}
}

/* Autocast is on for a device where nothing keeps its key from operators. */
uint32_t wti::modes() noexcept
{
	const c10::DispatchKeySet excluded = c10::impl::tls_local_dispatch_key_set().excluded_;
	const bool is_cast = !(c10::autocast_dispatch_keyset - excluded).empty();

	return (c10::GradMode::is_enabled() ? WTI_SHIM_GRAD : 0) |
	       (is_cast ? WTI_SHIM_AUTOCAST : 0) |
	       (c10::InferenceMode::is_enabled() ? WTI_SHIM_INFERENCE : 0);
}
