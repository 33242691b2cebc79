# SPDX-License-Identifier: Apache-2.0
"""One library that makes model files, by the interpreter that has it: usage: model_peer.py WHEELTAP PEER"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import numpy

PROGRAM, PEER = sys.argv[1:3]
RANDOM = numpy.random.default_rng(3)
ARRAYS = {
    "w": RANDOM.normal(size=(7, 5)).astype("f4"), "h": RANDOM.normal(size=(3,)).astype("f2"), "i": numpy.arange(6, dtype="i8").reshape(2, 3),
    "b": numpy.array([True, False]), "s": numpy.array(2.5), "u": numpy.arange(4, dtype="u1"), "e": numpy.zeros((0, 3), "f4"),
}  # fmt: skip


def run(*words: str) -> str:
    return subprocess.run([PROGRAM, "model", *words], check=True, capture_output=True, text=True).stdout


def look(path: str) -> dict[str, dict]:
    return {row["name"]: row for row in json.loads(run("inspect", path, "--json"))["tables"]["tensors"]}


def same(path: str, arrays: dict[str, numpy.ndarray]) -> None:
    rows = look(path)
    for name, array in arrays.items():
        little = numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
        assert rows[name]["sha256"] == hashlib.sha256(little.tobytes()).hexdigest(), (path, name, rows[name])
        assert rows[name]["shape"] == str(list(array.shape)), (path, name, rows[name])


def with_numpy() -> None:
    numpy.savez("plain.npz", **ARRAYS)
    numpy.savez_compressed("small.npz", **ARRAYS)
    same("plain.npz", ARRAYS)
    same("small.npz", ARRAYS)
    run("convert", "small.npz", "ours.npz")
    with numpy.load("ours.npz") as back:
        assert list(back) == list(ARRAYS), list(back)
        assert all(back[name].shape == array.shape and back[name].dtype == array.dtype and (back[name] == array).all() for name, array in ARRAYS.items())
    for number, array in enumerate((ARRAYS["w"].astype(">f4"), numpy.asfortranarray(ARRAYS["w"]), numpy.array(1 + 2j), ARRAYS["e"])):
        numpy.save("one.npy", array)
        same("one.npy", {"array": array})
        run("convert", "one.npy", f"two{number}.npy")
        back = numpy.load(f"two{number}.npy")
        assert back.shape == array.shape and (back == array).all(), array


def both_forms_of_torch() -> None:
    """Both forms that torch writes, views among them, through safetensors and back into a file that torch loads."""
    import torch

    wide = torch.randn(6, 8)
    tensors = {"wide": wide, "view": wide.t()[2:5], "half": torch.randn(3).half(), "bf16": torch.randn(2, 2).bfloat16(), "whole": torch.arange(6).reshape(2, 3),
               "flags": torch.tensor([True, False]), "one": torch.tensor(2.5, dtype=torch.float64), "none": torch.zeros(0, 3)}  # fmt: skip
    for is_zip in (True, False):
        torch.save(tensors, "theirs.pt", _use_new_zipfile_serialization=is_zip)
        run("convert", "theirs.pt", "between.safetensors")
        run("convert", "between.safetensors", "ours.pt")
        back = torch.load("ours.pt", weights_only=True)
        assert list(sorted(back)) == list(sorted(tensors)), list(back)
        for name, tensor in tensors.items():
            assert back[name].dtype == tensor.dtype and torch.equal(back[name], tensor), (is_zip, name, back[name])


def with_torch() -> None:
    import torch

    both_forms_of_torch()
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 32))
    # As it was drawn, no step taken: WT-MODEL-011, and not after a few steps.
    for steps, found in ((0, True), (20, False)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(32, 64)).square().sum().backward()
            optimizer.step()
        torch.save(model.state_dict(), "model.pt")
        same("model.pt", {name: value.numpy() for name, value in model.state_dict().items()})
        said = subprocess.run([PROGRAM, "model", "verify", "model.pt", "--json"], capture_output=True, text=True).stdout
        assert found == any(one["id"] == "WT-MODEL-011" for one in json.loads(said)["findings"]), (steps, said)


def with_safetensors() -> None:
    from safetensors.numpy import load_file, save_file

    save_file(ARRAYS, "theirs.safetensors", metadata={"a": "b"})
    same("theirs.safetensors", ARRAYS)
    run("convert", "theirs.safetensors", "ours.safetensors")
    with open("theirs.safetensors", "rb") as theirs, open("ours.safetensors", "rb") as ours:
        assert theirs.read() == ours.read(), "not the same bytes"
    back = load_file("ours.safetensors")
    assert all((back[name] == array).all() and back[name].dtype == array.dtype for name, array in ARRAYS.items())


def with_gguf() -> None:
    import gguf

    quantised = numpy.frombuffer(RANDOM.bytes(34 * 4 * 2), dtype=numpy.uint8).reshape(2, 34 * 4)
    writer = gguf.GGUFWriter("model.gguf", "llama")
    writer.add_uint32("x.count", 7)
    writer.add_string("x.name", "hello")
    writer.add_array("x.list", ["a", "bb"])
    writer.add_tensor("w", ARRAYS["w"])
    writer.add_tensor("h", ARRAYS["h"])
    writer.add_tensor("q", quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    same("model.gguf", {"w": ARRAYS["w"], "h": ARRAYS["h"]})
    row = look("model.gguf")["q"]
    assert (row["dtype"], row["shape"], row["sha256"]) == ("Q8_0", "[2, 128]", hashlib.sha256(quantised.tobytes()).hexdigest()), row


def with_onnx() -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    tensors = [numpy_helper.from_array(array, name) for name, array in ARRAYS.items()]
    halves = numpy.array([1, 2], "f2").view("u2")
    tensors += [helper.make_tensor("floats", TensorProto.FLOAT, [2], [1.5, 2.5]), helper.make_tensor("int64", TensorProto.INT64, [3], [-1, 2, 3]),
                helper.make_tensor("int32", TensorProto.INT32, [2], [-7, 9]), helper.make_tensor("halves", TensorProto.FLOAT16, [2], halves),
                helper.make_tensor("uint32", TensorProto.UINT32, [2], [4000000000, 1])]  # fmt: skip
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [7, 5])
    model = helper.make_model(helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [], [output], tensors), producer_name="peer")
    onnx.save(model, "model.onnx")
    same("model.onnx", {one.name: numpy_helper.to_array(one) for one in tensors})
    onnx.save(model, "parts.onnx", save_as_external_data=True, all_tensors_to_one_file=True, location="parts.data", size_threshold=0)
    same("parts.onnx", ARRAYS)


globals()["with_" + PEER]()
