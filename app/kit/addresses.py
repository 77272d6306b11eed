"""Addresses of outbound calls: their URLs, which are public, and how names are looked up.

Lookups and connections count as a share of the project that the running task calls for.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from app.kit.errors import EndpointRefused
from app.kit.slots import SharedSlots

Owner = tuple[str, str]
"""Organization and project; empty where a process works for one of them alone."""
_owner: ContextVar[Owner] = ContextVar("owner_of_calls", default=("", ""))


def current_owner() -> Owner:
    return _owner.get()


@contextmanager
def calls_of(organization_id: str, project_id: str) -> Iterator[None]:
    former = _owner.set((organization_id, project_id))
    try:
        yield
    finally:
        _owner.reset(former)


IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_SPECIAL_V4: Final = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # "this network"; 0.0.0.0 reaches the local host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_GLOBAL_V6: Final = ipaddress.IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_METADATA: Final = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, GCP, OpenStack, DigitalOcean, Oracle
        "169.254.170.2",  # AWS ECS
        "169.254.170.23",  # AWS EKS
        "169.254.42.42",  # Scaleway
        "168.63.129.16",  # Azure's wire server, a public address
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:42::42",
    )
)
_METADATA_NAMES: Final = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
    }
)
# Ports of services other than HTTP; customers must not probe third-party services through this one.
_REFUSED_PORTS: Final = frozenset(
    {1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379}
    | {6443, 6667, 9200, 9300, 10250, 10255, 11211, 27017}
)
_WEB_PORTS: Final = frozenset({80, 443})
_FIRST_UNPRIVILEGED_PORT: Final = 1024
_LAST_PORT: Final = 65535
_NAT64_PREFIX: Final = 0x0064_FF9B  # 64:ff9b::/96 and 64:ff9b:1::/48, by their first 32 bits
_ISATAP_MARK: Final = 0x0000_5EFE
_MAX_URL: Final = 2048
_MAX_HOST: Final = 253
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]+))?"
    r"(?P<rest>[/?#][\x21-\x7e]*)?",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class EndpointUrl:
    url: str
    """The normalised URL to dial, without its fragment."""
    scheme: str
    host: str
    port: int
    address: IPAddress | None
    """The host if it is a literal address, else `None`."""

    @property
    def key(self) -> str:
        return host_port(self.host, self.port)


def host_port(host: str, port: int) -> str:
    bare = host.strip("[]").rstrip(".").lower()
    return f"[{ipaddress.IPv6Address(bare)}]:{port}" if ":" in bare else f"{bare}:{port}"


def read_url(url: str) -> EndpointUrl:
    """Raises `EndpointRefused`, with a message for the customer, if the URL is ambiguous."""
    if len(url) > _MAX_URL:
        raise EndpointRefused(f"the URL is longer than {_MAX_URL} characters")
    match = _URL.fullmatch(url)
    if match is None or "\\" in url:
        raise EndpointRefused(
            "the URL must be http(s)://host[:port]/path in plain ASCII, without user name or spaces"
        )
    scheme = match["scheme"].lower()
    port = _port(match["port"], scheme)
    host = match["host"].lower().strip("[]")
    address = _literal(host, bracketed=match["host"].startswith("["))
    if address is None:
        host = _check_name(host)
    authority = f"[{host}]" if ":" in host else host
    rest = (match["rest"] or "/").partition("#")[0]
    rest = rest if rest.startswith("/") else f"/{rest}"
    return EndpointUrl(f"{scheme}://{authority}:{port}{rest}", scheme, host, port, address)


def _port(text: str | None, scheme: str) -> int:
    if text is None:
        return 443 if scheme == "https" else 80
    if text.startswith("0") or int(text[:6]) > _LAST_PORT:
        raise EndpointRefused("the URL's port must be a number from 1 to 65535")
    return int(text)


def _literal(host: str, *, bracketed: bool) -> IPAddress | None:
    try:
        if bracketed:
            return ipaddress.IPv6Address(host)
        if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            # WHATWG: a host whose last label is a number is an IPv4 address or invalid.
            return ipaddress.IPv4Address(host)
    except ValueError:
        raise EndpointRefused(
            "the URL's host is not an address in its canonical form (four decimal numbers)"
        ) from None
    return None


def _check_name(host: str) -> str:
    name = host.removesuffix(".")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(part) for part in name.split(".")):
        raise EndpointRefused("the URL's host is not a valid name")
    return name


def port_allowed(port: int) -> bool:
    if port in _REFUSED_PORTS:
        return False
    return port in _WEB_PORTS or port >= _FIRST_UNPRIVILEGED_PORT


def is_public(address: IPAddress) -> bool:
    """Returns true for a public unicast address, false for every IPv6 form of an IPv4 address."""
    if is_metadata(address):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    if address not in _GLOBAL_V6 or address.scope_id is not None:
        return False
    return not any(address in network for network in _SPECIAL_V6) and _isatap(address) is None


def is_metadata(address: IPAddress) -> bool:
    """True for a cloud's metadata service or a link-local address, which no allow-list permits."""
    if address in _METADATA or address.is_link_local:
        return True
    if isinstance(address, ipaddress.IPv4Address):
        return False
    if address.scope_id is not None:
        return is_metadata(ipaddress.IPv6Address(int(address)))
    return any(inner in _METADATA or inner.is_link_local for inner in embedded_ipv4(address))


def is_metadata_name(host: str) -> bool:
    """Returns true for a name of a cloud's metadata service, whatever it resolves to here."""
    return host in _METADATA_NAMES


def embedded_ipv4(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    number = int(address)
    if number >> 32 in {0, 0xFFFF, 0xFFFF_0000}:  # compatible, mapped, translated (RFC 2765)
        yield ipaddress.IPv4Address(number & 0xFFFF_FFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    isatap = _isatap(address)
    if isatap is not None:
        yield isatap
    if number >> 96 == _NAT64_PREFIX:
        yield from _nat64(number)


def _isatap(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Returns the IPv4 address behind an interface identifier 0000:5efe or 0200:5efe (RFC 5214)."""
    number = int(address)
    if (number >> 32) & 0xFDFF_FFFF == _ISATAP_MARK:
        return ipaddress.IPv4Address(number & 0xFFFF_FFFF)
    return None


def _nat64(number: int) -> Iterator[ipaddress.IPv4Address]:
    """Of prefixes of 96, 48, 56 and 64 bits (RFC 6052 §2.2); bits 64 to 71 are skipped."""
    yield ipaddress.IPv4Address(number & 0xFFFF_FFFF)
    before, after = number >> 64, (number & ((1 << 56) - 1)) >> 16
    joined = (before << 40) | after  # 104 bits: the address without its reserved octet and tail
    for prefix in (48, 56, 64):
        yield ipaddress.IPv4Address((joined >> (104 - prefix - 32)) & 0xFFFF_FFFF)


Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Resolves host name and port to addresses. Raises `OSError` if none exist."""

OF_PROJECT: Final = 4
_OF_ORGANIZATION: Final = 8
_OF_ALL: Final = 256
"""Thirty-two organizations of unanswered names fill it; a waiting thread costs next to nothing."""
_LOOKUP_TIMEOUT_S: Final = 5.0
_SLOT_TIMEOUT_S: Final = 5.0
NOT_LOOKED_UP: Final = (
    "host name was not looked up: other host names, whose name servers do not answer, had every "
    "slot of this project or its organization"
)


class LookupsBusy(OSError):
    """Nothing was asked: no slot of the project or its organization became free."""

    def __init__(self) -> None:
        super().__init__(f"the {NOT_LOOKED_UP}")


class LookupTimeout(OSError):
    def __init__(self) -> None:
        super().__init__(
            "the host name does not resolve: its name servers did not answer within "
            f"{_LOOKUP_TIMEOUT_S:g} s"
        )


class NameLookups:
    def __init__(self, lookup: Lookup | None = None) -> None:
        self._lookup = lookup or _system_lookup
        self._slots = SharedSlots(_OF_ALL, of_organization=_OF_ORGANIZATION, of_project=OF_PROJECT)
        self._running: dict[tuple[Owner, str, int], asyncio.Task[list[str]]] = {}

    async def addresses(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a name. Raises `OSError`.

        Connections of one project that open at the same moment share one query; results are not
        cached.
        """
        key = (current_owner(), host, port)
        task = self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(self._look_up(*key))
            self._running[key] = task
            task.add_done_callback(_heard)
            task.add_done_callback(lambda _: self._running.pop(key))
        return await asyncio.shield(task)

    async def _look_up(self, owner: Owner, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(_SLOT_TIMEOUT_S):
                free = await self._slots.acquire(*owner)
        except TimeoutError:
            raise LookupsBusy from None
        query = asyncio.ensure_future(self._lookup(host, port))
        # A thread in the system's resolver cannot be stopped: it has the slot until it ends.
        query.add_done_callback(_heard)
        query.add_done_callback(lambda _: free())
        try:
            async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
                return await asyncio.shield(query)
        except TimeoutError:
            raise LookupTimeout from None


def _heard(task: "asyncio.Future[list[str]]") -> None:
    """Reads a task's exception: without a waiter asyncio would log it as never retrieved."""
    if not task.cancelled():
        task.exception()


@cache
def _lookup_threads() -> ThreadPoolExecutor:
    """Returns threads of their own, so that a slow name server delays nothing else."""
    # A process has two clients, of customers' endpoints and of the operator's.
    return ThreadPoolExecutor(2 * _OF_ALL, thread_name_prefix="egress-dns")


async def _system_lookup(host: str, port: int) -> list[str]:
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    answers = await asyncio.get_running_loop().run_in_executor(_lookup_threads(), ask)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))
