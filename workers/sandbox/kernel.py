"""Calls the kernel where Python has no function for it."""

import ctypes
import math
import os
import resource
from typing import Any, Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2


def system_call(number: int, *arguments: Any) -> int:
    """Makes a system call. Raises `OSError`."""
    return _checked(_LIBC.syscall(ctypes.c_long(number), *arguments))


def forbid_dumps() -> None:
    """Hides this process's memory from core dumps, tracers and `/proc/…/mem`."""
    _prctl(_PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """Prevents programs that this process executes from getting more rights than it has."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def set_filter(program: ctypes.Structure) -> None:
    """Puts all later system calls of this process under a BPF program."""
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program))


def unshare(flags: int) -> None:
    _checked(_LIBC.unshare(flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    encoded = None if kind is None else kind.encode()
    _checked(
        _LIBC.mount(
            source.encode(),
            target.encode(),
            encoded,
            ctypes.c_ulong(flags),
            options.encode() or None,
        )
    )


def unmount(target: str, flags: int) -> None:
    _checked(_LIBC.umount2(target.encode(), flags))


def _prctl(option: int, *values: Any) -> None:
    padded = [*values, *(0,) * (4 - len(values))]
    arguments = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in padded]
    _checked(_LIBC.prctl(option, *arguments))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


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


_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3: Final = 0x20080522
_OPEN_FILES: Final = 4
"""Descriptors 0 to 3, of which a program has only the last."""


def processor_limit_s(seconds: float) -> int:
    """Returns the kernel's limit for a program that may compute for `seconds`. The runner's clock
    ends a program earlier, unless the kernel does not report how long it waited.
    """
    return math.ceil(seconds) + 1


def limit_resources(*, memory_bytes: int, seconds: float) -> None:
    """`memory_bytes`: of the whole address space. Hard limits: a program cannot raise them."""
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: processor_limit_s(seconds),
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 16,
    }
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (lower, lower))


def switch_user(uid: int) -> None:
    """Changes user and group for good; root only. Raises `OSError`."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def drop_privileges() -> None:
    """Gives up all capabilities and the ways to new ones. Raises `OSError`."""
    _drop_capabilities()
    forbid_new_privileges()
    forbid_dumps()


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _drop_capabilities() -> None:
    none = (ctypes.c_uint32 * 6)()  # two sets of three masks
    header = _Header(_CAPABILITY_VERSION_3, 0)
    number = _CAPSET[os.uname().machine]
    system_call(number, ctypes.byref(header), ctypes.byref(none))
