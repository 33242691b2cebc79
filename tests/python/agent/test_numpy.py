# SPDX-License-Identifier: Apache-2.0
"""numpy, hooked as a library that nothing special is known about: its own tests give the same with and without."""

from __future__ import annotations

import re

from recorded import Harness, main

PROGRAM = """
import warnings
import numpy as np
a = np.arange(12.0).reshape(3, 4)
print(np.add(a, a).sum(), np.concatenate([a, a]).shape, a.mean(axis=0), np.linalg.norm(a))
when = np.array(["2010-01-02", "1999-03-14"], dtype=">M8[D]")
print(np.maximum.reduce(when, dtype="M"), np.add.reduce(np.array([1, "x"], dtype=object)[:1]))
if hasattr(np, "set_numeric_ops"):  # one of few that tell f(**{}) from f()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.set_numeric_ops(**{})
        np.set_numeric_ops()
    print(len(seen))
print(np.add is np.core.umath.add, np.add.__name__, np.frompyfunc(lambda x: x + 1, 1, 1)(a)[0, 0])
"""
# Compiled by Cython, which gives its functions a type of their own (numpy 2) or not; imported when asked for (numpy 2.3) or before.
RANDOM = """
import numpy as np
np.random.seed(5)
state = np.random.RandomState(3)
print(np.random.rand(2), state.normal(loc=1.0), np.random.default_rng(7).integers(10), np.random.seed.__name__)
"""
# Small ones of numpy's own: ufuncs, __array_function__, strings and dates, linear algebra. `core` has another name in numpy 2.
OWN_TESTS = ["{core}.tests.test_overrides", "{core}.tests.test_datetime", "numpy.linalg.tests.test_deprecations",
             "numpy.lib.tests.test_ufunclike", "{core}.tests.test_shape_base"]


def counts(output: str) -> str:
    """"7 passed, 1 skipped", without the time."""
    lines = [line for line in output.splitlines() if re.search(r"\d+ passed", line)]
    return re.sub(r" in [\d.]+s.*", "", lines[-1]) if lines else output[-2000:]


def test_calls(t: Harness) -> None:
    bare, run = t.bare(PROGRAM), t.record(PROGRAM, "--modules", "numpy")
    t.equal("the same results", (run.status, run.output), (bare.status, bare.output), run.errors)
    t.equal("ufuncs, functions and methods are told", [len(run.calls(name)) for name in
            ("add", "concatenate", "ndarray.mean", "norm", "ufunc.reduce")], [1, 1, 1, 1, 2])
    begin = [event["seq"] for event in run.events if event["kind"] == "call_begin" and event["fields"]["callee"] == "norm"]
    named = [tensor for tensor in run.of("tensor") if tensor["call"] in begin and tensor["position"] == 0]
    t.equal("arguments of what stands in for a Python function have names", [tensor["name"] for tensor in named], ["x"])
    sums = [tensor for tensor in run.of("tensor") if tensor["position"] == -1 and tensor["max"] == 22]
    t.check("arrays are read", bool(sums) and sums[0]["mean"] == 11 and sums[0]["dtype"] == "f64", sums)


def test_borrowed(t: Harness) -> None:
    """numpy imports functions of Python by name, which everything else calls, too."""
    run = t.record(PROGRAM, "--modules", "numpy", "--detail", "full")
    t.equal("they are left alone", [len(run.calls(name)) for name in ("get_ident", "Lock")], [0, 0])
    t.check("numpy's own are not", bool(run.calls("concatenate")), run.errors)
    run = t.record("import sqlite3\nsqlite3.complete_statement('x;')\n", "--modules", "sqlite3", "--detail", "full")
    t.equal("nor are Python's, if they are asked for", len(run.calls("complete_statement")), 1)


def test_later(t: Harness) -> None:
    """What is imported after the top module, in the middle of the program."""
    (t.folder / "lib" / "part").mkdir(parents=True)
    (t.folder / "lib" / "__init__.py").write_text("def top(): return 1\n")
    (t.folder / "lib" / "part" / "__init__.py").write_text("from .inner import deep\ndef middle(): return deep()\n")
    (t.folder / "lib" / "part" / "inner.py").write_text("def deep(): return 2\n")
    (t.folder / "lib" / "bad.py").write_text("import lib.part.more\nraise ValueError\n")
    (t.folder / "lib" / "part" / "more.py").write_text("def more(): return 3\n")
    code = """
        import sys
        import lib
        lib.top()
        import lib.part
        lib.part.middle()
        try:
            import lib.bad
        except ValueError:
            pass
        from lib.part import more
        more.more(), more.__loader__, more.__spec__.loader
        import lib.part.inner as inner
        inner.deep()
        print([type(m.__loader__).__name__ for m in (lib, lib.part, inner, more)], "lib.bad" in sys.modules)
    """
    bare, run = t.bare(code), t.record(code, "--modules", "lib")
    t.equal("imports go as ever", (run.status, run.output), (bare.status, bare.output), run.errors)
    t.equal("modules that are imported later", [len(run.calls(name)) for name in ("top", "middle", "deep", "more")], [1, 1, 2, 1])


def test_random(t: Harness) -> None:
    bare, run = t.bare(RANDOM), t.record(RANDOM, "--modules", "numpy")
    t.equal("the same numbers", (run.status, run.output), (bare.status, bare.output), run.errors)
    t.equal("functions and methods of Cython's are told", [len(run.calls(name)) for name in
            ("seed", "RandomState.normal", "Generator.integers")], [1, 1, 1])


def test_own_tests(t: Harness) -> None:
    if t.bare("import pytest, hypothesis").status:
        print("# skip numpy's own tests: no pytest or hypothesis")
        return
    core = t.bare("import numpy; print('numpy._core' if int(numpy.__version__.split('.')[0]) > 1 else 'numpy.core')").output.strip()
    command = [t.python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--pyargs", *(name.format(core=core) for name in OWN_TESTS)]
    bare = t.execute(command)
    t.check("there are tests of numpy's own", re.search(r"\d\d passed", bare.output) is not None, bare.output[-500:])
    run = t.record_command(command, "--modules", "numpy", "--detail", "full", "--on-full", "drop")
    t.equal(f"numpy's own tests: {counts(bare.output)}", (run.status, counts(run.output)),
            (bare.status, counts(bare.output)), run.output[-3000:])


if __name__ == "__main__":
    main(test_calls, test_borrowed, test_later, test_random, test_own_tests, require=("numpy",))
