"""Landlock: a rule set without rules, which denies all that the kernel's version can deny.

Source: `Documentation/userspace-api/landlock.rst` of the kernel. Open descriptors stay usable; a
program has none but its channel.
"""

import ctypes
import os
from typing import Final

from workers.sandbox.kernel import system_call

_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the same numbers on every architecture
_VERSION_FLAG: Final = 1
_FILES: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights over files, the low bits of the mask, by the first version that has them."""
_NETWORK_FROM, _NETWORK = 4, 0b11  # bind and connect of TCP
_SCOPES_FROM, _SCOPES = 6, 0b11  # abstract sockets and signals of processes outside


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


def version() -> int:
    """Returns the version of the kernel's interface. Raises `OSError` where there is none."""
    return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))


def restrict() -> None:
    """Denies this process everything that Landlock can deny. Raises `OSError`."""
    found = version()
    bits = max(number for since, number in _FILES.items() if since <= found)
    attributes = _Attributes(
        (1 << bits) - 1,
        _NETWORK if found >= _NETWORK_FROM else 0,
        _SCOPES if found >= _SCOPES_FROM else 0,
    )
    rules = system_call(
        _CREATE_RULESET,
        ctypes.byref(attributes),
        ctypes.c_size_t(_size(found)),
        ctypes.c_uint32(0),
    )
    try:
        system_call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _size(found: int) -> int:
    """Returns the bytes of the attributes that this version knows."""
    if found >= _SCOPES_FROM:
        return ctypes.sizeof(_Attributes)
    return 16 if found >= _NETWORK_FROM else 8
