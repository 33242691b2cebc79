#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of system calls: syscalls.txt and flags.txt say what there is, the headers say which number it has.

usage: syscalls.py SYSCALLS.TXT FLAGS.TXT FOLDER COMPILER...

Writes into FOLDER: syscall_names.c, syscall_calls.c, syscall_functions.c, syscall_types.h, syscall_flags.h, syscall_flags.c and a
syscall_flags_SECTION.c for each section of FLAGS.TXT. Numbers of calls, errors and signals come out of the preprocessor, so
nothing here has to be kept up to date; values of flags are left to the compiler of the generated files.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

CLASSES = "FDNPMSICK"
HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by schema/syscalls.py. */\n"

# The architecture's own header where we are at home, the generic one for aarch64 elsewhere: that kernel uses it as it is.
# What it asks for stands in the kernel's arch/arm64/include/uapi/asm/unistd.h, which no package for other machines has.
X86_64 = "#include <asm/unistd_64.h>\n"
I386 = "#include <asm/unistd_32.h>\n"  # names only: what they mean is in src/syscall/compat.c
AARCH64 = """#ifdef __aarch64__
#include <asm/unistd.h>
#else
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_TIME32_SYSCALLS
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>
#endif
"""
NOT_CALLS = {"syscalls", "arch_specific_syscall"}


@dataclass
class Argument:
    type: str
    other: int = 0
    set: str = ""


@dataclass
class Call:
    name: str
    classes: str
    arguments: list[Argument]
    result: str


@dataclass
class FlagSet:
    name: str
    unknown: str
    values: list[tuple[str, str, bool]] = field(default_factory=list)  # shown, constant, may be missing


@dataclass
class Section:
    name: str
    headers: list[str]
    sets: list[FlagSet] = field(default_factory=list)


def fail(path: Path, number: int, text: str) -> SystemExit:
    return SystemExit(f"{path}:{number}: {text}")


def lines(path: Path) -> list[tuple[int, str]]:
    """Numbered lines without comments; one that begins with a blank belongs to the one before."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith(" ") and found:
            found[-1] = (found[-1][0], found[-1][1] + line)
        else:
            found.append((number, line))
    return found


# ---- Reading -----------------------------------------------------------------------------------

def read_argument(path: Path, number: int, text: str) -> Argument:
    match = re.fullmatch(r"([a-z_0-9]+)(?:\(([a-z_0-9]+)\))?", text.strip())
    if not match:
        raise fail(path, number, f"not a type: '{text.strip()}'")
    if match[2] is None:
        return Argument(match[1])
    return Argument(match[1], other=int(match[2])) if match[2].isdigit() else Argument(match[1], set=match[2])


def read_calls(path: Path) -> list[Call]:
    calls: list[Call] = []
    for number, line in lines(path):
        match = re.fullmatch(r"(\w+)\s+([A-Z]+|-)\s*(.*?)\s*(?:->\s*(\w+))?", line)
        if not match or (match[2] != "-" and not set(match[2]) <= set(CLASSES)):
            raise fail(path, number, "should be: name classes arguments [-> result]")
        arguments = [read_argument(path, number, text) for text in match[3].split(",")] if match[3] else []
        if len(arguments) > 6 or any(call.name == match[1] for call in calls):
            raise fail(path, number, f"'{match[1]}' has too many arguments or is there twice")
        calls.append(Call(match[1], match[2].replace("-", ""), arguments, match[4] or "int"))
    return calls


def read_flag(text: str) -> tuple[str, str, bool]:
    shown, colon, number = text.partition(":")
    if colon:
        return shown, number, False
    if "|" in text:  # one number of several drivers: shown with all names, taken from the last
        return text.replace("|", " or "), text.rpartition("|")[2], True
    shown, equals, constant = text.partition("=")
    if equals and not shown:
        return constant, constant, False
    return shown, constant or shown, True


def read_flags(path: Path) -> list[Section]:
    sections: list[Section] = []
    for number, line in lines(path):
        words = line.split()
        if line.startswith("["):
            sections.append(Section(words[0].strip("[]"), words[1:]))
            continue
        if not sections or len(words) < 3:
            raise fail(path, number, "should be: set WHAT_??? NAME ...")
        sections[-1].sets.append(FlagSet(words[0], words[1], [read_flag(word) for word in words[2:]]))
    return sections


def defined(compiler: list[str], text: str) -> dict[str, str]:
    """All macros after `text`."""
    done = subprocess.run([*compiler, "-E", "-dM", "-x", "c", "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode:
        return {}
    return dict(re.findall(r"^#define (\w+) (.+)$", done.stdout, re.MULTILINE))


def numbers(macros: dict[str, str], prefix: str) -> dict[int, str]:
    """Name by number. Of several names that which is not defined by another, then the first in the alphabet."""
    found: dict[int, tuple[int, str]] = {}
    for name in sorted(macros):
        if not re.fullmatch(prefix + r"\w+", name):
            continue
        value, steps = macros[name].strip(), 0
        while value in macros and steps < 8:
            value, steps = macros[value].strip(), steps + 1
        if re.fullmatch(r"\d+", value):
            found[int(value)] = min(found.get(int(value), (9, "")), (steps, name))
    return {number: name for number, (_, name) in found.items()}


# ---- Writing -----------------------------------------------------------------------------------

def names_c(compiler: list[str], calls: list[Call]) -> str:
    index = {call.name: i for i, call in enumerate(calls)}
    out = HEAD + '#include "syscall/described.h"\n'
    native: dict[str, int] = {}
    for arch, text in (("x86_64", X86_64), ("aarch64", AARCH64), ("i386", I386)):
        found = {number: name.removeprefix("__NR_") for number, name in numbers(defined(compiler, text), "__NR_").items()}
        out += f"\nconst struct wti_named wti_named_{arch}[] = {{\n"
        for number, name in sorted(found.items()):
            if name not in NOT_CALLS:
                out += f'\t[{number}] = {{"{name}", {(native if arch == "i386" else index).get(name, -1)}}},\n'
        if arch == "x86_64":
            native = {name: number for number, name in found.items()}
        # Where the headers of the other architecture are missing there is one entry, without a name.
        out += "\t{NULL, -1},\n" if not found else ""
        out += f"}};\nconst uint32_t wti_named_{arch}_count = sizeof(wti_named_{arch}) / sizeof(wti_named_{arch}[0]);\n"
    for what, header, prefix in (("errno", "linux/errno.h", "E[A-Z]"), ("signal", "asm/signal.h", "SIG[A-Z]")):
        found = numbers(defined(compiler, f"#include <{header}>\n"), prefix)
        found = {number: name for number, name in found.items() if 0 < number < (4096 if what == "errno" else 32)}
        if not found:
            raise SystemExit(f"syscalls.py: '{header}' is missing or has no numbers: install the kernel's headers")
        out += f"\nconst char *const wti_{what}_names[] = {{\n"
        out += "".join(f'\t[{number}] = "{name}",\n' for number, name in sorted(found.items()))
        out += f"}};\nconst uint32_t wti_{what}_count = sizeof(wti_{what}_names) / sizeof(wti_{what}_names[0]);\n"
    return out


def calls_c(calls: list[Call]) -> str:
    out = HEAD + '#include "syscall/described.h"\n\nconst struct wti_described wti_calls[] = {\n'
    for call in calls:
        classes = " | ".join(f"WTI_CLASS_{letter}" for letter in call.classes) or "0"
        arguments = ", ".join(
            f"{{WTI_TYPE_{a.type.upper()}, {a.other}, {'WTI_FLAGS_' + a.set.upper() if a.set else '0'}}}" for a in call.arguments)
        out += f'\t{{"{call.name}", {classes}, {len(call.arguments)}, WTI_RESULT_{call.result.upper()}, {{{arguments}}}}},\n'
    out += "};\nconst uint32_t wti_calls_count = sizeof(wti_calls) / sizeof(wti_calls[0]);\n"
    return out


def functions_c(calls: list[Call]) -> str:
    out = HEAD + '#include "syscall/described.h"\n'
    for kind, names in (("type", type_names(calls)), ("result", result_names(calls))):
        out += f"\nconst wti_{kind}_fn wti_{kind}_functions[] = {{\n"
        out += "".join(f"\t[WTI_{kind.upper()}_{name.upper()}] = wti_{kind}_{name},\n" for name in names) + "};\n"
    return out


def type_names(calls: list[Call]) -> list[str]:
    return sorted({a.type for call in calls for a in call.arguments} | {"raw"})


def result_names(calls: list[Call]) -> list[str]:
    return sorted({call.result for call in calls})


def types_h(calls: list[Call]) -> str:
    out = HEAD + "#ifndef WTI_SYSCALL_TYPES_H\n#define WTI_SYSCALL_TYPES_H\n\n#include <stdbool.h>\n\n"
    for kind, names in (("type", type_names(calls)), ("result", result_names(calls))):
        out += f"enum wti_{kind} {{\n" + "".join(f"\tWTI_{kind.upper()}_{name.upper()},\n" for name in names)
        out += f"\tWTI_{kind.upper()}_COUNT,\n}};\n\n"
    out += "struct wti_show;\n/* Shows argument `i`; false: nothing, not even a comma. */\n"
    out += "typedef bool (*wti_type_fn)(struct wti_show *show, unsigned i);\ntypedef void (*wti_result_fn)(struct wti_show *show);\n"
    out += "".join(f"bool wti_type_{name}(struct wti_show *show, unsigned i);\n" for name in type_names(calls))
    out += "".join(f"void wti_result_{name}(struct wti_show *show);\n" for name in result_names(calls))
    out += "extern const wti_type_fn wti_type_functions[];\nextern const wti_result_fn wti_result_functions[];\n\n#endif\n"
    return out


def flags_h(sections: list[Section]) -> str:
    out = HEAD + "#ifndef WTI_SYSCALL_FLAGS_H\n#define WTI_SYSCALL_FLAGS_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
    out += "struct wti_flag {\n\tuint64_t value;\n\tconst char *name;\n};\n\n"
    out += "struct wti_flags {\n\tconst char *unknown; /* explains a value without a name */\n\tconst struct wti_flag *all; /* ends with a NULL name */\n};\n\n"
    out += "enum wti_flag_set {\n\tWTI_FLAGS_NONE,\n"
    out += "".join(f"\tWTI_FLAGS_{s.name.upper()},\n" for section in sections for s in section.sets)
    out += "\tWTI_FLAGS_COUNT,\n};\n\nextern const struct wti_flags *const wti_flag_sets[];\n"
    out += "".join(f"extern const struct wti_flags wti_flags_{s.name};\n" for section in sections for s in section.sets)
    return out + "\n#endif\n"


def flags_c(sections: list[Section]) -> str:
    out = HEAD + '#include "syscall_flags.h"\n\nconst struct wti_flags *const wti_flag_sets[] = {\n'
    for section in sections:
        out += "".join(f"\t[WTI_FLAGS_{s.name.upper()}] = &wti_flags_{s.name},\n" for s in section.sets)
    return out + "};\n"


def section_c(section: Section) -> str:
    out = HEAD + '#include "syscall_flags.h"\n'
    for header in section.headers:
        if header.startswith("?"):
            out += f"#if __has_include(<{header[1:]}>)\n#include <{header[1:]}>\n#endif\n"
        else:
            out += f"#include <{header}>\n"
    for s in section.sets:
        out += f"\nstatic const struct wti_flag all_{s.name}[] = {{\n"
        for shown, constant, optional in s.values:
            entry = f'\t{{(uint64_t)({constant}), "{shown}"}},\n'
            out += f"#ifdef {constant}\n{entry}#endif\n" if optional else entry
        # "???" would be read as the beginning of a trigraph.
        unknown = s.unknown.replace("?", "\\?")
        out += f'\t{{0, NULL}},\n}};\nconst struct wti_flags wti_flags_{s.name} = {{"{unknown}", all_{s.name}}};\n'
    return out


def check_sets(calls: list[Call], sections: list[Section]) -> None:
    known = {s.name for section in sections for s in section.sets}
    missing = sorted({a.set for call in calls for a in call.arguments if a.set} - known)
    if missing:
        raise SystemExit(f"syscalls.py: flags.txt has no set {', '.join(missing)}")


def main() -> int:
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    calls, sections = read_calls(Path(sys.argv[1])), read_flags(Path(sys.argv[2]))
    folder, compiler = Path(sys.argv[3]), sys.argv[4:]
    check_sets(calls, sections)
    made = {"syscall_names.c": names_c(compiler, calls), "syscall_calls.c": calls_c(calls), "syscall_functions.c": functions_c(calls),
            "syscall_types.h": types_h(calls), "syscall_flags.h": flags_h(sections), "syscall_flags.c": flags_c(sections)}
    made |= {f"syscall_flags_{section.name}.c": section_c(section) for section in sections}
    for name, text in made.items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
