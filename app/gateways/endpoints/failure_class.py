"""Converts the fault of a call to the failure class of its rollout."""

from typing import Literal, assert_never

from app.domain.rollouts.trajectory import FailureClass
from app.gateways.endpoints.pool import FaultKind


def failure_class(kind: FaultKind, called: Literal["tool", "grader"]) -> FailureClass:
    is_tool = called == "tool"
    match kind:
        case FaultKind.ERROR:
            return FailureClass.TOOL_ERROR if is_tool else FailureClass.GRADER_ERROR
        case FaultKind.TIMEOUT:
            return FailureClass.TOOL_TIMEOUT if is_tool else FailureClass.GRADER_TIMEOUT
        case FaultKind.UNREACHABLE:
            return FailureClass.TOOL_UNREACHABLE if is_tool else FailureClass.GRADER_UNREACHABLE
        case FaultKind.BAD_REPLY | FaultKind.TOO_LARGE:
            return FailureClass.TOOL_BAD_REPLY if is_tool else FailureClass.GRADER_BAD_REPLY
        case FaultKind.REFUSED:
            return FailureClass.ENDPOINT_REFUSED
        case _:
            assert_never(kind)
