#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one violation after another into a small tree: tools/check must name each, at its place."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, Tap  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
TOOL = SOURCE / "tools" / "check"
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n/* A sample. */\n"
HEADER = SPDX + "int wti_sample;\n"

# What a clean tree has; the violations include these headers.
CLEAN = {
    "include/wheeltap/public.h": HEADER,
    "src/base/err.h": HEADER,
    "src/trace/ring.h": HEADER,
    "src/trace/protocol.h": HEADER,
    "src/trace/reader.h": SPDX + '#include "base/err.h"\n#include "records.h"\n#include <wheeltap/public.h>\n',
    "src/agents/common/agent.h": SPDX + '#include "ring.h"\n',
    "src/agents/client/client.c": SPDX + '#include "../common/agent.h"\n#include "trace/protocol.h"\n'
                                         '#include "records.h"\nchar *f(void)\n{\n\treturn getenv("X");\n}\n',
    "src/agents/python/core/pyagent.h": SPDX + '#include "common/agent.h"\n',
    "src/agents/python/state/own.h": SPDX + '#include "state.h"\n',
    "src/agents/python/state/state.h": SPDX + '#include "python/core/pyagent.h"\n',
    "src/agents/python/state/live.c": SPDX + '#include "own.h"\n',
    "src/agents/python/hook/hook.h": SPDX + '#include "python/state/state.h"\n',
    "src/agents/python/module.c": SPDX + '#include "python/hook/hook.h"\n#include "python/state/state.h"\n',
    "src/collect/drain.h": SPDX + '#include "trace/reader.h"\n#include "trace/ring.h"\n',
    "src/inspect/core/spans.h": HEADER,
    "src/inspect/judge/rule.h": SPDX + '#include "inspect/core/spans.h"\nstruct wti_rule {\n\tint code;\n};\n',
    "src/inspect/rules/loss/shared.h": SPDX + '#include "inspect/judge/rule.h"\n',
    "src/inspect/rules/loss/loss.c": SPDX + '#include "shared.h"\nenum { WHICH, ROOM_MAX = 16 };\n'
                                            'int f(int a)\n{\n\treturn a << 32 | a >= 2;\n}\n'
                                            'const struct wti_rule wti_rule_loss_001 = {\n\t.thresholds = {{"calls", 64, "why"}},\n};\n',
    "src/inspect/learn/relation.h": HEADER,
    "src/inspect/learn/relations/order.c": SPDX + '#include "inspect/learn/relation.h"\n',
    "src/inspect/rules.c": SPDX + '#include "inspect/judge/rule.h"\n',
    "src/convert/format.h": SPDX + '#include "inspect/learn/relation.h"\n',
    "src/inspect/time/stat.h": SPDX + '#include "trace/reader.h"\n',
    "src/show/text.h": SPDX + '#include "inspect/time/stat.h"\n',
    "src/runs/open.h": SPDX + '#include "show/text.h"\n#include "convert/format.h"\n',
    "src/serve/http.h": SPDX + '#include "show/text.h"\n#include "runs/open.h"\n',
    "src/cli/main.c": SPDX + '#include "collect/drain.h"\n#include "serve/http.h"\n'
                             'int main(void)\n{\n\twti_print(getenv("HOME"), 1);\n\texit(0);\n}\n',
    # Not a second definition: declared, used, and bare ones, which are a file's own.
    "src/base/tags.c": SPDX + "struct wti_rule;\nstruct wti_rule *one;\nstruct state {\n\tint a;\n};\n",
    "src/trace/tags.c": SPDX + "struct state {\n\tint a;\n};\n",
    "src/base/words.c": SPDX + 'const char *word = "strcpy(a, b) getenv(x)"; /* strcpy(a, b), stdout */\n'
                               "int my_strcpy(void);\nint (*g)(void);\n",
    "examples/train.c": SPDX + '#include <wheeltap/public.h>\nint main(void)\n{\n\tprintf("x");\n}\n',
    "tools/good": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nif true; then echo x; fi\n",
    "tests/fuzz/corpus/toml.inputs": "wtinputs\0\0\0\0",
    "tools/good.py": "# SPDX-License-Identifier: Apache-2.0\nprint(1)\n",
}


def including(name: str) -> str:
    return SPDX + f'#include "{name}"\n'


def calling(code: str) -> str:
    return SPDX + f"int f(void)\n{{\n\treturn {code};\n}}\n"


# (file, content, what must be reported)
VIOLATIONS = [
    ("src/base/bad.c", including("trace/reader.h"), "src/base/bad.c:3: layer"),
    ("src/trace/bad.c", including("collect/drain.h"), "src/trace/bad.c:3: layer"),
    ("src/trace/bad.c", including("../show/text.h"), "src/trace/bad.c:3: layer"),
    ("src/agents/client/bad.c", including("base/err.h"), "src/agents/client/bad.c:3: layer"),
    ("src/agents/client/bad.c", including("trace/reader.h"), "src/agents/client/bad.c:3: layer"),
    ("src/agents/client/bad.c", including("../python/core/pyagent.h"), "src/agents/client/bad.c:3: layer"),
    ("src/agents/client/bad.c", including("collect/drain.h"), "src/agents/client/bad.c:3: layer"),
    ("src/collect/bad.c", including("inspect/time/stat.h"), "src/collect/bad.c:3: layer"),
    ("src/collect/bad.c", including("agents/common/agent.h"), "src/collect/bad.c:3: layer"),
    ("src/inspect/bad.c", including("collect/drain.h"), "src/inspect/bad.c:3: layer"),
    ("src/inspect/bad.c", including("show/text.h"), "src/inspect/bad.c:3: layer"),
    ("src/inspect/bad.c", including("records.h"), "src/inspect/bad.c:3: layer"),
    ("src/inspect/core/bad.c", including("inspect/judge/rule.h"), "src/inspect/core/bad.c:3: room"),
    ("src/inspect/judge/bad.c", including("../time/stat.h"), "src/inspect/judge/bad.c:3: room"),
    ("src/inspect/rules/data/bad.c", including("inspect/rules/loss/shared.h"), "src/inspect/rules/data/bad.c:3: room"),
    ("src/inspect/learn/bad.c", including("inspect/judge/rule.h"), "src/inspect/learn/bad.c:3: room"),
    ("src/inspect/attic/bad.c", HEADER, "src/inspect/attic/bad.c:1: room"),
    ("src/inspect/bad.h", HEADER, "src/inspect/bad.h:1: room"),
    ("src/agents/python/state/bad.c", including("python/hook/hook.h"), "src/agents/python/state/bad.c:3: room"),
    ("src/agents/python/core/bad.h", including("../state/state.h"), "src/agents/python/core/bad.h:3: room"),
    ("src/agents/python/hook/bad.c", including("python/state/own.h"), "src/agents/python/hook/bad.c:3: room"),
    ("src/agents/python/bad.c", including("state/own.h"), "src/agents/python/bad.c:3: room"),
    ("src/agents/python/attic/bad.c", HEADER, "src/agents/python/attic/bad.c:1: room"),
    ("src/agents/python/bad.h", HEADER, "src/agents/python/bad.h:1: room"),
    ("src/inspect/core/bad.c", including("convert/format.h"), "src/inspect/core/bad.c:3: layer"),
    ("src/inspect/rules/loss/bad.c", SPDX + "enum { STEPS_TO_WAIT = 3 };\n", "src/inspect/rules/loss/bad.c:3: number"),
    ("src/inspect/rules/loss/bad.c", SPDX + "int f(int a)\n{\n\treturn a >= 64;\n}\n", "src/inspect/rules/loss/bad.c:5: number"),
    ("src/inspect/rules/loss/bad.c", SPDX + "int f(double a)\n{\n\treturn a * 0.99 > 0;\n}\n", "src/inspect/rules/loss/bad.c:5: number"),
    ("src/show/bad.c", including("serve/http.h"), "src/show/bad.c:3: layer"),
    ("src/show/bad.c", including("collect/drain.h"), "src/show/bad.c:3: layer"),
    ("src/runs/bad.c", including("collect/drain.h"), "src/runs/bad.c:3: layer"),
    ("src/runs/bad.c", including("serve/http.h"), "src/runs/bad.c:3: layer"),
    ("src/show/bad.c", including("runs/open.h"), "src/show/bad.c:3: layer"),
    ("src/cli/bad.c", including("agents/common/agent.h"), "src/cli/bad.c:3: layer"),
    ("include/wheeltap/bad.h", including("../../src/base/err.h"), "include/wheeltap/bad.h:3: layer"),
    ("examples/bad.c", including("../src/base/err.h"), "examples/bad.c:3: layer"),
    ("src/base/bad.c", including("no/such.h"), "src/base/bad.c:3: layer"),
    ("src/show/bad.c", SPDX + "enum wti_rule {\n\tWTI_ONE,\n};\n", "src/show/bad.c:3: tag: 'wti_rule'"),
    ("src/cli/bad.c", calling("strcpy(a, b)"), "src/cli/bad.c:5: call: 'strcpy'"),
    ("src/cli/bad.c", calling("sprintf(a, b)"), "src/cli/bad.c:5: call: 'sprintf'"),
    ("src/cli/bad.c", calling("system(a)"), "src/cli/bad.c:5: call: 'system'"),
    ("src/cli/bad.c", calling('printf("x")'), "src/cli/bad.c:5: call: 'printf'"),
    ("src/cli/bad.c", calling("fwrite(a, 1, 2, b)"), "src/cli/bad.c:5: call: 'fwrite'"),
    ("src/cli/bad.c", calling("write(STDERR_FILENO, a, 1)"), "src/cli/bad.c:5: call: 'STDERR_FILENO'"),
    ("src/cli/bad.c", calling("atoi(a)"), "src/cli/bad.c:5: call: 'atoi'"),
    ("tests/unit/bad.c", calling("strtok(a, b)"), "tests/unit/bad.c:5: call: 'strtok'"),
    ("src/trace/bad.c", calling('printf("x")'), "src/trace/bad.c:5: call: 'printf'"),
    ("src/trace/bad.c", calling('fprintf(stderr, "x")'), "src/trace/bad.c:5: call: 'stderr'"),
    ("src/show/bad.c", calling('fputs("x", stdout)'), "src/show/bad.c:5: call: 'stdout'"),
    ("src/runs/bad.c", calling('printf("x")'), "src/runs/bad.c:5: call: 'printf'"),
    ("src/runs/bad.c", calling("exit(1)"), "src/runs/bad.c:5: call: 'exit'"),
    ("src/runs/bad.c", calling('getenv("X")'), "src/runs/bad.c:5: call: 'getenv'"),
    ("src/collect/bad.c", calling("exit(1)"), "src/collect/bad.c:5: call: 'exit'"),
    ("src/collect/bad.c", calling('getenv("X")'), "src/collect/bad.c:5: call: 'getenv'"),
    ("src/inspect/bad.c", calling("environ[0]"), "src/inspect/bad.c:5: call: 'environ'"),
    ("src/agents/client/bad.c", calling('printf("x")'), "src/agents/client/bad.c:5: call: 'printf'"),
    ("src/agents/client/bad.c", calling("alloca(8)"), "src/agents/client/bad.c:5: call: 'alloca'"),
    ("src/base/bad.c", SPDX + "int  f(void);\n", "src/base/bad.c:3: format"),
    ("src/base/bad.c", "/* No licence. */\n/* A sample. */\nint f(void);\n", "src/base/bad.c:1: spdx"),
    ("tools/bad", "#!/bin/sh\necho x\n", "tools/bad:1: spdx"),
    ("tools/bad.py", "print(1)\n", "tools/bad.py:1: spdx"),
    ("tools/bad", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nif true; then\n", "tools/bad:1: script: sh"),
    ("tools/bad.py", "# SPDX-License-Identifier: Apache-2.0\ndef f(:\n", "tools/bad.py:2: script: Python"),
    ("src/base/bad.h", SPDX.replace("sample", "s\udcffmple"), "src/base/bad.h:1: utf8"),
    ("tests/fuzz/corpus/toml/0a1b", "x = 1\n", "tests/fuzz/corpus/toml/0a1b:0: input"),
    ("docs/events.md", "# Something else\n", "docs/events.md:1: generated"),
    ("python/wheeltap/flags.py", "# SPDX-License-Identifier: Apache-2.0\n", "python/wheeltap/flags.py:1: generated"),
]
WARNINGS = [
    ("src/base/long.c", SPDX + "int f(void);\n" * 600, "src/base/long.c:602: warning: 602 lines"),
    ("src/base/long.c", SPDX + "int f(void)\n{\n" + "\tf();\n" * 71 + "}\n", "src/base/long.c:4: warning: function of 71 lines"),
    ("src/base/mute.c", SPDX.splitlines()[0] + "\nint f(void);\n", "src/base/mute.c:2: warning: no word"),
]


class Tree(Tap):
    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        shutil.copy(SOURCE / ".clang-format", root)
        shutil.copytree(SOURCE / "schema", root / "schema")
        (root / "docs").mkdir()
        for name, path in (("events.md", "docs/events.md"), ("flags.py", "python/wheeltap/flags.py")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, root / "schema/generate.py", root / "schema/events.toml", name, root / path],
                           check=True)
        for name, text in CLEAN.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogateescape"))

    def problems(self) -> tuple[int, list[str]]:
        done = subprocess.run([TOOL, "--root", self.root], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout.splitlines()

    def expect(self, what: str, status: int, *shown: str, only: bool = True) -> None:
        """That status, those reports, and (with `only`) no other problem."""
        actual, lines = self.problems()
        good = actual == status and all(any(line.startswith(text) for line in lines) for text in shown)
        good = good and lines[-1].startswith("tools/check: ") and (not only or len(lines) == len(shown) + 1)
        self.check(what, good, f"status {actual}, should be {status} and show {shown}", *lines)

    def plant(self, name: str, text: str, report: str, status: int) -> None:
        before = (self.root / name).read_bytes() if (self.root / name).exists() else None
        self.write(name, text)
        self.expect(report, status, report)
        if before is None:
            (self.root / name).unlink()
        else:
            (self.root / name).write_bytes(before)

    def plant_symbol(self) -> None:
        self.write("build/a.c", "int wt_good(void) { return 0; }\nint wti_leak(void) { return 0; }\n")
        (self.root / "build/src").mkdir()
        for name in ("build/liba.so", "build/src/libb.so"):
            library = self.root / name
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, self.root / "build/a.c"], check=True)
            self.expect("symbol", 1, f"{library}:0: symbol: 'wti_leak'")
            library.unlink()


def main() -> int:
    with Scratch() as folder:
        tree = Tree(folder)
        tree.expect("a clean tree", 0)
        for name, text, report in VIOLATIONS:
            tree.plant(name, text, report, 1)
        for name, text, report in WARNINGS:
            tree.plant(name, text, report, 0)
        tree.plant_symbol()
        return tree.finish()


if __name__ == "__main__":
    sys.exit(main())
