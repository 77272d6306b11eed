"""Calls the kernel where Python has no function for it."""

import ctypes
import errno
import math
import os
import platform
import resource
import signal
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from app.kit.processes import signal_at_parent_end
from app.tools.programs import ALWAYS, LAYERS, Layer

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2


def system_call(number: int, *arguments: Any) -> int:
    return _checked(_LIBC.syscall(ctypes.c_long(number), *arguments))


def forbid_dumps() -> None:
    """Hides this process's memory from core dumps, tracers and `/proc/…/mem`."""
    _prctl(_PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def set_filter(program: ctypes.Structure) -> None:
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
    """For a program that may compute for `seconds`; the runner's clock usually ends it earlier."""
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
    none = (ctypes.c_uint32 * 6)()  # two sets of three masks
    header = _Header(_CAPABILITY_VERSION_3, 0)
    number = _CAPSET[os.uname().machine]
    system_call(number, ctypes.byref(header), ctypes.byref(none))
    forbid_new_privileges()
    forbid_dumps()


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


_TRIED_UID: Final = 60_800


@dataclass(frozen=True, slots=True)
class Protection:
    layers: frozenset[Layer]
    memory_bytes: int
    seconds: float
    first_uid: int

    def confine(self, slot: int) -> None:
        """For the process that runs a slot's program. Raises `OSError`."""
        limit_resources(memory_bytes=self.memory_bytes, seconds=self.seconds)
        if "own_user" in self.layers:
            switch_user(self.first_uid + slot)
        signal_at_parent_end(signal.SIGKILL)  # a change of user clears it, so not before
        drop_privileges()
        if "landlock" in self.layers:
            restrict()
        if "seccomp" in self.layers:
            install()


def available(without: frozenset[str], *, first_uid: int = _TRIED_UID) -> frozenset[Layer]:
    """Returns the layers that work on this machine, except those that the caller leaves out."""
    return frozenset(
        layer
        for layer in LAYERS
        if layer in ALWAYS
        or (layer not in without and _succeeds(partial(_try, layer, first_uid=first_uid)))
    )


def _try(layer: Layer, *, first_uid: int) -> None:
    match layer:
        case "limits" | "privileges":
            pass  # every kernel has them
        case "own_user":
            switch_user(first_uid)
        case "namespaces":
            enter_namespaces()
            enter_for_one()
            if not _succeeds(lambda: None) or os.listdir("/"):  # noqa: PTH208 - no pathlib in this small interpreter
                raise OSError("the namespaces are not empty")
        case "landlock":
            drop_privileges()
            restrict()
            _must_fail(lambda: os.listdir("/"))  # noqa: PTH208 - no pathlib in this small interpreter
        case "seccomp":
            drop_privileges()
            install()
            _must_fail(os.getcwd)  # a call that is not in the list


def _succeeds(attempt: Callable[[], None]) -> bool:
    """Tries a layer in a separate process, because it cannot be removed again."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            attempt()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def _must_fail(act: Callable[[], object]) -> None:
    try:
        act()
    except PermissionError:
        return
    raise OSError("the layer has no effect")


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_BELOW_PATH: Final = 1
_VERSION_FLAG: Final = 1
_FILES: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights over files, the low bits of the mask, by the first version that has them."""
_READS: Final = 0b1101
_OF_FILES: Final = 0b0100_0000_0000_0110
_NETWORK_FROM, _NETWORK_LAYERS = 4, 0b11  # bind and connect of TCP
_SCOPES_FROM, _SCOPES = 6, 0b11  # abstract sockets and signals of processes outside


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))


def restrict() -> None:
    """Denies this process everything that Landlock can deny. Raises `OSError`."""
    found = version()
    attributes = _Attributes(
        _file_rights(found),
        _NETWORK_LAYERS if found >= _NETWORK_FROM else 0,
        _SCOPES if found >= _SCOPES_FROM else 0,
    )
    _apply(attributes, found, below=())


def restrict_writes(below: Iterable[str]) -> None:
    """Denies this thread, and all that it starts, changes of files outside existing paths."""
    found = version()
    forbid_new_privileges()
    _apply(_Attributes(_file_rights(found) & ~_READS, 0, 0), found, below=below)


def _file_rights(found: int) -> int:
    return (1 << max(number for since, number in _FILES.items() if since <= found)) - 1


def _apply(attributes: _Attributes, found: int, *, below: Iterable[str]) -> None:
    rules = system_call(
        _CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(_size(found)), ctypes.c_uint32(0)
    )
    try:
        for path in below:
            _allow_below(rules, path, attributes.files)
        system_call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow_below(rules: int, path: str, rights: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        whole = stat.S_ISDIR(os.fstat(opened).st_mode)
        rule = _PathRule(rights if whole else rights & _OF_FILES, opened)
        system_call(
            _ADD_RULE,
            ctypes.c_int(rules),
            ctypes.c_int(_BELOW_PATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(opened)


def _size(found: int) -> int:
    if found >= _SCOPES_FROM:
        return ctypes.sizeof(_Attributes)
    return 16 if found >= _NETWORK_FROM else 8


_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOWED: Final[dict[str, tuple[int | None, int | None]]] = {
    # name: numbers on x86_64 and aarch64; None where the architecture has no such call
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "exit": (60, 93),
    "uname": (63, 160),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}
_WITHOUT_EXEC: Final = {"mmap": (9, 222), "mprotect": (10, 226)}
"""Calls whose third argument is a protection, allowed without PROT_EXEC."""

_PROT_EXEC: Final = 4
_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_SET: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_NUMBER, _ARCH, _THIRD_ARGUMENT = 0, 4, 32  # offsets in struct seccomp_data; little-endian
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | errno.EPERM


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jump_true", ctypes.c_ubyte),
        ("jump_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


class _Step(NamedTuple):
    code: int
    value: int
    jump_true: int = 0
    jump_false: int = 0


def install() -> None:
    """Filters all later system calls of this process. Raises `OSError`."""
    steps = _steps(platform.machine())
    instructions = (_Instruction * len(steps))(
        *(_Instruction(step.code, step.jump_true, step.jump_false, step.value) for step in steps)
    )
    set_filter(_Program(len(steps), instructions))


def _steps(machine: str) -> list[_Step]:
    if machine not in _AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    column = list(_AUDIT_ARCH).index(machine)
    steps = [
        _Step(_LOAD, _ARCH),
        _Step(_JUMP_EQUAL, _AUDIT_ARCH[machine], jump_true=1),
        _Step(_RETURN, _KILL),  # another ABI, whose numbers mean other calls
        _Step(_LOAD, _NUMBER),
    ]
    for numbers in _ALLOWED.values():
        number = numbers[column]
        if number is not None:
            steps += [_Step(_JUMP_EQUAL, number, jump_false=1), _Step(_RETURN, _ALLOW)]
    for pair in _WITHOUT_EXEC.values():
        steps += [
            _Step(_JUMP_EQUAL, pair[column], jump_false=4),
            _Step(_LOAD, _THIRD_ARGUMENT),
            _Step(_JUMP_SET, _PROT_EXEC, jump_false=1),
            _Step(_RETURN, _REFUSE),
            _Step(_RETURN, _ALLOW),
        ]
    return [*steps, _Step(_RETURN, _REFUSE)]
