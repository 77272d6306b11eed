"""Chooses and checks the TCP ports of the loopback services."""

import errno
import random
import socket
from pathlib import Path

_LOWEST = 15_000
_HIGHEST = 32_000


def free_port(taken: frozenset[int] = frozenset()) -> int:
    """Returns an unused loopback port below the kernel's range for outgoing connections.

    The kernel may assign a port inside that range to a client while its server restarts; a client
    that redials its stopped server can even connect to itself and block the port.
    """
    highest = min(_HIGHEST, _first_outgoing_port() - 1)
    for _ in range(200):
        port = random.randint(_LOWEST, max(highest, _LOWEST + 1000))
        if port not in taken and is_free("127.0.0.1", port):
            return port
    raise OSError(errno.EADDRINUSE, f"no free port between {_LOWEST} and {highest}")


def is_free(host: str, port: int) -> bool:
    """Returns true if a server could listen on the address now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def accepts(host: str, port: int, timeout_s: float = 0.5) -> bool:
    """Returns true if a connection to the address is accepted."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s):
            return True
    except OSError:
        return False


def _first_outgoing_port() -> int:
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    except OSError:
        return 49_152  # the range of macOS and of RFC 6335
    return int(text.split()[0])
