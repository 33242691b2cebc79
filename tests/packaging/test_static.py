#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The static program in a root that has musl, busybox and nothing of glibc: used to record and to read.

usage: test_static.py TARBALL

The C program is built by musl-gcc with the archive and the pkg-config file of the tarball. Ends with 77 and the reason where a tool is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TARBALL = Path(sys.argv.pop(1)).resolve()
BUSYBOX, MUSL = shutil.which("busybox"), Path("/lib/ld-musl-x86_64.so.1")
PATIENCE = 300
NAMESPACE = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]
ENTER = 'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && exec /usr/sbin/chroot "$@"'

LOOP = """
#include <stdio.h>
#include <wheeltap/wheeltap.h>

int main(void)
{
	float weights[4] = {5, 5, 5, 5};

	for (int step = 0; step < 50; step++) {
		wt_step(step);
		wt_counter(WT_NAME("loss"), weights[0] * weights[0]);
		WT_SPAN("update")
		{
			for (int i = 0; i < 4; i++)
				weights[i] -= 0.2f * weights[i];
		}
	}
	printf("weight %.3f\\n", weights[0]);
	return 0;
}
"""


def unavailable() -> str:
    """Why the test cannot run, or nothing."""
    if not BUSYBOX or not MUSL.exists() or not shutil.which("musl-gcc"):
        return "no musl-gcc, musl or busybox; apt install musl-tools busybox-static"
    if subprocess.run(["readelf", "-d", BUSYBOX], stdout=subprocess.PIPE, text=True).stdout.count("NEEDED"):
        return f"'{BUSYBOX}' is not static; apt install busybox-static"
    if subprocess.run([*NAMESPACE, "true"], stderr=subprocess.DEVNULL).returncode:
        return "mount namespaces are not permitted here"
    return ""


class Static(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="wheeltap-static-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.root = self.scratch / "root"
        for name in ("bin", "lib", "proc", "dev", "tmp", "home", "opt"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(str(BUSYBOX), self.root / "bin" / "busybox")
        for name in ("sh", "cat", "ls", "rm"):
            (self.root / "bin" / name).symlink_to("busybox")
        shutil.copy(MUSL, self.root / "lib")
        shutil.unpack_archive(TARBALL, self.root / "opt")
        self.tree = next((self.root / "opt").iterdir())
        self.wheeltap = f"/opt/{self.tree.name}/bin/wheeltap"

    def build(self, name: str, *flags: str) -> None:
        source = self.scratch / f"{name}.c"
        source.write_text(LOOP)
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", "wheeltap-client"], check=True, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(self.tree / "lib" / "pkgconfig")}).stdout.split()
        subprocess.run(["musl-gcc", *flags, source, "-o", self.root / "bin" / name, *asked], check=True)

    def run_in(self, *command: str, code: int = 0) -> str:
        """In the root; what it prints, errors too."""
        inside = ["/bin/sh", "-c", 'cd /home && exec "$@"', "sh", *command]
        done = subprocess.run([*NAMESPACE, "sh", "-c", ENTER, "sh", str(self.root), *inside], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, env={"PATH": "/bin:/usr/bin:/sbin", "HOME": "/home", "WHEELTAP_HOME": "/home"})
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}")
        return done.stdout

    def run_wheeltap(self, *words: str, code: int = 0) -> str:
        return self.run_in(self.wheeltap, *words, code=code)

    def test_file(self) -> None:
        """Neither a loader nor a library is named in it, and there is no other program."""
        said = subprocess.run(["readelf", "--program-headers", "--wide", self.tree / "bin" / "wheeltap"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertNotIn("INTERP", said)
        self.assertNotIn("DYNAMIC", said)
        self.assertEqual([path.name for path in self.tree.rglob("*.so*")], [])
        self.assertTrue((self.tree / "share/doc/wheeltap/licences/libc6-dev.copyright").exists())

    def test_version(self) -> None:
        about = json.loads(self.run_wheeltap("version", "--verbose", "--json"))
        self.assertEqual(about["linked"], "into the program, with glibc")

    def test_program(self) -> None:
        """Events of C programs that use musl, shared and static; and the reading of their runs."""
        for name, flags in (("loop", []), ("whole", ["-static"])):
            self.build(name, *flags)
            said = self.run_wheeltap("record", "-o", name, "--", name)
            self.assertIn("weight 0.000", said)
            self.assertIn("217 events from 1 process", said)
            self.assertIn("nothing lost", said)
            self.assertIn("update", self.run_wheeltap("stat", name))
        self.assertIn("217", self.run_wheeltap("info", "loop"))
        self.assertIn("loss", self.run_wheeltap("view", "loop"))
        self.assertIn("finished", self.run_wheeltap("ls"))
        self.assertIn("No problems found", self.run_wheeltap("doctor", "loop"))
        self.run_wheeltap("report", "loop", "-o", "report.html")
        for to in ("perfetto", "sqlite", "csv"):
            self.run_wheeltap("export", "loop", "--to", to, "-o", f"exported.{to}")

    def test_shell(self) -> None:
        """A program without an agent: its console and, with --syscalls, what it did."""
        self.run_wheeltap("record", "-o", "plain", "--", "sh", "-c", "echo hi")
        self.assertEqual((self.root / "home/plain/console.log").read_text(), "hi\n")
        self.run_wheeltap("record", "--syscalls", "-o", "calls", "--", "sh", "-c", "cat /proc/self/comm >made")
        self.assertIn('"made", O_WRONLY|O_CREAT|O_TRUNC', self.run_wheeltap("view", "calls", "--kind", "syscall"))

    def test_python(self) -> None:
        """Where there are interpreters there is glibc: said before the program starts, and it runs."""
        done = subprocess.run([self.tree / "bin" / "wheeltap", "record", "-o", self.scratch / "python", "--", sys.executable, "-c", "print('started')"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        first, _, rest = done.stdout.partition("\n")
        self.assertIn("the program's Python will not be recorded: there is no agent beside this program; the static program has none", first)
        self.assertIn("started", rest)
        self.assertIn("no Python process joined: there is no agent for Python beside this program", rest)

    def test_absent(self) -> None:
        """What it does not have is refused with the reason, before the program is started."""
        for option in ("--opencl", "--cuda", "--rocm"):
            self.assertIn("the static program has none", self.run_wheeltap("record", option, "--", "sh", "-c", "echo started", code=125))
        self.assertIn("the static program has none", self.run_wheeltap("record", "--noise", "rr", "--", "ls", code=125))
        self.assertIn("the static program has none", self.run_wheeltap("python", "add", "/bin/sh", code=3))
        self.assertIn("the static program has none", self.run_wheeltap("try", code=3))
        self.assertIn("the static program has none", self.run_wheeltap("env", code=0))


if __name__ == "__main__":
    if unavailable():
        print(f"skipped: {unavailable()}")
        sys.exit(77)
    unittest.main()
