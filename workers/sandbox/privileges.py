"""Reduces the rights of a process: limits of its resources, its user, its capabilities."""

import ctypes
import math
import os
import resource
from typing import Final

from workers.sandbox.kernel import forbid_dumps, forbid_new_privileges, system_call

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
