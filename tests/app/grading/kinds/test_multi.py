import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.graders.definitions import MultiGrader
from app.graders.kinds.multi import CONCURRENT_CHILDREN, MultiScorer
from app.graders.scorer import GradeRequest, GraderErrors, ScoreFault, ScoreResult, TokenUsage
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S

CHECK = {"type": "string_check", "input": "a", "reference": "a", "operation": "eq"}
REQUEST = GradeRequest({}, {}, "trace_1", "grade_1")


@dataclass(slots=True)
class Fixed:
    """A child with a result of its own, which may wait for the others."""

    result: ScoreResult | ScoreFault
    waits_for: asyncio.Event = field(default_factory=asyncio.Event)
    sets: asyncio.Event = field(default_factory=asyncio.Event)
    waits: bool = False
    asked: list[GradeRequest] = field(default_factory=list)

    async def score(self, request: GradeRequest) -> ScoreResult:
        self.asked.append(request)
        self.sets.set()
        if self.waits:
            await self.waits_for.wait()
        if isinstance(self.result, ScoreFault):
            raise self.result
        return self.result


def multi(formula: str, children: dict[str, Fixed], **spec: Any) -> MultiScorer:
    sent = {"type": "multi", "graders": dict.fromkeys(children, CHECK), **spec}
    grader = MultiGrader.model_validate({**sent, "calculate_output": formula})
    return MultiScorer(grader, children)


async def test_the_formula_joins_the_scores() -> None:
    usage = {"m": TokenUsage(1, 2, 3)}
    children = {
        "a": Fixed(ScoreResult(0.5, token_usage=usage, sampled_model_name="m")),
        "b": Fixed(ScoreResult(1.0, token_usage=usage, execution_time_s=2.0)),
    }
    result = await multi("0.25 * a + 0.75 * b", children).score(REQUEST)
    assert result.score == pytest.approx(0.875)
    assert result.sub_scores == {"a": 0.5, "b": 1.0}
    assert result.errors == GraderErrors()
    assert result.token_usage == {"m": TokenUsage(2, 4, 6)}
    assert (result.sampled_model_name, result.execution_time_s) == ("m", 2.0)


async def test_children_run_side_by_side_under_ids_of_their_own() -> None:
    first, second = asyncio.Event(), asyncio.Event()
    children = {
        "a": Fixed(ScoreResult(1.0), waits_for=second, sets=first, waits=True),
        "b": Fixed(ScoreResult(1.0), waits_for=first, sets=second, waits=True),
    }
    async with asyncio.timeout(PATIENCE_S):
        await multi("a + b", children).score(REQUEST)
    ids = {child.asked[0].call_id for child in children.values()}
    assert len(ids | {"grade_1"}) == 3
    again = multi("a + b", children)
    await again.score(REQUEST)
    assert {child.asked[1].call_id for child in children.values()} == ids


async def test_no_more_than_a_bounded_number_at_once() -> None:
    gate = asyncio.Event()
    children = {
        f"g{n}": Fixed(ScoreResult(1.0), waits_for=gate, waits=True)
        for n in range(CONCURRENT_CHILDREN + 4)
    }
    formula = f"max({', '.join(children)})"
    task = asyncio.ensure_future(multi(formula, children).score(REQUEST))
    await asyncio.sleep(0.05)
    assert sum(bool(child.asked) for child in children.values()) == CONCURRENT_CHILDREN
    gate.set()
    assert (await task).score == 1.0


async def test_a_flag_of_a_child_is_the_wholes_too() -> None:
    flawed = ScoreResult(0.0, GraderErrors(invalid_variable_error=True, details="'item.x'"))
    children = {"a": Fixed(flawed), "b": Fixed(ScoreResult(1.0))}
    result = await multi("a + b", children).score(REQUEST)
    assert result.score == 1.0
    assert result.errors.raised == ("invalid_variable_error",)
    assert result.errors.details == "'item.x'"


@cases("grade", [-0.5, 0.0])
async def test_a_formula_without_a_value_scores_the_invalid_grade(grade: float) -> None:
    children = {"a": Fixed(ScoreResult(0.0))}
    result = await multi("1 / a", children, invalid_grade=grade).score(REQUEST)
    assert result.score == grade
    assert result.errors.raised == ("formula_parse_error",)
    assert result.errors.details == "division by zero"


@cases("formula", ["1 / a", "log(a)", "log(a - 1)"])
async def test_a_formula_without_a_value_or_an_invalid_grade_gives_no_score(formula: str) -> None:
    used = {"judge": TokenUsage(7, 2, calls=1)}
    children = {"a": Fixed(ScoreResult(0.0, token_usage=used))}
    with pytest.raises(ScoreFault, match="the formula has no value: ") as caught:
        await multi(formula, children).score(REQUEST)
    assert caught.value.kind == "bad_score"
    assert caught.value.errors.raised == ("formula_parse_error",)
    assert caught.value.spent == {"a": used}


@cases(("formula", "scores"), [("b", {"b": 0.5}), ("0.5", {})])
async def test_a_part_that_the_formula_does_not_name_is_not_run(
    formula: str, scores: dict[str, float]
) -> None:
    lost = ScoreFault("timeout", "no reply", source="a", errors=GraderErrors(other_error=True))
    children = {"a": Fixed(lost), "b": Fixed(ScoreResult(0.5))}
    result = await multi(formula, children).score(REQUEST)
    assert (result.score, result.sub_scores, list(result.children)) == (0.5, scores, list(scores))
    assert [len(child.asked) for child in children.values()] == [0, len(scores)]


async def test_one_that_cannot_answer_is_a_fault_of_the_whole() -> None:
    lost = ScoreFault("timeout", "no reply", source="b", errors=GraderErrors(other_error=True))
    children = {"a": Fixed(ScoreResult(1.0), waits=True), "b": Fixed(lost)}
    with pytest.raises(ScoreFault) as caught:
        await multi("a + b", children, invalid_grade=0).score(REQUEST)
    assert (caught.value.kind, caught.value.child) == ("timeout", "b")
