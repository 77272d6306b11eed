"""Concludes from a failed attempt whether the endpoint is alive, overloaded or down. Pure."""

from enum import Enum
from typing import Final

from app.domain.http.status import is_server_error
from app.gateways.egress.egress import FailureKind
from app.gateways.endpoints.calls import EndpointFault, FaultKind

_RETRIED_STATUSES: Final = frozenset({408, 425, 429})
_OVERLOADED: Final = frozenset({429, 503})
_OF_NO_SERVER: Final = frozenset({502, 503})
"""Answers of a gateway whose server is down."""
_FINAL: Final = frozenset({FaultKind.REFUSED, FaultKind.TOO_LARGE})
_ALIVE: Final = frozenset({FaultKind.BAD_REPLY, FaultKind.TOO_LARGE, FaultKind.REFUSED})
KINDS: Final = {
    FailureKind.UNREACHABLE: FaultKind.UNREACHABLE,
    FailureKind.TIMEOUT: FaultKind.TIMEOUT,
    FailureKind.TOO_LARGE: FaultKind.TOO_LARGE,
    FailureKind.REFUSED: FaultKind.REFUSED,
    FailureKind.BAD_ENCODING: FaultKind.BAD_REPLY,
}


class Absence(Enum):
    """A fault without any server."""

    OF_LISTENER = "nothing listens at the endpoint, which no request can cause"
    OF_SERVER = "no server may be behind the endpoint, or the request made it fail"


def is_retried(status: int) -> bool:
    """Returns whether a reply with this status is always a fault that is tried again."""
    return status in _RETRIED_STATUSES or is_server_error(status)


def is_final(fault: EndpointFault) -> bool:
    """Returns whether another attempt would have the same fault."""
    return fault.kind in _FINAL


def has_answered(fault: EndpointFault) -> bool:
    """Returns whether a server took the request, whatever it made of it."""
    return fault.kind in _ALIVE or fault.status in _RETRIED_STATUSES


def is_silent(fault: EndpointFault) -> bool:
    """Returns whether the fault belongs to an outage of the endpoint."""
    return fault.kind not in _ALIVE


def is_overloaded(fault: EndpointFault) -> bool:
    return fault.status in _OVERLOADED or fault.kind is FaultKind.TIMEOUT


def absence_of(fault: EndpointFault) -> Absence | None:
    """Returns which absence the fault shows, if any. A gateway that is overloaded says when to
    retry.
    """
    if fault.kind is FaultKind.UNREACHABLE:
        return Absence.OF_SERVER if fault.was_connected else Absence.OF_LISTENER
    of_gateway = fault.status in _OF_NO_SERVER and not fault.retry_after_s
    return Absence.OF_SERVER if of_gateway else None
