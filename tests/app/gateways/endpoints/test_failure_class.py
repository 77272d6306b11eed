from app.kit.endpoints import FaultKind
from app.rollouts.trajectory import FailureClass
from tests.support.cases import cases

CLASSES = {
    "error": "error",
    "timeout": "timeout",
    "unreachable": "unreachable",
    "bad_reply": "bad_reply",
    "too_large": "bad_reply",
}


def test_every_kind_of_fault_is_in_the_table() -> None:
    assert {kind.value for kind in FaultKind} == {*CLASSES, "refused"}


@cases(("kind", "expected"), CLASSES.items())
def test_a_fault_counts_for_the_tool_or_the_grader_that_was_called(
    kind: str, expected: str
) -> None:
    assert FailureClass.of_fault(FaultKind(kind), "tool") == f"tool_{expected}"
    assert FailureClass.of_fault(FaultKind(kind), "grader") == f"grader_{expected}"


def test_an_address_that_may_not_be_called_has_one_class() -> None:
    assert FailureClass.of_fault(FaultKind.REFUSED, "tool") == "endpoint_refused"
    assert FailureClass.of_fault(FaultKind.REFUSED, "grader") == "endpoint_refused"
