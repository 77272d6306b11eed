"""Guards the connections of a library that dials through urllib3.

Promises that every connection of this process goes to an address that the egress guard has checked,
whatever the library was asked to open: the name is resolved once, and the checked address is
dialled. Must not know the library.
"""

import asyncio
import socket
from typing import Any

from urllib3.util import connection

from app.gateways.egress.addresses import host_port, read_url
from app.gateways.egress.guard import EgressGuard, EgressPolicy


def check_url(url: str, policy: EgressPolicy) -> None:
    """Raises `EndpointRefused` unless the URL may be called; its name is resolved when dialled."""
    EgressGuard(policy).check(read_url(url))


def guard_urllib3(policy: EgressPolicy) -> None:
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
            try:
                return dial((text, port), *rest, **options)
            except OSError as error:
                failure = error
        raise failure

    connection.create_connection = create_connection
