# SPDX-License-Identifier: Apache-2.0
"""Models, optimizers, schedulers, scalers and loaders of a run: which tensors belong to them, and what they are called.

Nothing is kept alive, and no method of the program's is called: attributes are taken from the instances' own
dictionaries. A name is the class's; the second object of a class is `Net#1`, in the order in which they are met. A
parameter keeps the first name that it is given, whatever its model is wrapped in later.
"""

from __future__ import annotations

import gc
import weakref
from types import FunctionType, ModuleType
from typing import Any, Iterator

from ._freezes import freezes

# The values of object_type, found and role in schema/events.toml.
MODULE, WRAPPER, AVERAGE, OPTIMIZER, SCHEDULER, SCALER, LOADER, SAMPLER = range(1, 9)
MADE, COPIED, UNPICKLED, CALLED, WALKED = range(5)
PARAMETER, BUFFER, OPTIMIZED, LEFT = range(4)

NAMED_MAX = 64  # objects of a class that get a name
COPIES_MAX = 4096  # copies whose origin is remembered
TENSORS_MAX = 1 << 20  # of a model

# A module with no tensors of its own and one module in it, under one of these names, is a wrapper of that.
INNER = {"module", "_orig_mod", "_fsdp_wrapped_module", "_fpw_module", "_forward_module", "_checkpoint_wrapped_module"}
LOADER_FACTS = ("batch_size", "num_workers", "drop_last", "prefetch_factor", "persistent_workers")
MODULE_FACTS = ("batch_first", "padding_idx", "ignore_index")  # of torch's own modules
SCHEDULER_FACTS = ("total_iters", "total_steps", "T_max")  # after how many of its steps it has reached its end
SAMPLER_FACTS = ("epoch", "seed", "rank", "num_replicas", "shuffle", "drop_last", "replacement")


def own(thing: Any, name: str) -> Any:
    """An attribute from the object's own dictionary, or None."""
    try:
        return object.__getattribute__(thing, "__dict__").get(name)
    except AttributeError:
        return None


def own_all(thing: Any) -> dict[str, Any]:
    """A copy of the object's own dictionary."""
    try:
        return dict(object.__getattribute__(thing, "__dict__"))
    except AttributeError:
        return {}


def rows_of(dataset: Any) -> int | None:
    """How many rows a data set has, if that can be known without asking a class of the program's."""
    if type(dataset) in (list, tuple, range):
        return len(dataset)
    if type(dataset).__module__ != "torch.utils.data.dataset":
        return None
    rows = own(dataset, "tensors") or own(dataset, "indices")  # TensorDataset, Subset
    first = rows[0] if type(rows) is tuple and rows else None
    if first is not None:
        shape = getattr(first, "shape", None) if type(first).__module__ == "torch" else None
        return shape[0] if shape else None
    return len(rows) if type(rows) in (list, range) else None


def inner_of(module: Any) -> Any:
    """The module that this one wraps, or None."""
    children = own(module, "_modules") or {}
    if len(children) != 1 or own(module, "_parameters"):
        return None
    name, child = next(iter(children.items()))
    return child if name in INNER else None


def switches_mode(function: Any) -> bool:
    """train(self, mode): with more to be given it is a method of another meaning, such as one that fits a layer."""
    code = getattr(function, "__code__", None)
    return function is not None and (code is None or code.co_argcount <= 2)


class Objects:
    """Names objects as they are found, and emits them and their tensors."""

    def __init__(self, torch: ModuleType, core: ModuleType) -> None:
        self.torch: Any = torch
        self.core: Any = core
        self.numbers: dict[str, int] = {}
        self.roots: dict[str, Any] = {}  # name: weak reference
        self.told: dict[str, dict[str, int]] = {}  # name: path: id of the tensor
        self.trained: set[str] = set()
        self.rates: dict[str, float] = {}  # of dropouts, by name
        self.copies: dict[int, tuple[Any, Any]] = {}
        schedulers = torch.optim.lr_scheduler
        self.schedulers = tuple(getattr(schedulers, name) for name in ("LRScheduler", "_LRScheduler", "ReduceLROnPlateau",
                                "SequentialLR", "ChainedScheduler") if hasattr(schedulers, name))
        self.scalers = tuple(getattr(space, "GradScaler") for space in (torch.cuda.amp, getattr(torch, "amp", None))
                             if hasattr(space, "GradScaler"))

    def _name(self, kind: str) -> str:
        """The next name for an object of a class; empty when there are too many."""
        number = self.numbers.get(kind, 0)
        self.numbers[kind] = number + 1
        if number >= NAMED_MAX:
            if number == NAMED_MAX:
                self.core.own_line(2, f"not_measured: there are too many objects of the kind {kind}; no more are recorded")
            return ""
        return f"{kind}#{number}" if number else kind

    def name_of(self, thing: Any) -> str:
        for kind in (self.core.LIVE_MODULE, self.core.LIVE_OPTIMIZER, self.core.LIVE_LOADER, self.core.LIVE_OTHER):
            known = self.core.known(thing, kind)
            if known is not None:
                return f"{known[0]}.{known[1]}" if known[1] else str(known[0])
        return ""

    # ---- Models ---------------------------------------------------------------------------------

    def _root(self, module: Any) -> Any:
        """The outermost of the modules that hold this one."""
        parents: dict[int, Any] = {}
        for holder in self.core.living(self.core.LIVE_MODULE):
            for child in (own(holder, "_modules") or {}).values():
                if child is not None and child is not holder:
                    parents.setdefault(id(child), holder)
        seen = {id(module)}
        while id(module) in parents and id(parents[id(module)]) not in seen:
            module = parents[id(module)]
            seen.add(id(module))
        return module

    def model_found(self, module: Any) -> None:
        """A module without a name is used: names the model that it belongs to."""
        self._name_model(self._root(module), CALLED)
        if self.core.known(module, self.core.LIVE_MODULE) is None:
            self.core.follow_module(module, "", "", "")  # there are too many: it stays without

    def models_changed(self, modules: list[Any]) -> None:
        """Modules have parameters that they did not have before."""
        roots = {id(root): root for root in map(self._root, modules)}
        for root in roots.values():
            self._name_model(root, CALLED)

    def copied(self, pair: tuple[Any, Any]) -> None:
        """A module has been deep-copied. What the copy is called is decided when it is used: it may become a part."""
        if len(self.copies) < COPIES_MAX:
            self.copies[id(pair[1])] = (weakref.ref(pair[1]), weakref.ref(pair[0]))

    def _origin(self, module: Any) -> str:
        copy, source = self.copies.get(id(module), (None, None))
        if copy is None or copy() is not module or source() is None:
            return ""
        if not self.name_of(source()):
            self.model_found(source())
        return self.name_of(source())

    def _name_model(self, root: Any, how: int) -> None:
        chain = [root]  # wrappers, outermost first, and the model in them
        while inner_of(chain[-1]) is not None and len(chain) < 16:
            chain.append(inner_of(chain[-1]))
        name = ""
        for module in reversed(chain):
            known = self.core.known(module, self.core.LIVE_MODULE)
            if known is not None and not known[1]:
                name = known[0]
                if module is chain[-1]:
                    self._walk(module, name)
                continue
            name = self._tell_wrapper(module, name, how) if name else self._tell_model(module, how)
            if not name:
                return

    def _tell_model(self, module: Any, how: int) -> str:
        origin = self._origin(module)
        name = self._name(type(module).__name__)
        if name:
            self.core.object(module, self.core.LIVE_MODULE, MODULE, name, origin, COPIED if origin else how)
            self.roots[name] = weakref.ref(module)
            self._walk(module, name)
            self._hook_methods(module, name)
        return name

    def _hook_methods(self, root: Any, owner: str) -> None:
        """What classes of the program's add to a module and a rule wants to know: train() with effects of its own, generate()."""
        for kind in {type(module) for _, module in self._modules(root)}:
            if kind.__module__.partition(".")[0] == "torch":
                continue
            if switches_mode(getattr(kind, "train", None)) and kind.train is not self.torch.nn.Module.train:
                self._hook(kind, "train", self.core.ARGUMENTS, self.core.MODULE_METHOD)
                if freezes(kind):
                    self.core.state(owner, "overrides_train", kind.__name__)
            self._hook(kind, "generate", self.core.ARGUMENTS | self.core.SIZES, self.core.MODULE_METHOD)

    def _tell_wrapper(self, module: Any, inner: str, how: int) -> str:
        name = f"{type(module).__name__}({inner})"
        averages = isinstance(module, getattr(self.torch.optim.swa_utils, "AveragedModel", ()))
        self.core.object(module, self.core.LIVE_MODULE, AVERAGE if averages else WRAPPER, name, inner, how)
        self.core.follow_module(module, name, "", name)
        for key, buffer in (own(module, "_buffers") or {}).items():
            if buffer is not None:
                self._tell_member(name, key, buffer, BUFFER, 0)
        if inner in self.trained:
            self.core.trained(inner)
        return name

    def _modules(self, root: Any) -> Iterator[tuple[str, Any]]:
        """All modules of a model with their paths, in the order of their making."""
        waiting, seen = [("", root)], set()
        while waiting:
            path, module = waiting.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            hidden = inner_of(module) if module is not root else None
            for name, child in reversed(list((own(module, "_modules") or {}).items())):
                if child is not None:
                    waiting.append((path if child is hidden else f"{path}.{name}" if path else name, child))

    def _walk(self, root: Any, owner: str) -> None:
        """Emits the tensors of a model that have not been emitted yet, or have been replaced."""
        told = self.told.setdefault(owner, {})
        now: dict[str, int] = {}
        for path, module in self._modules(root):
            if self.core.known(module, self.core.LIVE_MODULE) is None:
                self.core.follow_module(module, owner, path, f"{owner}.{path}" if path else owner)
                self._tell_facts(module, f"{owner}.{path}" if path else owner)
            for role, key in ((PARAMETER, "_parameters"), (BUFFER, "_buffers")):
                for name, tensor in (own(module, key) or {}).items():
                    if tensor is not None and len(now) < TENSORS_MAX:
                        full = f"{path}.{name}" if path else name
                        now[full] = id(tensor)
                        if role == PARAMETER and full in told and told[full] != id(tensor):
                            self.core.unfollow(owner, full)
                        if full not in told or role == PARAMETER and (
                                told[full] != id(tensor) or self.core.known(tensor, self.core.LIVE_TENSOR) is None):
                            self._tell_member(owner, full, tensor, role, 0)
        self.told[owner] = now
        if owner in self.trained:
            self.core.trained(owner)
        if told and now != told:  # what optimizers have may not be what the model has
            for optimizer in self.core.living(self.core.LIVE_OPTIMIZER):
                self._tell_groups(optimizer)

    def _tell_facts(self, module: Any, name: str) -> None:
        """What decides how a module of torch's reads its input."""
        if not type(module).__module__.startswith("torch.nn."):
            return
        for fact in MODULE_FACTS:
            value = own(module, fact)
            if isinstance(value, (int, bool)):
                self.core.state(name, fact, value)
        self._tell_rate(module, name)

    def _tell_rate(self, module: Any, name: str) -> None:
        """How much a dropout drops, unless it is known: with a rate of 0 its mode makes no difference."""
        rate = own(module, "p")
        if isinstance(rate, (int, float)) and type(module).__module__ == "torch.nn.modules.dropout":
            if self.rates.get(name) != rate:
                self.rates[name] = rate
                self.core.state(name, "p", float(rate))

    def model_begins(self, root: Any) -> None:
        """A model is called for the first time: what was set since it became known."""
        for _, module in self._modules(root):
            if type(module).__module__ == "torch.nn.modules.dropout":
                known = self.core.known(module, self.core.LIVE_MODULE)
                if known is not None:
                    self._tell_rate(module, ".".join(filter(None, known)))

    def _tell_member(self, owner: str, name: str, tensor: Any, role: int, group: int) -> None:
        self.core.member(owner, name, tensor, role, group, self._placement(tensor))

    def _placement(self, tensor: Any) -> str:
        """How a tensor is spread over ranks; empty: it is whole."""
        kind = type(tensor)
        if kind is self.torch.nn.Parameter or kind is self.torch.Tensor:
            return ""
        if kind.__name__ == "FlatParameter":
            return "sharded"
        if kind.__name__ == "DTensor" and kind.__module__.startswith("torch."):
            return ",".join(str(placement) for placement in tensor.placements)
        return "sharded" if kind.__name__ == "ShardedTensor" else ""

    # ---- Optimizers and what goes with them -----------------------------------------------------

    def made(self, thing: Any) -> None:
        self._found(thing, MADE)

    def met(self, thing: Any) -> None:
        """An object of ours is used that nobody saw being made."""
        self._found(thing, CALLED)

    def _found(self, thing: Any, how: int) -> None:
        kind = type(thing)
        if self.name_of(thing):
            return
        if issubclass(kind, self.torch.optim.Optimizer):
            self._tell_optimizer(thing, how)
        elif issubclass(kind, self.schedulers):
            self._tell_scheduler(thing, how)
        elif issubclass(kind, self.scalers):
            self._tell_plain(thing, SCALER, "", how)
        elif issubclass(kind, self.torch.utils.data.DataLoader):
            self._tell_loader(thing, how)

    def _tell_plain(self, thing: Any, kind: int, of: str, how: int) -> str:
        name = self._name(type(thing).__name__)
        if name:
            self.core.object(thing, self.core.LIVE_OTHER, kind, name, of, how)
        return name

    def _hook(self, kind: type, name: str, flags: int, action: int) -> None:
        function = getattr(kind, name, None)
        if isinstance(function, FunctionType):
            self.core.hook(function, kind.__module__, f"{kind.__qualname__}.{name}", self.core.ALWAYS | flags, action)

    def _tell_optimizer(self, optimizer: Any, how: int) -> None:
        """Also hooks what its class overrides, and step, which torch makes anew with the first optimizer of a class."""
        kind = type(optimizer)
        self._hook(kind, "step", 0, self.core.STEP)
        self._hook(kind, "zero_grad", self.core.ARGUMENTS, self.core.CLEAR)
        name = self._name(kind.__name__)
        if not name:
            return
        self._name_owners(optimizer)
        self.core.object(optimizer, self.core.LIVE_OPTIMIZER, OPTIMIZER, name, self._wrapped_by(optimizer), how)
        self._tell_groups(optimizer)

    def _wrapped_by(self, optimizer: Any) -> str:
        """The name of the optimizer that this one only passes calls on to, or nothing."""
        if own(optimizer, "param_groups") is not None:
            return ""
        inner = [value for value in own_all(optimizer).values() if issubclass(type(value), self.torch.optim.Optimizer)]
        return self.name_of(inner[0]) or "" if len(inner) == 1 else ""

    def _groups(self, optimizer: Any) -> list[list[Any]]:
        groups = own(optimizer, "param_groups")
        return [list(group.get("params", ())) for group in groups if isinstance(group, dict)] if groups else []

    def _name_owners(self, optimizer: Any) -> None:
        """The models whose parameters these are get their names; one that has been given others since is walked again."""
        wanted = {id(parameter) for group in self._groups(optimizer) for parameter in group
                  if self.core.known(parameter, self.core.LIVE_TENSOR) is None}
        if not wanted:
            return
        for module in self.core.living(self.core.LIVE_MODULE):
            if any(id(parameter) in wanted and self.core.known(parameter, self.core.LIVE_TENSOR) is None
                   for parameter in (own(module, "_parameters") or {}).values()):
                self.model_found(module)

    def _tell_groups(self, optimizer: Any) -> None:
        known = self.core.known(optimizer, self.core.LIVE_OPTIMIZER)
        if known is None:
            return
        told = self.told.setdefault(known[0], {})
        for number, group in enumerate(self._groups(optimizer)):
            for index, parameter in enumerate(group):
                place = f"group{number}.{index}"
                owner = self.core.known(parameter, self.core.LIVE_TENSOR)
                fact = hash((id(parameter), owner))
                if told.get(place) != fact:
                    self._tell_member(known[0], place, parameter, OPTIMIZED, number)
                    told[place] = hash((id(parameter), self.core.known(parameter, self.core.LIVE_TENSOR)))
                if owner is not None and owner[0] in self.roots and owner[0] not in self.trained:
                    self.trained.add(owner[0])
                    self.core.trained(owner[0])

    def group_added(self, optimizer: Any) -> None:
        self._name_owners(optimizer)
        self._tell_groups(optimizer)

    def _tell_scheduler(self, scheduler: Any, how: int) -> None:
        self._hook(type(scheduler), "step", self.core.ARGUMENTS, self.core.SCHEDULE)
        optimizer = own(scheduler, "optimizer")
        name = self._tell_plain(scheduler, SCHEDULER, self.name_of(optimizer) if optimizer is not None else "", how)
        if name:
            self.core.state(name, "last_epoch", own(scheduler, "last_epoch"))
            for fact in SCHEDULER_FACTS:
                if isinstance(own(scheduler, fact), int):
                    self.core.state(name, fact, own(scheduler, fact))
            for inner in list(own(scheduler, "_schedulers") or ())[:16]:
                if self.name_of(inner):
                    self.core.state(self.name_of(inner), "part_of", name)
            for index, rate in enumerate(list(own(scheduler, "_last_lr") or ())[:16]):
                self.core.state(name, f"_last_lr[{index}]", rate)

    # ---- Loaders --------------------------------------------------------------------------------

    def _tell_loader(self, loader: Any, how: int) -> None:
        name = self._name(type(loader).__name__)
        if not name:
            return
        self.core.object(loader, self.core.LIVE_LOADER, LOADER, name, "", how)
        for fact in LOADER_FACTS:
            self.core.state(name, fact, own(loader, fact))
        rows = rows_of(own(loader, "dataset"))
        if rows is not None:
            self.core.state(name, "rows", rows)
        sampler = own(loader, "sampler")
        if sampler is not None and not self.name_of(sampler):
            self._tell_plain(sampler, SAMPLER, name, how)

    def loader_begun(self, loader: Any) -> None:
        """A round of a loader begins: what its sampler goes by."""
        sampler = own(loader, "sampler")
        name = self.name_of(sampler) if sampler is not None else ""
        for fact in SAMPLER_FACTS if name else ():
            value = own(sampler, fact)
            if isinstance(value, (int, bool)):
                self.core.state(name, fact, value)

    # ---- All that exist already -----------------------------------------------------------------

    def walk(self) -> None:
        """Finds what was made before we came, or while we were stopped."""
        types = (self.torch.nn.Module, self.torch.optim.Optimizer, self.torch.utils.data.DataLoader, *self.schedulers,
                 *self.scalers)
        found = [thing for thing in gc.get_objects() if issubclass(type(thing), types)]
        modules = [thing for thing in found if issubclass(type(thing), self.torch.nn.Module)]
        for module in modules:
            self.core.walked(module)
        held = {id(child) for module in modules for child in (own(module, "_modules") or {}).values()}
        for module in modules:
            if id(module) not in held and any(own(module, key) for key in ("_parameters", "_buffers", "_modules")):
                self._name_model(module, CALLED)
        for thing in found:
            if not issubclass(type(thing), self.torch.nn.Module):
                self._found(thing, WALKED)
