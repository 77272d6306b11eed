"""Guards the connections of the process that writes one job. Every connection of this process goes
to an address that the egress guard has checked, whatever the library was asked to open: the name is
resolved once, and the checked address is dialled. It is the interpreter's own audit hook that
refuses any other connection, of any module and protocol, and that refuses to start programs, which
would have no such hook. A hook cannot be removed.
"""

import asyncio
import socket
import sys
from collections.abc import Collection
from ipaddress import ip_address
from typing import Any, Final

from urllib3.util import connection

from app.kit.addresses import IPAddress, host_port, read_url
from app.kit.egress import EgressGuard, EgressPolicy

_Address = tuple[IPAddress, int]
_DIALLED: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_PROGRAMS: Final = frozenset(
    {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
)


def check_url(url: str, policy: EgressPolicy) -> None:
    """Raises `EndpointRefused` unless the URL may be called; its name is resolved when dialled."""
    EgressGuard(policy).check(read_url(url))


def guard_sockets(policy: EgressPolicy | None = None) -> None:
    """Dials checked addresses through urllib3 and nothing else; nothing at all without a policy."""
    checked = set[_Address]()
    if policy is not None:
        _guard_urllib3(policy, checked)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            raise PermissionError(f"the writer of a tracker starts no program: {event}")
        if event in _DIALLED and not _is_checked(arguments[1], checked):
            raise PermissionError("the address was not checked")

    sys.addaudithook(refuse)


def _is_checked(address: Any, checked: Collection[_Address]) -> bool:
    if address is None:  # a message on a connected socket
        return True
    try:
        return (ip_address(address[0]), address[1]) in checked
    except (TypeError, ValueError, IndexError):  # a name, or the path of a socket
        return False


def _guard_urllib3(policy: EgressPolicy, checked: set[_Address]) -> None:
    """Replaces the function with which urllib3 opens each connection."""
    dial = connection.create_connection

    def create_connection(address: tuple[str, int], *rest: Any, **options: Any) -> socket.socket:
        """Raises `EndpointRefused`, or `OSError` of the last address."""
        host, port = address
        endpoint = read_url(f"https://{host_port(host, port)}")
        guard = EgressGuard(policy)
        guard.check(endpoint)
        texts = [host] if endpoint.address else asyncio.run(guard.resolve(endpoint.host, port))
        failure = OSError("no addresses")
        for text in texts:
            checked.add((ip_address(text.strip("[]")), port))
            try:
                return dial((text, port), *rest, **options)
            except OSError as error:
                failure = error
        raise failure

    connection.create_connection = create_connection
