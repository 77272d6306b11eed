"""Calls the kernel where Python has no function for it."""

import ctypes
import os
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
