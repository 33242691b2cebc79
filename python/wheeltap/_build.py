# SPDX-License-Identifier: Apache-2.0
"""Builds the extension for the interpreter that runs this file; `wheeltap python add PYTHON` does that.

usage: PYTHON -I _build.py HOME [--no-shim|--only-shim]
       PYTHON -I _build.py --shim INCLUDE:... SOURCES TARGET
       PYTHON -I _build.py --agent SOURCE TARGET

HOME/wheeltap/source has the sources (in python/), the headers and an archive of all that does not depend on the interpreter. The result
goes below the package, or, where that may not be written, into the user's own data folder (_places.py). Says where.

Where torch and its headers are installed the shim for that torch is built as well (_shim.py). It is optional: why
there is none is said, and is no failure. The second form builds it alone, the third the extension alone.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from _places import identity, own_folder, source_folder, user_folder  # noqa: E402

FLAGS = ["-fPIC", "-O2", "-g", "-std=gnu17", "-D_GNU_SOURCE", "-fvisibility=hidden", "-fno-plt", "-fno-math-errno", "-w",
         "-pthread"]
LINK_FLAGS = ["-shared", "-pthread", "-Wl,-z,nodelete", "-Wl,-u,wt_agent_services"]

SHIM_FLAGS = ["-shared", "-fPIC", "-O2", "-g1", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
              "-Wall", "-Wextra", "-Wno-unused-parameter", "-pthread", "-Wl,-z,nodelete", "-Wl,--as-needed"]
# What torch's headers ask for has changed from version to version, and which asks for what is not written anywhere.
SHIM_STANDARDS = ["-std=c++17", "-std=c++20"]


def refusal() -> str:
    """Why there can be no agent for this interpreter; empty if there can."""
    if platform.python_implementation() != "CPython":
        return f"{platform.python_implementation()} is not supported; the agent is for CPython 3.9 to 3.14"
    if not (3, 9) <= sys.version_info[:2] <= (3, 14):
        return f"CPython {platform.python_version()} is not supported; the agent is for 3.9 to 3.14"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "free-threaded interpreters are not supported: the agent relies on the global interpreter lock"
    if hasattr(sys, "getobjects"):
        return "interpreters that were built with Py_TRACE_REFS are not supported"
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if not os.path.exists(header):
        return f"'{header}' is missing; install the interpreter's development files (Debian: python3-dev)"
    return ""


def compiler() -> "list[str]":
    configured = (sysconfig.get_config_var("CC") or "").split()
    for words in (os.environ.get("CC", "").split(), ["cc"], ["gcc"], ["clang"], configured):
        if words and shutil.which(words[0]):
            return words
    return []


def say(what: str) -> None:
    """What comes next takes long."""
    print(f"{what} ...", flush=True)


def run(command: "list[str]") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def build(source: str, target: str) -> "subprocess.CompletedProcess[str]":
    """The first that fails of all compilations, or the link; as many at a time as there are processors."""
    include = sysconfig.get_paths()["include"]
    agent = os.path.join(source, "python")
    names = sorted(os.path.relpath(os.path.join(folder, name), agent)
                   for folder, _, files in os.walk(agent) for name in files if name.endswith(".c"))
    objects = [os.path.join(os.path.dirname(target), name.replace(os.sep, "-") + ".o") for name in names]
    compile = [*compiler(), *FLAGS, f"-I{source}", "-isystem", include, "-isystem", os.path.join(include, "internal"), "-c"]
    commands = [[*compile, os.path.join(agent, name), "-o", made] for name, made in zip(names, objects)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in pool.map(run, commands):
            if done.returncode:
                return done
    return run([*compiler(), *LINK_FLAGS, *objects, os.path.join(source, "libwheeltap-python-agent.a"), "-o", target])


def cxx_compiler() -> "list[str]":
    for words in (os.environ.get("CXX", "").split(), ["c++"], ["g++"], ["clang++"]):
        if words and shutil.which(words[0]):
            return words
    return []


def torch_of_interpreter() -> "dict[str, object]":
    """What _shim.py says. Asked of a process of its own, with the user's paths: importing torch may do anything."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_shim.py")
    env = {name: value for name, value in os.environ.items() if name != "WHEELTAP_AGENT"}
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
                          universal_newlines=True)
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (ValueError, IndexError):
        return {"refusal": f"importing torch ended with status {done.returncode}"}


def no_cxx_compiler() -> str:
    """That there is none, and what to do; empty if there is one."""
    return "" if cxx_compiler() else "no C++ compiler was found; install g++ or set CXX"


def build_shim(torch: "dict[str, object]", include: "list[str]", source: str, target: str) -> str:
    """Why it could not be built; empty if it was."""
    why = str(torch["refusal"]) or no_cxx_compiler()
    if why:
        return why
    files = sorted(os.path.join(source, name) for name in os.listdir(source) if name.endswith(".cpp"))
    command = [*cxx_compiler(), *SHIM_FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={torch['abi']}", f'-DWTI_SHIM_TORCH="{torch["identity"]}"',
               *(f"-I{folder}" for folder in include), "-isystem", str(torch["include"]), *files,
               f"-Wl,--version-script={os.path.join(source, 'shim.map')}",
               f"-L{torch['lib']}", "-ltorch_cpu", "-lc10", "-o", target + ".new"]
    for standard in SHIM_STANDARDS:
        done = subprocess.run([*command, standard], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        if done.returncode == 0:
            os.replace(target + ".new", target)
            return ""
    return f"it could not be built:\n{done.stdout[:2000]}"


def add_shim(home: str) -> None:
    """Builds it beside the extension, and says how that went."""
    say("looking for torch")
    torch = torch_of_interpreter()
    source = source_folder(home)
    target = os.path.join(destination(home), str(torch.get("file")))
    if not torch["refusal"] and os.path.exists(target):  # the folder is of these sources, the name of this torch
        print(f"the shim for torch {torch['version']} is there: {target}")
        return
    why = str(torch["refusal"]) or no_cxx_compiler()
    if not why:
        say(f"building the shim for torch {torch['version']}, which takes minutes on a slow machine")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        why = build_shim(torch, [source], os.path.join(source, "python", "shim"), target)
    if why:
        print(f"no shim for torch, so what torch does below Python is not measured: {why}")
    else:
        print(f"added the shim for torch {torch['version']}: {target}")


def build_shim_alone(include: str, source: str, target: str) -> int:
    why = build_shim(torch_of_interpreter(), include.split(":"), source, target)
    if why:
        print(why, file=sys.stderr)
    return 1 if why else 0


def build_agent_alone(source: str, target: str) -> int:
    why = refusal()
    if why:
        print(why, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="wheeltap-build-") as folder:
        built = os.path.join(folder, "extension.so")
        done = build(source, built)
        if done.returncode:
            print(done.stdout[-4000:], file=sys.stderr)
            return 1
        shutil.copyfile(built, target)
    return 0


def is_managed(package: str) -> bool:
    """pip and dpkg remove only what they have installed: whatever is added there would stay."""
    return os.path.exists(os.path.join(package, "bin", "wheeltap")) or os.path.realpath(package).startswith("/usr/lib/")


def destination(home: str) -> str:
    """The folder; it may not be there yet."""
    package = os.path.join(home, "wheeltap")
    is_ours = os.access(package, os.W_OK) and not is_managed(package)
    return own_folder(package if is_ours else user_folder(), home)


def forget_older(home: str) -> None:
    """What was built beside the package from sources that are gone."""
    added = os.path.join(home, "wheeltap", "added")
    for name in os.listdir(added) if os.path.isdir(added) else []:
        if name != identity(home):
            shutil.rmtree(os.path.join(added, name), ignore_errors=True)


def add_extension(home: str, target: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="wheeltap-build-") as folder:
        built = os.path.join(folder, "extension.so")
        done = build(source_folder(home), built)
        if done.returncode:
            print(f"wheeltap: cannot build the agent for '{sys.executable}':\n{done.stdout[-4000:]}", file=sys.stderr)
            return False
        os.makedirs(os.path.dirname(target), exist_ok=True)
        new = f"{target}.{os.getpid()}"  # others may do the same at the same time
        shutil.copyfile(built, new)
        os.replace(new, target)
    forget_older(home)
    return True


def main() -> int:
    if sys.argv[1] == "--shim":
        return build_shim_alone(*sys.argv[2:5])
    if sys.argv[1] == "--agent":
        return build_agent_alone(*sys.argv[2:4])
    home = os.path.abspath(sys.argv[1])
    if "--only-shim" in sys.argv[2:]:
        add_shim(home)
        return 0
    why = refusal() or ("" if compiler() else "no C compiler was found; install gcc or set CC")
    if why:
        print(f"wheeltap: cannot add '{sys.executable}': {why}", file=sys.stderr)
        return 1
    target = os.path.join(destination(home), "_wheeltap" + sysconfig.get_config_var("EXT_SUFFIX"))
    who = f"CPython {platform.python_version()} ({sys.executable})"
    if os.path.exists(target):  # the folder is of these sources and this interpreter
        print(f"{who} is there: {target}", flush=True)
    else:
        say(f"building the agent for {who} with {compiler()[0]}")
        if not add_extension(home, target):
            return 1
        print(f"added {who}: {target}", flush=True)
    if "--no-shim" not in sys.argv[2:]:
        add_shim(home)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as problem:  # no room, or a folder that may not be written
        print(f"wheeltap: cannot add '{sys.executable}': {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
