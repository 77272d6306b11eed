"""Landlock: a rule set that denies all that the kernel's version can deny, or all writes but below
some paths.

Source: `Documentation/userspace-api/landlock.rst` of the kernel. Open descriptors stay usable; a
program has none but its channel. A rule set counts for the calling thread and what it starts.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from typing import Final

from workers.sandbox.kernel import forbid_new_privileges, system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_BELOW_PATH: Final = 1
_VERSION_FLAG: Final = 1
_FILES: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights over files, the low bits of the mask, by the first version that has them."""
_READS: Final = 0b1101
"""The rights to execute and to read files, and to read directories."""
_OF_FILES: Final = 0b0100_0000_0000_0110
"""The rights that a file has: to write, to read, to truncate."""
_NETWORK_FROM, _NETWORK = 4, 0b11  # bind and connect of TCP
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
    """Returns the version of the kernel's interface. Raises `OSError` where there is none."""
    return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))


def restrict() -> None:
    """Denies this process everything that Landlock can deny. Raises `OSError`."""
    found = version()
    attributes = _Attributes(
        _file_rights(found),
        _NETWORK if found >= _NETWORK_FROM else 0,
        _SCOPES if found >= _SCOPES_FROM else 0,
    )
    _apply(attributes, found, below=())


def restrict_writes(below: Iterable[str]) -> None:
    """Denies this thread, and all that it starts, to change any file but those at or below some
    paths, which must exist. Raises `OSError`. The process gives up the way to more rights.
    """
    found = version()
    forbid_new_privileges()
    _apply(_Attributes(_file_rights(found) & ~_READS, 0, 0), found, below=below)


def _file_rights(found: int) -> int:
    return (1 << max(number for since, number in _FILES.items() if since <= found)) - 1


def _apply(attributes: _Attributes, found: int, *, below: Iterable[str]) -> None:
    rules = system_call(
        _CREATE_RULESET,
        ctypes.byref(attributes),
        ctypes.c_size_t(_size(found)),
        ctypes.c_uint32(0),
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
    """Returns the bytes of the attributes that this version knows."""
    if found >= _SCOPES_FROM:
        return ctypes.sizeof(_Attributes)
    return 16 if found >= _NETWORK_FROM else 8
