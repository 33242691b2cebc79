# SPDX-License-Identifier: Apache-2.0
"""Ways into interpreters that programs are really started by: each is followed, and runs as it would without us."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

from recorded import Harness, Run, main

SAY = "import wheeltap; wheeltap.log(way={}); print('ran', __name__)\n"

CHILDREN = """
import concurrent.futures, multiprocessing, os, subprocess, sys
def say(n):
    import wheeltap
    wheeltap.log(way=n)
    return n
code = "import wheeltap; wheeltap.log(way=%d)"
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(sorted(pool.map(say, [1, 2])))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(say, [3]))
    subprocess.run([sys.executable, "-c", code % 4], close_fds=True, start_new_session=True, check=True)
    own = dict(os.environ, PYTHONPATH=os.pathsep.join(["/nowhere", os.environ["PYTHONPATH"]]) if "PYTHONPATH" in os.environ else "")
    subprocess.run([sys.executable, "-c", "import sys; sys.modules.get('wheeltap') and sys.modules['wheeltap'].log(way=5)"], env=own, check=True)
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", code % 6], os.environ), 0)
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", code % 7])
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    bare = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME")}
    print(subprocess.run([sys.executable, "-c", "print('a child on its own')"], env=bare, capture_output=True, text=True).stdout)
"""

RANK = """
import hashlib, os, torch, torch.nn as nn, torch.distributed as dist
torch.manual_seed(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(10 * step + rank))
    optimizer.zero_grad(); loss = model(x).pow(2).mean(); loss.backward(); optimizer.step()
data = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
open(os.path.join(os.environ["OUT"], f"rank{rank}"), "w").write(f"{loss.item().hex()} {hashlib.sha256(data).hexdigest()}")
dist.destroy_process_group()
"""


def ways(run: Run) -> list[float]:
    return sorted(counter["value"] for counter in run.of("counter") if counter["name"] == "way")


def test_programs(t: Harness) -> None:
    script = t.folder / "tool"
    script.write_text(f"#!{t.python}\n" + SAY.format(1))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    archive = t.folder / "app.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("__main__.py", SAY.format(2))
    package = t.folder / "apackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(SAY.format(3))
    (t.folder / "piped.py").write_text(SAY.format(4))
    for name, command, way in (("a console script", [str(script)], 1), ("a zip archive", [t.python, str(archive)], 2),
                               ("a package", [t.python, "-m", "apackage"], 3),
                               ("standard input", ["sh", "-c", f"{t.python} - < piped.py"], 4),
                               ("-S, no site", [t.python, "-S", "-c", "print('ran __main__')"], 0)):
        run = t.record_command(command)
        t.equal(f"by {name}", (run.status, run.output, ways(run)), (0, "ran __main__\n", [float(way)] if way else []),
                run.errors)


def test_children(t: Harness) -> None:
    run = t.record(CHILDREN)
    t.equal("children of all sorts run", run.output.split(), ["[1,", "2]", "[3]", "0", "a", "child", "on", "its", "own"],
            run.errors)
    t.equal("and are followed, as long as they inherit the environment", ways(run), [float(n) for n in range(1, 8)],
            run.errors)


def test_environments(t: Harness) -> None:
    for name, options in (("a virtual environment", []), ("one with the system's packages", ["--system-site-packages"])):
        folder = t.folder / name.replace(" ", "-")
        made = t.execute([t.python, "-m", "venv", "--without-pip", *options, str(folder)])
        if made.status:
            print(f"# skip {name}: {made.errors.strip()[-100:]}")
            continue
        python = str(folder / "bin" / "python")
        look = "import sys; print(sys.prefix, sys.path[1:], sys.modules.get('numpy'))"
        bare = t.execute([python, "-c", look])
        run = t.record_command([python, "-c", look + "\n" + SAY.format(1).replace("print", "str")])
        t.equal(f"{name}: paths are as without us", run.output, bare.output, run.errors)
        t.equal(f"{name}: it is followed", ways(run), [1.0], run.errors)
        packages = next((folder / "lib").glob("python*/site-packages"))
        (packages / "sitecustomize.py").write_text("import sys\nprint('site', __name__, __file__, sys.modules[__name__].__spec__.name)\n")
        check_same(t, f"{name}: its sitecustomize runs", [python, "-c", "import sitecustomize; print(sitecustomize.__file__)"])
        (packages / "sitecustomize.py").write_text("raise ValueError('broken')\n")
        check_same(t, f"{name}: a broken sitecustomize is broken as before", [python, "-c", "print(1)"], errors=True)
        (packages / "sitecustomize.py").write_text("import no_such_module\n")
        check_same(t, f"{name}: so is one that cannot import", [python, "-c", "print(1)"], errors=True)


def check_same(t: Harness, what: str, command: list[str], env: dict[str, str] | None = None, errors: bool = False) -> None:
    bare, run = t.execute(command, env), t.record_command(command, env=env)
    ours = [line for line in run.errors.splitlines() if not line.startswith("wheeltap: ")]
    t.equal(what, (run.status, run.output), (bare.status, bare.output), run.errors)
    if errors:
        t.equal(f"{what} (what it complains)", ours[-1:], bare.errors.splitlines()[-1:], run.errors, bare.errors)


def test_user_site(t: Harness) -> None:
    base = t.folder / "user"
    told = t.execute([t.python, "-c", "import site; print(site.getusersitepackages())"], {"PYTHONUSERBASE": str(base)})
    packages = Path(told.output.strip())
    packages.mkdir(parents=True)
    (packages / "usercustomize.py").write_text("import sys; print('user', 'sitecustomize' in sys.modules)\n")
    (packages / "some.pth").write_text("import sys; sys.from_pth = 1\n")
    check_same(t, "usercustomize and .pth files run", [t.python, "-c", "import sys; print(sys.from_pth)"],
               {"PYTHONUSERBASE": str(base)})


def test_paths(t: Harness) -> None:
    """A child gets the variable as it is, with our folder in it; a program that sets it for itself is left alone."""
    program = "import os, subprocess, sys\nos.environ['PYTHONPATH'] = '/own'\n" \
              "print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.path[1])'], capture_output=True, text=True).stdout)"
    check_same(t, "a program that sets PYTHONPATH for its children", [t.python, "-c", program])
    check_same(t, "PYTHONSAFEPATH and -P are kept", [t.python, "-c", "import sys; print(sys.path[0] == '')"], {"PYTHONSAFEPATH": "1"})
    check_same(t, "PYTHONPATH with empty parts", [t.python, "-c", "import sys; print(sys.path)"], {"PYTHONPATH": ":/x::/y:"})
    for options in (["-O"], ["-B"], ["-X", "dev"], ["-W", "error"], ["-u"], ["-s"], ["-X", "importtime"], ["-X", "utf8"]):
        check_same(t, f"python {' '.join(options)}", [t.python, *options, "-c", "import sys, json; print(sys.flags, sys.warnoptions)"])


def test_pytest(t: Harness) -> None:
    if not t.has("pytest"):
        print("# skip pytest: it is not installed")
        return
    (t.folder / "test_sample.py").write_text(
        "import os, pytest, warnings\n"
        "def test_say(capsys):\n    import wheeltap; wheeltap.log(way=1); print('x'); assert capsys.readouterr().out == 'x\\n'\n"
        "def test_fails():\n    assert 1 == 2\n"
        "def test_warns():\n    with pytest.warns(UserWarning): warnings.warn('w')\n"
        "def test_forks():\n    pid = os.fork()\n    if not pid: os._exit(3)\n    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3\n")
    command = [t.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sample.py"]
    bare = t.execute([*command, "-k", "not say"])
    run = t.record_command(command)
    t.check("pytest: the same results", run.status == bare.status == 1 and "1 failed, 3 passed" in run.output
            and "1 failed, 2 passed" in bare.output, run.output, bare.output)
    t.equal("pytest is followed", ways(run), [1.0])
    failure = [line for line in run.output.splitlines() if line.startswith(("E ", ">"))]
    t.equal("and its report is the same", failure, [l for l in bare.output.splitlines() if l.startswith(("E ", ">"))])


def test_torchrun(t: Harness) -> None:
    if t.bare("import torch.distributed.run").status:
        print("# skip torchrun: no torch")
        return
    script = t.script(RANK)
    outputs = {}
    for level in ("", "lean", "normal", "full"):
        out = t.folder / f"out{level}"
        out.mkdir()
        # torch 1.13 on Python 3.11 does not understand its own default for -r and -t.
        command = [t.python, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone", "-r", "1", "-t", "1", script]
        env = {"OUT": str(out)}
        run = t.record_command(command, "--detail", level, env=env) if level else t.execute(command, env)
        if run.status and not level:
            print(f"# skip torchrun: it does not work here: {run.errors.strip()[-150:]}")
            return
        outputs[level] = [path.read_text() for path in sorted(out.iterdir())]
        if level:
            t.equal(f"torchrun, {level}: two ranks, losses and weights as without us", outputs[level], outputs[""],
                    run.errors[-1500:])
            t.equal(f"torchrun, {level}: each rank is told", sorted({(r["rank"], r["world"]) for r in run.of("rank")}),
                    [(0, 2), (1, 2)], run.errors[-500:])


if __name__ == "__main__":
    os.environ.pop("PYTHONSAFEPATH", None)
    main(test_programs, test_children, test_environments, test_user_site, test_paths, test_pytest, test_torchrun)
