#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small model files of every format, written by the libraries that define the formats.

usage: make.py FOLDER

Needs numpy, torch 2, safetensors, gguf and onnx. Tests read the files that are kept here and do not run this: other versions of the libraries
write other bytes. The sample of Burn's JSON is one of Burn's own files (../burn/samples), cut to one layer of two inputs and one output.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import gguf
import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import safetensors.numpy
import torch
import torch.distributed.checkpoint

WEIGHT = numpy.array([[1.5, -2.0, 0.25], [3.0, 0.5, -0.125]], "f4")
BIAS = numpy.array([0.1, -0.2], "f4")
ARRAYS = {"l.weight": WEIGHT, "l.bias": BIAS}
BURN = Path(__file__).resolve().parents[1] / "burn" / "samples" / "tiny-full.json"


def with_numpy() -> None:
    numpy.save("array.npy", WEIGHT)
    numpy.savez("arrays.npz", **ARRAYS)
    numpy.savez_compressed("deflated.npz", **ARRAYS)


def with_torch() -> None:
    state = {name: torch.from_numpy(array) for name, array in ARRAYS.items()}
    torch.save(state, "zip.pt")
    torch.save(state, "legacy.pt", _use_new_zipfile_serialization=False)
    torch.distributed.checkpoint.save({"l.bias": state["l.bias"]}, checkpoint_id="dcp")


def with_safetensors() -> None:
    safetensors.numpy.save_file(ARRAYS, "plain.safetensors", metadata={"format": "np"})
    os.makedirs("sharded", exist_ok=True)
    files = {name: f"part-{number}.safetensors" for number, name in enumerate(ARRAYS)}
    for name, file in files.items():
        safetensors.numpy.save_file({name: ARRAYS[name]}, f"sharded/{file}")
    Path("sharded/model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 32}, "weight_map": files}))


def with_gguf() -> None:
    writer = gguf.GGUFWriter("plain.gguf", "tiny")
    for name, array in ARRAYS.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def with_onnx() -> None:
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in ARRAYS.items()]
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Gemm", ["x", "l.weight", "l.bias"], ["y"], transB=1)
    graph = onnx.helper.make_graph([node], "tiny", [value("x", 1, [1, 3])], [value("y", 1, [1, 2])], initializers)
    onnx.save(onnx.helper.make_model(graph), "plain.onnx")


def with_burn() -> None:
    record = json.loads(BURN.read_text())
    layer = record["item"].pop("linear2")
    for name, shape in (("weight", [2, 1]), ("bias", [1])):
        param = layer[name]["param"]
        param.update(bytes=param["bytes"][: 4 * shape[0]], shape=shape)
    record["item"] = {"linear": layer}
    Path("burn.json").write_text(json.dumps(record, indent=2))


def main() -> None:
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    for make in (with_numpy, with_torch, with_safetensors, with_gguf, with_onnx, with_burn):
        make()


if __name__ == "__main__":
    main()
