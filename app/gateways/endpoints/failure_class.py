"""Converts the fault of a call to the failure class of its rollout."""

from typing import Literal, assert_never

from app.domain.rollouts.trajectory import FailureClass
from app.gateways.endpoints.calls import FaultKind

Called = Literal["tool", "grader", "environment"]


def failure_class(kind: FaultKind, called: Called) -> FailureClass:
    match kind:
        case FaultKind.ERROR:
            return FailureClass(f"{called}_error")
        case FaultKind.TIMEOUT:
            return FailureClass(f"{called}_timeout")
        case FaultKind.UNREACHABLE:
            return FailureClass(f"{called}_unreachable")
        case FaultKind.BAD_REPLY | FaultKind.TOO_LARGE:
            return FailureClass(f"{called}_bad_reply")
        case FaultKind.REFUSED:
            return FailureClass.ENDPOINT_REFUSED
        case _:
            assert_never(kind)
