"""The filter of system calls: those that computing needs pass, all others fail with EPERM.

Lists the allowed calls, so that a call which a later kernel adds is refused. No call of the list
opens a path, a socket or a process, and none makes memory executable: all importable modules are
loaded before. The BPF program is assembled here, because the Python bindings of libseccomp need a C
library that a slim image may lack, and are not maintained.

The numbers are those of the kernel's tables `arch/x86/entry/syscalls/syscall_64.tbl` and
`include/uapi/asm-generic/unistd.h`; the second is that of aarch64.
"""

import ctypes
import errno
import platform
from typing import Final, NamedTuple

from workers.sandbox.kernel import set_filter

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
