"""Namespaces: an empty root directory, no network, and separate process ids for each program.

An ordinary user gets them through a user namespace, which some systems refuse; root needs none.
Docker's default profile refuses both.
"""

import os
from typing import Final

from workers.sandbox.kernel import mount, system_call, unmount, unshare

_MOUNTS, _UTS, _IPC = 0x00020000, 0x04000000, 0x08000000
_USERS, _PROCESSES, _NETWORK = 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 32, 4096, 16384, 1 << 18
_DETACH: Final = 2
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
_MOUNT_POINTS: Final = ("/tmp", "/mnt", "/run")  # noqa: S108 - an existing directory to mount over, in a namespace of our own


def enter_namespaces() -> None:
    """Moves this process and its later children into empty namespaces. Raises `OSError`."""
    uid, gid = os.geteuid(), os.getegid()
    own = _MOUNTS | _UTS | _IPC | _NETWORK
    if uid == 0:
        unshare(own)
    else:
        unshare(own | _USERS)
        _map_itself(uid, gid)
    _empty_root()


def enter_for_one() -> None:
    """Gives the children of this process, but not the process itself, separate process ids and
    shared memory. The first child is their process 1: when it ends, the kernel ends all others.
    """
    unshare(_PROCESSES | _IPC)


def _map_itself(uid: int, gid: int) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def _empty_root() -> None:
    protected = _NO_SUID | _NO_DEVICES | _NO_EXEC
    mount("none", "/", None, _RECURSIVE | _PRIVATE)
    target = next(point for point in _MOUNT_POINTS if os.path.isdir(point))  # noqa: PTH112 - no pathlib in this small interpreter
    mount("sandbox", target, "tmpfs", protected, "size=4k,nr_inodes=1,mode=0555")
    os.chdir(target)
    number = _PIVOT_ROOT[os.uname().machine]
    system_call(number, b".", b".")
    unmount(".", _DETACH)
    os.chdir("/")
    mount("none", "/", None, _REMOUNT | _BIND | _READ_ONLY | protected)
