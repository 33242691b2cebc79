#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of system calls: a run that is known call by call, and what is read back.

usage: test_decode_export.py WHEELTAP DECODE_TRACE
"""

from __future__ import annotations

import csv
import html.parser
import io
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch  # noqa: E402

WHEELTAP, DECODE_TRACE = (str(Path(path).resolve()) for path in sys.argv[1:3])

STRACE = r"""100   openat(AT_FDCWD, "/data/set", O_RDONLY) = 3 <0.000012>
100   read(3, "hello", 100)             = 5 <0.000012>
100   dup2(3, 7)                        = 7 <0.000012>
100   close(3)                          = 0 <0.000012>
100   pipe2([4, 5], O_CLOEXEC)          = 0 <0.000012>
100   write(5, "x", 1)                  = 1 <0.000012>
100   socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3 <0.000012>
100   connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000012>
100   unlink("</td><script>alert('x')</script>&\n\377") = -1 ENOENT (No such file or directory) <0.000012>
100   fstat(7, 0x2000)                  = 0 <0.000012>
100   syscall_0x3e8(0x1, 0x2, 0, 0, 0, 0) = 0 <0.000012>
101   read(7,  <unfinished ...>)        = ?
101   +++ killed by SIGKILL +++
100   exit_group(3)                     = ?
100   +++ exited with 3 +++
"""

NAMED = {
    "read(3</data/set>,": "a file",
    "dup2(3</data/set>, 7)": "a copy is made of what is known",
    "= 7</data/set>": "and known itself",
    "write(5<pipe>,": "a pipe",
    "fstat(7</data/set>,": "closing one does not close the other",
    "101   read(7</data/set>,": "a child has what its parent had",
}


class Page(html.parser.HTMLParser):
    """Cells by row; everything that could load or run something is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.in_cell = tag in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.rows[-1][-1] += data.strip("\n")


class Exports(unittest.TestCase):
    run_path: str

    @classmethod
    def setUpClass(cls) -> None:
        scratch = Scratch()
        cls.addClassCleanup(scratch.__exit__)
        cls.run_path = str(scratch.path / "run")
        subprocess.run([DECODE_TRACE, cls.run_path], check=True)

    def export(self, form: str, *options: str) -> str:
        done = subprocess.run([WHEELTAP, "export", "--to", form, "-o", "-", *options, self.run_path], capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()

    def test_strace(self) -> None:
        self.assertEqual(self.export("strace"), STRACE)

    def test_descriptors(self) -> None:
        text = self.export("strace", "-y")
        for part, why in NAMED.items():
            self.assertIn(part, text, why)
        self.assertIn("connect(3<socket>,", text)

    def test_string_limit(self) -> None:
        self.assertIn('read(3, "he"..., 100)', self.export("strace", "-s", "2"))

    def test_times(self) -> None:
        first, second = self.export("strace", "-t").splitlines()[:2]
        # The clock of this run knows no time of day: since the first event, less the 12345 ns that the call took.
        self.assertEqual(second, '100   0.000187 read(3, "hello", 100)    = 5 <0.000012>')
        self.assertRegex(first, r"^100   0\.000087 openat")

    def test_some(self) -> None:
        text = self.export("strace", "-y", "-e", "%network,fstat")
        self.assertEqual([line.split()[1].split("(")[0] for line in text.splitlines() if "+++" not in line], ["socket", "connect", "fstat"])
        self.assertIn("fstat(7</data/set>,", text, "calls that are not shown are followed")
        done = subprocess.run([WHEELTAP, "export", "--to", "strace", "-o", "-", "-e", "opnat", self.run_path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'openat'?", done.stderr)

    def test_renacer(self) -> None:
        document = json.loads(self.export("renacer-json"))
        self.assertEqual(set(document), {"version", "format", "syscalls", "summary"})
        self.assertEqual(document["format"], "renacer-json-v1")
        calls = document["syscalls"]
        self.assertEqual(len(calls), 13)
        self.assertEqual(calls[0], {"name": "openat", "args": ["AT_FDCWD", '"/data/set"', "O_RDONLY"], "result": 3, "duration_us": 12,
                                    "ts_us": calls[0]["ts_us"], "tid": 100})
        self.assertEqual(calls[1]["ts_us"] - calls[0]["ts_us"], 100)
        self.assertEqual((calls[8]["name"], calls[8]["result"]), ("unlink", -2))
        self.assertEqual(document["summary"], {"total_syscalls": 13, "total_time_us": 13 * 12345 // 1000, "exit_code": 3})

    def test_html(self) -> None:
        page = Page()
        page.feed(self.export("html"))
        self.assertEqual(page.tags, {"html", "head", "meta", "title", "style", "body", "h1", "h2", "table", "tr", "th", "td"})
        calls = [row for row in page.rows if len(row) == 6][1:]
        self.assertEqual(len(calls), 13)
        self.assertEqual(calls[8][2], r"""unlink("</td><script>alert('x')</script>&\n\377")""")
        self.assertEqual(calls[8][3], "-1 ENOENT (No such file or directory)")
        totals = {row[0]: row[1:] for row in page.rows if len(row) == 4}
        self.assertEqual(totals["read"][:2], ["2", "0"])
        self.assertEqual(totals["unlink"][:2], ["1", "1"])

    def test_csv(self) -> None:
        rows = list(csv.DictReader(io.StringIO(self.export("csv", "--kind", "syscall"))))
        self.assertEqual(rows[0]["name"], "openat")
        self.assertEqual(rows[0]["duration_ns"], "12345")
        self.assertEqual(json.loads(rows[0]["fields"])["text"], 'openat(AT_FDCWD, "/data/set", O_RDONLY) = 3')

    def test_view(self) -> None:
        done = subprocess.run([WHEELTAP, "view", self.run_path], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn('openat(AT_FDCWD, "/data/set", O_RDONLY) = 3 <0.000012345>', done.stdout)

    def test_python(self) -> None:
        """Tables and rows of the Python package, if it was built."""
        script = ("import wheeltap, sys; run = wheeltap.open(sys.argv[1]); print(run.table('syscall', fields=['text'])['text'][0]); "
                  "print(next(e.fields['text'] for e in run.events('syscall')))")
        package = Path(WHEELTAP).parent / "python"
        built = list(package.glob("wheeltap/_reader*.so"))
        if not built:
            self.skipTest("the Python package was not built")
        if b"__asan_init" in built[0].read_bytes():
            self.skipTest("an interpreter without sanitizers does not load an extension that has them")
        done = subprocess.run(["/usr/bin/python3", "-c", script, self.run_path], capture_output=True, text=True, timeout=PATIENCE,
                              env={"PYTHONPATH": str(package)})
        self.assertEqual((done.stderr, done.stdout), ("", 'openat(AT_FDCWD, "/data/set", O_RDONLY) = 3\n' * 2))

    def test_none(self) -> None:
        """A run without system calls is not one that made none."""
        path = f"{self.run_path}-nothing"
        for form in ("strace", "renacer-json", "html"):
            done = subprocess.run([WHEELTAP, "export", "--to", form, "-o", path, "--kind", "mark", self.run_path],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 3)
            self.assertIn("no system calls", done.stderr)
            self.assertFalse(Path(path).exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
