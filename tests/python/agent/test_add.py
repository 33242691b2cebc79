# SPDX-License-Identifier: Apache-2.0
"""What `wheeltap python add` builds from is complete: the agent can be built from it alone, and loads."""

from __future__ import annotations

from pathlib import Path

from harness import Harness, main

BUILD = """
import importlib.machinery, importlib.util, sys
spec = importlib.util.spec_from_file_location("_build", sys.argv[1] + "/wheeltap/_build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)
why = build.refusal() or ("" if build.compiler() else "no compiler")
if why:
    print("skip", why)
    sys.exit(0)
build.FLAGS = [flag.replace("-O2", "-O0") for flag in build.FLAGS]
done = build.build(sys.argv[1] + "/source", sys.argv[2])
print(done.stdout[-3000:])
if done.returncode == 0:
    loader = importlib.machinery.ExtensionFileLoader("_wheeltap", sys.argv[2])
    core = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_wheeltap", sys.argv[2], loader=loader))
    print("loaded", core.recording())
"""


def test_build(t: Harness) -> None:
    home = Path(t.wheeltap).parent / "python"
    run = t.execute([t.python, "-I", "-c", BUILD, str(home), str(t.folder / "extension.so")])
    if run.output.startswith("skip"):
        print(f"# {run.output.strip()}")
        return
    t.equal("the agent can be built and loaded", run.output.strip().splitlines()[-1:], ["loaded False"], run.output, run.errors)


if __name__ == "__main__":
    main(test_build)
