# SPDX-License-Identifier: Apache-2.0
"""Another user's trap: takes the name of a session that is over, with all that a recorder would have there.

usage: trap.py FOLDER PAGE HARM PRECIOUS REPORT

FOLDER is made with a valid control page (PAGE) and a socket that listens. HARM turns one of its files into something
that harms whoever trusts it: "control cut", "settings fifo", "trouble symlink" (to PRECIOUS), or "" for none. Whatever
anybody sends goes to REPORT, a line a message; then the control page is cut off. Works until its standard input ends.
"""

from __future__ import annotations

import os
import select
import socket
import sys


def harm(folder: str, what: str, precious: str) -> None:
    name, _, how = what.partition(" ")
    path = os.path.join(folder, name)
    if os.path.lexists(path):
        os.unlink(path)
    if how == "fifo":
        os.mkfifo(path, 0o666)
    elif how == "symlink":
        os.symlink(precious, path)
    elif how == "folder":
        os.mkdir(path)
    elif how in ("cut", "empty"):
        with open(path, "wb") as file:
            file.write(b"WCTL" if how == "cut" else b"")
    if how != "symlink":
        os.chmod(path, 0o777)


def segment(page: bytes) -> None:
    """With the number that the variable names, if somebody has asked the kernel for that."""
    import ctypes

    c = ctypes.CDLL(None, use_errno=True)
    c.shmat.restype = ctypes.c_void_p
    number = c.shmget(0, 4096, 0o1666)
    address = c.shmat(number, None, 0)
    ctypes.memmove(address, page, len(page))
    c.shmctl(number, 0, None)  # removed with us
    print("segment", number, flush=True)


def main() -> None:
    folder, page_file, what, precious, report = sys.argv[1:]
    os.umask(0)
    with open(page_file, "rb") as file:
        page = file.read()
    os.makedirs(folder, 0o777)
    with open(os.path.join(folder, "control"), "wb") as file:
        file.write(page)
    with open(os.path.join(folder, "settings"), "w") as text:
        text.write("detail=full\ntensors=full\n")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.chdir(folder)
    listener.bind("socket")
    listener.listen(64)
    segment(page)
    if what:
        harm(folder, what, precious)
    print("set", flush=True)
    links = []
    while True:
        ready, _, _ = select.select([sys.stdin, listener, *links], [], [])
        if sys.stdin in ready:
            return
        if listener in ready:
            links.append(listener.accept()[0])
        for link in [one for one in links if one in ready]:
            data = link.recv(4096)
            if not data:
                links.remove(link)
                continue
            with open(report, "a") as text:
                text.write(f"{len(data)} bytes\n")
            if os.path.isfile("control"):
                os.truncate("control", 0)


main()
