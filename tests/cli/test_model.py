#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The verb `model` on files made here; the canonical digest as docs/model.md defines it, computed a second time.

usage: test_model.py WHEELTAP
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import string
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import models  # noqa: E402
from harness import PATIENCE, Scratch, environment  # noqa: E402

PROGRAM = str(Path(sys.argv[1]).resolve())
WORDS = {"F32": "f32", "F64": "f64", "I64": "i64", "U8": "u8", "F4": "F4", "C64": "c64"}
TENSORS: dict[str, models.Tensor] = {
    "b": ("F32", [2, 3], models.floats(1, 2, 3, 4, 5, 6)),
    "a.é": ("I64", [], struct.pack("<q", -5)),
    "B": ("U8", [0, 7], b""),
    "packed": ("F4", [4], b"\x12\x34"),
    "c": ("C64", [1], models.floats(1, -1)),
}


def number(value: int) -> bytes:
    return struct.pack("<Q", value)


def canonical(tensors: dict[str, models.Tensor]) -> str:
    """As docs/model.md has it."""
    out = hashlib.sha256(b"wheeltap model digest 1\n" + number(len(tensors)))
    for name in sorted(tensors, key=str.encode):
        dtype, shape, data = tensors[name]
        for text in (name.encode(), WORDS[dtype].encode()):
            out.update(number(len(text)) + text)
        out.update(number(len(shape)) + b"".join(map(number, shape)) + number(len(data)) + hashlib.sha256(data).digest())
    return out.hexdigest()


class Model(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = Scratch()
        self.folder = self.scratch.__enter__()
        self.model = models.write(self.folder / "model.safetensors", models.safetensors(TENSORS, {"epoch": "3"}))

    def tearDown(self) -> None:
        self.scratch.__exit__(None, None, None)

    def run_model(self, *words: object, status: int = 0) -> str:
        done = subprocess.run([PROGRAM, "model", *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                              env=environment(LC_ALL="C.UTF-8"))
        self.assertEqual(done.returncode, status, done)
        return done.stdout + done.stderr

    def object(self, *words: object, status: int = 0) -> dict:
        return json.loads(self.run_model(*words, "--json", status=status))

    def test_inspect(self) -> None:
        said = self.object("inspect", "model.safetensors")
        self.assertEqual(said["canonical"], canonical(TENSORS))
        self.assertEqual(said["parameters"], 6 + 1 + 0 + 4 + 1)
        rows = {row["name"]: row for row in said["tables"]["tensors"]}
        self.assertEqual(list(rows), list(TENSORS))
        self.assertEqual((rows["b"]["min"], rows["b"]["max"], rows["b"]["mean"]), (1, 6, 3.5))
        self.assertEqual(rows["b"]["sha256"], hashlib.sha256(TENSORS["b"][2]).hexdigest())
        self.assertEqual((rows["packed"]["dtype"], rows["packed"]["min"]), ("F4", None))
        self.assertEqual(said["tables"]["metadata"], [{"key": "epoch", "value": "3"}])

    def test_page(self) -> None:
        self.run_model("inspect", "model.safetensors", "--html", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn("a.é", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/", ""))
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        pictures = {row["tensor"]: row for row in data["tables"]["pictures"]}
        # Each element has a cell of its own here: its lowest and its highest value are the element.
        digits = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
        pairs = [pictures["b"]["cells"][i : i + 2] for i in range(0, len(pictures["b"]["cells"]), 2)]
        values = [1 + 5 * (64 * digits.index(a) + digits.index(b)) / 4094 for a, b in pairs]
        numbers = struct.unpack("<6f", TENSORS["b"][2])
        for place, number in enumerate(numbers):
            self.assertAlmostEqual(values[2 * place], number, delta=0.002)
            self.assertEqual(values[2 * place], values[2 * place + 1])
        self.assertEqual(sum(map(int, pictures["b"]["bins"].split(","))), 6)

    def test_ties(self) -> None:
        rows = {row["name"]: row for row in self.object("inspect", "model.safetensors")["tables"]["tensors"]}
        self.assertEqual({row["tied_to"] for row in rows.values()}, {None})
        models.write(self.folder / "tied.safetensors", models.safetensors({**TENSORS, "z": TENSORS["b"]}, {}))
        said = self.object("inspect", "tied.safetensors")
        rows = {row["name"]: row for row in said["tables"]["tensors"]}
        self.assertEqual((rows["z"]["tied_to"], rows["z"]["tied_by"], said["tied"]), ("b", "bytes", 1))
        self.assertIn("tied to", self.run_model("inspect", "tied.safetensors"))

    def test_manifest(self) -> None:
        self.run_model("manifest", "model.safetensors")
        kept = json.loads((self.folder / "model.safetensors.manifest.json").read_text())
        self.assertEqual(kept["canonical_sha256"], canonical(TENSORS))
        self.assertEqual(kept["files"], [{"path": "model.safetensors", "bytes": self.model.stat().st_size,
                                          "sha256": hashlib.sha256(self.model.read_bytes()).hexdigest()}])
        said = self.object("verify", "model.safetensors")
        self.assertEqual(said["status"], "clean")
        verdicts = {row["layer"]: row["verdict"] for row in said["tables"]["layers"]}
        self.assertEqual((verdicts["structure"], verdicts["files"], verdicts["tensors"]), ("held", "held", "held"))
        damaged = bytearray(self.model.read_bytes())
        damaged[-1] ^= 1
        self.model.write_bytes(damaged)
        finding = self.object("verify", "model.safetensors", status=1)["findings"][0]
        self.assertEqual((finding["id"], finding["where"]["op"]), ("WT-MODEL-002", "c"))

    def test_manifest_is_checked(self) -> None:
        self.run_model("manifest", "model.safetensors", "-o", "kept.json")
        good = json.loads((self.folder / "kept.json").read_text())
        for change in ({"wheeltap_manifest": 2}, {"files": 3}, {"canonical_sha256": "00"}, {"tensors": good["tensors"][::-1]}):
            (self.folder / "bad.json").write_text(json.dumps(good | change))
            self.assertIn("manifest", self.run_model("verify", "model.safetensors", "--manifest", "bad.json", status=3))
        self.assertIn("not-there", self.run_model("verify", "model.safetensors", "--manifest", "not-there", status=3))

    def test_missing_tensor(self) -> None:
        self.run_model("manifest", "model.safetensors", "-o", "kept.json")
        less = {name: tensor for name, tensor in TENSORS.items() if name != "c"} | {"new": TENSORS["c"]}
        models.write(self.model, models.safetensors(less))
        finding = self.object("verify", "model.safetensors", "--manifest", "kept.json", status=1)["findings"][0]
        self.assertEqual(finding["id"], "WT-MODEL-003")
        self.assertEqual(finding["evidence"]["text"], "new (not in the manifest), c (not in the model)")

    def test_diff(self) -> None:
        self.assertEqual(self.object("diff", "model.safetensors", "model.safetensors")["status"], "clean")
        one_up = struct.unpack("<f", struct.pack("<I", struct.unpack("<I", models.floats(5))[0] + 1))[0]
        other = TENSORS | {"b": ("F32", [2, 3], models.floats(1, 2, 3, 4, one_up, 8)), "c": ("F32", [1], models.floats(1)),
                           "B": ("U8", [7, 0], b""), "more": ("U8", [1], b"x")}
        models.write(self.folder / "other", models.safetensors(other))
        said = self.object("diff", "model.safetensors", "other", status=1)
        self.assertEqual([said[key] for key in ("same", "different", "only_a", "only_b", "elements")], [2, 3, 0, 1, 2])
        rows = {row["name"]: row for row in said["tables"]["differences"]}
        self.assertEqual((rows["b"]["differing"], rows["b"]["count"], rows["b"]["first"], rows["b"]["abs"]), (2, 6, "[1, 1]", 2))
        self.assertEqual((rows["b"]["a"], rows["b"]["b"]), ("0x40a00000 (5)", "0x40a00001 (5.00000048)"))
        self.assertEqual(rows["b"]["ulp"], 1 << 22)
        self.assertEqual(rows["c"]["what"], "type: c64, f32")
        self.assertEqual(rows["B"]["what"], "shape: [0, 7], [7, 0]")
        self.assertEqual(rows["more"]["what"], "only in b")

    def test_types_are_compared_by_value(self) -> None:
        models.write(self.folder / "a", models.safetensors({"w": ("F32", [3], models.floats(1, 0.1, 2))}))
        models.write(self.folder / "b", models.safetensors({"w": ("F64", [3], struct.pack("<3d", 1, 0.1, 2))}))
        row = self.object("diff", "a", "b", status=1)["tables"]["differences"][0]
        self.assertEqual((row["what"], row["differing"], row["first"]), ("type: f32, f64", 1, "[1]"))

    def test_convert(self) -> None:
        self.run_model("convert", "model.safetensors", "again.safetensors")
        self.assertEqual(self.object("diff", "model.safetensors", "again.safetensors")["status"], "clean")
        self.assertEqual(self.object("inspect", "again.safetensors")["tables"]["metadata"], [{"key": "epoch", "value": "3"}])
        self.assertIn("safetensors", self.run_model("convert", "model.safetensors", "x.unknown", status=2))
        self.assertIn("safetensors", self.run_model("convert", "model.safetensors", "x", "--to", "nothing", status=2))
        self.assertFalse((self.folder / "x").exists())
        os.mkdir(self.folder / "locked")
        self.run_model("convert", "model.safetensors", "not-there/x.safetensors", status=3)

    def test_sign(self) -> None:
        for name in ("mine", "other"):
            self.run_model("key", name)
        self.assertEqual((self.folder / "mine").stat().st_mode & 0o777, 0o600)
        self.assertIn("File exists", self.run_model("key", "mine", status=4))
        self.run_model("sign", "model.safetensors", "--key", "mine")
        verdicts = {row["layer"]: row["verdict"] for row in self.object("verify", "model.safetensors", "--key", "mine.pub")["tables"]["layers"]}
        self.assertEqual((verdicts["signature"], verdicts["files"]), ("held", "held"))
        finding = self.object("verify", "model.safetensors", "--key", "other.pub", status=1)["findings"][0]
        self.assertEqual(finding["id"], "WT-MODEL-004")
        envelope = json.loads((self.folder / "model.safetensors.sig.json").read_text())
        statement = json.loads(base64.b64decode(envelope["payload"]))
        self.assertEqual(statement["subject"][0]["digest"]["sha256"], hashlib.sha256(self.model.read_bytes()).hexdigest())
        # What was signed is what counts, not what lies beside the model.
        statement["predicate"]["canonical_sha256"] = "0" * 64
        forged = envelope | {"payload": base64.b64encode(json.dumps(statement).encode()).decode()}
        (self.folder / "forged").write_text(json.dumps(forged))
        self.assertIn("WT-MODEL-004", self.run_model("verify", "model.safetensors", "--key", "mine.pub", "--signature", "forged", status=1))
        damaged = bytearray(self.model.read_bytes())
        damaged[-1] ^= 1
        self.model.write_bytes(damaged)
        self.assertIn("WT-MODEL-002", self.run_model("verify", "model.safetensors", "--key", "mine.pub", status=1))
        os.chmod(self.folder / "mine", 0o644)
        self.assertIn("chmod 600", self.run_model("sign", "model.safetensors", "--key", "mine", status=2))
        self.assertIn("--key FILE", self.run_model("sign", "model.safetensors", status=2))
        self.assertIn("not a public Ed25519 key", self.run_model("verify", "model.safetensors", "--key", "other", status=3))

    def test_openssl_agrees(self) -> None:
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        self.run_model("key", "mine")
        self.run_model("sign", "model.safetensors", "--key", "mine")
        envelope = json.loads((self.folder / "model.safetensors.sig.json").read_text())
        payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
        (self.folder / "signed").write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
        (self.folder / "signature").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
        subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "mine.pub", "-rawin", "-in", "signed", "-sigfile", "signature"],
                       cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "theirs"], cwd=self.folder, check=True, timeout=PATIENCE)
        self.run_model("sign", "model.safetensors", "--key", "theirs")

    def test_attest(self) -> None:
        subprocess.run([PROGRAM, "sim", "-n", "100", "-o", "run"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        self.run_model("attest", "model.safetensors", "--run", "run", "-o", "statement.json")
        said = json.loads((self.folder / "statement.json").read_text())
        self.assertEqual((said["_type"], said["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        self.assertEqual(said["predicate"]["runDetails"]["metadata"]["invocationId"], "run")
        self.assertEqual(said["subject"][0]["name"], "model.safetensors")
        self.assertIn("NOT MEASURED: the run saved nothing", said["predicate"]["buildDefinition"]["internalParameters"]["lineage"])
        self.assertIn("-o FILE", self.run_model("attest", "model.safetensors", "--run", "run", status=2))
        self.run_model("attest", "model.safetensors", "--run", "not-there", "-o", "x", status=3)

    def test_probe(self) -> None:
        layers = {"0.weight": ("F32", [3, 2], models.floats(1, 2, -1, 0.5, 0, 3)), "0.bias": ("F32", [3], models.floats(0, 1, -1)),
                  "2.weight": ("F32", [1, 3], models.floats(1, -2, 0.25)), "2.bias": ("F32", [1], models.floats(0.5))}  # fmt: skip
        models.write(self.folder / "mlp", models.safetensors(layers))
        rows = [(1, 2), (-1, 0.5)]
        hidden = [[max(0.0, v) for v in (a + 2 * b, -a + 0.5 * b + 1, 3 * b - 1)] for a, b in rows]
        good = [h[0] - 2 * h[1] + 0.25 * h[2] + 0.5 for h in hidden]
        models.write(self.folder / "in", models.safetensors({"x": ("F32", [2, 2], models.floats(*rows[0], *rows[1]))}))
        for shift, status, verdict in ((0, 0, "held"), (1e-3, 1, "VIOLATED")):
            models.write(self.folder / "out", models.safetensors({"y": ("F32", [2, 1], models.floats(good[0], good[1] + shift))}))
            said = self.object("verify", "mlp", "--probe", "in", "--expect", "out", status=status)
            self.assertEqual({row["layer"]: row["verdict"] for row in said["tables"]["layers"]}["probe"], verdict)
            self.assertEqual([one["id"] for one in said["findings"]], ["WT-MODEL-012"] if shift else [])
        self.object("verify", "mlp", "--probe", "in", "--expect", "out", "--tolerance", "0.01")
        self.assertIn("need one another", self.run_model("verify", "mlp", "--probe", "in", status=2))
        self.assertIn("not a number", self.run_model("verify", "mlp", "--tolerance", "x", status=2))
        self.assertIn("not a batch", self.run_model("verify", "mlp", "--probe", "mlp", "--expect", "out", status=2))
        self.assertIn("has 2 rows of 2", self.run_model("verify", "mlp", "--probe", "in", "--expect", "in", status=2))

    def test_a_program_computes(self) -> None:
        """A model of any kind: what it gives is what the program says that it gives."""
        models.write(self.folder / "in", models.safetensors({"x": ("F32", [2, 1, 2], models.floats(1, 2, 3, 4))}))
        models.write(self.folder / "out", models.safetensors({"y": ("F32", [2, 1, 2], models.floats(5, 6, 7, 8))}))
        models.write(self.folder / "other", models.safetensors({"y": ("F32", [2, 1, 2], models.floats(5, 6, 7.5, 8))}))
        places = self.folder / "places"
        places.mkdir()
        (self.folder / "program").write_text("#!/bin/sh\necho chatter\n[ \"$(cat \"$2\" | wc -c)\" -gt 8 ] && [ -f \"$1\" ] && cp \"$OUT\" \"$3\"\n")
        (self.folder / "program").chmod(0o755)
        probe = ["verify", "model.safetensors", "--probe", "in", "--expect", "out", "--compute"]

        def layer(out: str, status: int) -> str:
            said = subprocess.run([PROGRAM, "model", *probe, "./program", "--json"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                                  env=environment(LC_ALL="C.UTF-8", OUT=out, TMPDIR=str(places)))
            self.assertEqual(said.returncode, status, said)
            self.assertIn("chatter", said.stderr)
            return next(row["verdict"] for row in json.loads(said.stdout)["tables"]["layers"] if row["layer"] == "probe")

        self.assertEqual([layer("out", 0), layer("other", 1)], ["held", "VIOLATED"])
        self.assertEqual(list(places.iterdir()), [])
        self.assertIn("--compute names a program", self.run_model(*probe[:-1]))
        self.assertIn("ended with status 3", self.run_model(*probe, "exit 3; :", status=2))
        self.assertIn("wrote no outputs", self.run_model(*probe, "true", status=2))
        self.assertIn("not a batch", self.run_model(*probe, f"cp {self.model} out2; f() {{ cp out2 $3; }}; f", status=2))
        self.assertIn("needs inputs", self.run_model("verify", "model.safetensors", "--compute", "true", status=2))

    def test_a_program_answers(self) -> None:
        """Four rows of two classes: outputs that are right, and outputs that are all the same."""
        (self.folder / "rows.csv").write_text("a,label\n" + "1,0\n2,1\n3,0\n4,1\n" * 8)
        for name, one, status in (("right", (3, -3, -3, 3), 0), ("same", (1, 1, 1, 1), 1)):
            models.write(self.folder / name, models.safetensors({"y": ("F32", [32, 2], models.floats(*one * 16))}))
            said = self.object("verify", "model.safetensors", "--data", "rows.csv", "--compute", f"f() {{ cp {name} $3; }}; f", status=status)
            self.assertEqual([one["id"] for one in said["findings"]], [] if name == "right" else ["WT-MODEL-013"])

    def test_nothing_is_not_clean(self) -> None:
        models.write(self.folder / "none", models.safetensors({}))
        self.assertEqual(self.object("verify", "none", status=3)["status"], "not_measured")

    def test_words(self) -> None:
        self.assertIn("did you mean 'verify'", self.run_model("verfy", "model.safetensors", status=2))
        self.assertIn("takes two models", self.run_model("diff", "model.safetensors", status=2))
        self.assertIn("No such file", self.run_model("inspect", "not-there", status=3))
        (self.folder / "text").write_text("hello")
        self.assertIn("not a model file", self.run_model("verify", "text", status=3))
        (self.folder / "empty").write_text("")
        self.assertIn("is empty", self.run_model("verify", "empty", status=3))
        (self.folder / "cut.safetensors").write_bytes(self.model.read_bytes()[:-3])
        self.assertIn("was cut", self.run_model("verify", "cut.safetensors", status=3))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
