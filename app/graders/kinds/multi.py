"""Runs several graders at once and computes the formula over their scores."""

import ast
import asyncio
import hashlib
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.calibration import mean_agreement
from app.graders.grader_model import GraderModel, PartEnds, fault_at
from app.graders.kinds import ChildGrader, SingleGrader
from app.graders.kinds.ai_judge import AiJudgeGrader, GroupAiJudge, GroupGradeRequest, GroupJudge
from app.graders.scorer import (
    BAD_SCORE,
    LARGEST_SCORE,
    GradeRequest,
    GraderErrors,
    GradingPorts,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    sum_of_usages,
)
from app.kit.errors import first_fault
from app.kit.texts import FORMULA_NAME, expression_of

MAX_LENGTH: Final = 2_000
_NUMBER: Final = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_TOKENS: Final = re.compile(
    rf"(?:\s|(?:{_NUMBER}(?!\.)|{FORMULA_NAME})(?![A-Za-z0-9_])|[-+^(),]|([*/])(?!\1))*+", re.ASCII
)
_NAMES: Final = re.compile(r"(?<![A-Za-z0-9_.])(?=[A-Za-z_])", re.ASCII)
"""The beginning of each name. Python reads them behind a `_`, as a grader may be called `pass`."""
_UNARY: Final[dict[str, Callable[[float], float]]] = {
    "abs": abs,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}
_VARIADIC: Final[dict[str, Callable[..., float]]] = {"min": min, "max": max}
_BINARY: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.Pow: math.pow,
}
_TRIES: Final = 32
_SCALES: Final = (1.0, 1.0, 10.0, 1e3)

Values = Mapping[str, float]


class FormulaError(ValueError):
    """Reports an invalid formula, or one without a finite result. The message is for its author."""


@dataclass(frozen=True, slots=True)
class Formula:
    names: frozenset[str]
    _nodes: tuple[ast.expr, ...]
    """Each after its operands: a long sum needs no deep recursion."""

    def evaluate(self, values: Values) -> float:
        stack: list[float] = []
        try:
            for node in self._nodes:
                _compute(node, stack, values)
        except KeyError as missing:
            raise FormulaError(f"{missing.args[0]!r} has no value") from None
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None
        except (ValueError, OverflowError) as error:
            raise FormulaError(f"the formula has no finite value ({error})") from None
        if not math.isfinite(stack[0]):
            raise FormulaError("the formula has no finite value")
        return stack[0]

    def fault(self) -> str | None:
        chance, why = random.Random(0), ""
        for number in range(_TRIES):
            scale = _SCALES[number % len(_SCALES)] * (-1.0 if number >= _TRIES // 2 else 1.0)
            try:
                self.evaluate({name: scale * chance.random() for name in self.names})
            except FormulaError as error:
                why = str(error)
            else:
                return None
        return why


@lru_cache(maxsize=256)
def parse_formula(text: str) -> Formula:
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula is longer than {MAX_LENGTH} characters")
    read = _TOKENS.match(text)
    end = 0 if read is None else read.end()
    if end < len(text):
        raise FormulaError(f"{text[end : end + 10]!r} at character {end + 1} is not understood")
    try:
        python = _NAMES.sub("_", " ".join(text.split())).replace("^", "**")
        root = expression_of(python).body
    except SyntaxError as error:
        raise FormulaError(f"the formula cannot be read: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise FormulaError("the formula is nested too deeply") from None
    nodes, waiting = list[ast.expr](), [root]
    while waiting:
        nodes.append(waiting.pop())
        waiting += _operands(nodes[-1])
    names = frozenset(node.id[1:] for node in nodes if isinstance(node, ast.Name))
    return Formula(names, tuple(reversed(nodes)))


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Constant(value=int() | float() as value):
            if value > 1e308:  # noqa: PLR2004 - an integer of any size, and infinity
                raise FormulaError("a number in the formula is too large")
            return []
        case ast.Name():
            return []
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, right=right):  # the tokens have no other operator
            return [left, right]
        case ast.Call(func=ast.Name(id=prefixed), args=arguments):
            name = prefixed[1:]
            if name not in _UNARY and name not in _VARIADIC:
                known = ", ".join((*_VARIADIC, *_UNARY))
                raise FormulaError(f"there is no function {name!r}; there are {known}")
            if not arguments or (name in _UNARY and len(arguments) > 1):
                raise FormulaError(f"{name} takes {'one argument' if name in _UNARY else 'some'}")
            return arguments
        case _:
            raise FormulaError("a formula has numbers, names, + - * / ^ and functions alone")


def _compute(node: ast.expr, stack: list[float], values: Values) -> None:
    match node:
        case ast.Name(id=name):
            stack.append(float(values[name[1:]]))
        case ast.UnaryOp(op=sign):
            stack.append(-stack.pop() if isinstance(sign, ast.USub) else stack.pop())
        case ast.BinOp(op=operation):
            right = stack.pop()
            stack.append(_BINARY[type(operation)](stack.pop(), right))
        case ast.Call(func=ast.Name(id=prefixed), args=arguments):
            name = prefixed[1:]
            given = [stack.pop() for _ in arguments]
            # The smallest or the largest of them may be finite where another has no value.
            if not all(map(math.isfinite, given)):
                raise ValueError("of an argument")
            stack.append(_UNARY[name](given[0]) if name in _UNARY else _VARIADIC[name](given))
        case ast.Constant(value=int() | float() as value):
            stack.append(float(value))
        case _:
            raise AssertionError(node)


MAX_CHILDREN: Final = 64
AGREEMENT: Final = "agreement"
ChildName = Annotated[str, Field(pattern=f"^{FORMULA_NAME}$")]


class MultiGrader(GraderModel):
    """Several graders and the formula that combines their scores. Not nestable."""

    type: Literal["multi"]
    name: str = Field(default="multi", min_length=1, max_length=256)
    graders: dict[ChildName, ChildGrader] = Field(min_length=1, max_length=MAX_CHILDREN)
    """The parts by name."""
    calculate_output: str
    """Formula of the reward over the names of the parts, such as `0.5 * exact + judge`."""
    invalid_grade: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """The score when the formula has no finite value; without it the rollout leaves the batch."""

    @field_validator("graders", mode="before")
    @classmethod
    def _is_a_map(cls, sent: Any) -> Any:
        if isinstance(sent, list) or (isinstance(sent, dict) and isinstance(sent.get("type"), str)):
            raise PydanticCustomError(
                "graders_map",
                'it must be a map of name to grader, such as {"accuracy": {…}}; '
                "'calculate_output' uses the names",
            )
        return sent

    @field_validator("calculate_output")
    @classmethod
    def _is_a_formula(cls, text: str) -> str:
        try:
            parse_formula(text)
        except FormulaError as error:
            raise PydanticCustomError("formula_error", "{fault}", {"fault": str(error)}) from None
        return text

    @property
    @override
    def parts(self) -> Mapping[str, SingleGrader]:
        unused = self.unused_parts
        return {name: child for name, child in self.graders.items() if name not in unused}

    @property
    @override
    def part_ends(self) -> PartEnds:
        """A part without a range counts as one from 0 to 1. A formula may fall with a part, as
        with a penalty, and not change with one while another is 0: three scores of the others are
        tried.
        """
        ranges = {
            name: (
                0.0 if part.lowest is None else part.lowest,
                1.0 if part.highest is None else part.highest,
            )
            for name, part in self.parts.items()
        }
        worst, best = dict[str, float](), dict[str, float]()
        for name, (low, high) in ranges.items():
            for share in (0.5, 1.0, 0.0):
                others = {one: a + share * (b - a) for one, (a, b) in ranges.items()}
                before = self._value({**others, name: low})
                after = self._value({**others, name: high})
                if before is not None and after is not None and before != after:
                    worst[name], best[name] = (low, high) if after > before else (high, low)
                    break
        return PartEnds(worst, self._value(best) if best.keys() == ranges.keys() else None)

    def _value(self, scores: Mapping[str, float]) -> float | None:
        try:
            return parse_formula(self.calculate_output).evaluate(scores)
        except FormulaError:
            return None

    @property
    @override
    def unused_parts(self) -> tuple[str, ...]:
        used = parse_formula(self.calculate_output).names
        return tuple(name for name in self.graders if name not in used)

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return all(child.repeats_its_scores for child in self.parts.values())

    @model_validator(mode="after")
    def _no_part_takes_the_name_of_the_agreement(self) -> "MultiGrader":
        judges = sum(child.compares_rollouts for child in self.graders.values())
        if judges > 1 and AGREEMENT in self.graders:
            taken = (
                f"'{AGREEMENT}' is the part that several 'ai_judge' graders add: give this one "
                "another name"
            )
            raise fault_at("graders", taken)
        return self

    @model_validator(mode="after")
    def _the_formula_has_a_value(self) -> "MultiGrader":
        unknown = sorted(parse_formula(self.calculate_output).names - self.graders.keys())
        if unknown:
            known = f"'{unknown[0]}' is not one of the graders: {', '.join(self.graders)}"
            raise fault_at("calculate_output", known)
        never = parse_formula(self.calculate_output).fault()
        if never is not None:
            raise fault_at("calculate_output", f"the formula never has a value ({never})")
        return self

    @field_validator("invalid_grade")
    @classmethod
    def _is_a_usable_score(cls, score: float | None) -> float | None:
        if score is not None and not abs(score) <= LARGEST_SCORE:
            limit = f"a score must be between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}"
            raise PydanticCustomError("grader_error", "{fault}", {"fault": limit})
        return score

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        del source
        parts = self.parts.items()
        return MultiScorer(self, {name: one.scorer(ports, source=name) for name, one in parts})

    @override
    def group_judge(self, ports: GradingPorts, *, source: str) -> GroupJudge | None:
        del source
        judges, others = dict[str, GroupAiJudge](), dict[str, Scorer]()
        for name, part in self.parts.items():
            if isinstance(part, AiJudgeGrader):
                judges[name] = part.group_judge(ports, source=name)
            else:
                others[name] = part.scorer(ports, source=name)
        return GroupMulti(self, others, judges) if judges else None


CONCURRENT_CHILDREN: Final = 16


class MultiScorer:
    def __init__(self, spec: MultiGrader, children: Mapping[str, Scorer]) -> None:
        self._formula = parse_formula(spec.calculate_output)
        self._invalid_grade = spec.invalid_grade
        self._name = spec.name
        self._children = {name: children[name] for name in spec.parts}

    async def score(self, request: GradeRequest) -> ScoreResult:
        children = await self._score_children(request)
        scores = {name: child.score for name, child in children.items()}
        errors = reduce(GraderErrors.joined, (c.errors for c in children.values()), GraderErrors())
        try:
            score = self._formula.evaluate(scores)
        except FormulaError as error:
            errors = GraderErrors(formula_parse_error=True, details=str(error)).joined(errors)
            if self._invalid_grade is None:
                text = f"the formula has no value: {error}"
                fault = ScoreFault(BAD_SCORE, text, source=self._name, errors=errors)
                _charge(fault, children)
                raise fault from None
            score = self._invalid_grade
        models = [c.sampled_model_name for c in children.values() if c.sampled_model_name]
        return ScoreResult(
            score,
            errors,
            sub_scores=scores,
            token_usage=sum_of_usages(child.token_usage for child in children.values()),
            sampled_model_name=models[0] if len(models) == 1 else None,
            children=children,
            execution_time_s=max(
                (each.execution_time_s for each in children.values()), default=0.0
            ),
        )

    async def _score_children(self, request: GradeRequest) -> dict[str, ScoreResult]:
        slots = asyncio.Semaphore(CONCURRENT_CHILDREN)
        answers: dict[str, ScoreResult | ScoreFault] = {}

        async def score_child(name: str, scorer: Scorer) -> ScoreResult:
            async with slots:
                try:
                    own = replace(request, call_id=child_call_id(request.call_id, name))
                    answers[name] = result = await scorer.score(own)
                except ScoreFault as fault:
                    fault.child, answers[name] = name, fault
                    raise
                return result

        try:
            with first_fault():
                async with asyncio.TaskGroup() as group:
                    tasks = {
                        name: group.create_task(score_child(name, scorer))
                        for name, scorer in self._children.items()
                    }
        except ScoreFault as fault:
            _charge(fault, answers)
            raise
        return {name: task.result() for name, task in tasks.items()}


def _charge(fault: ScoreFault, answers: Mapping[str, ScoreResult | ScoreFault]) -> None:
    spent = {name: answer.token_usage for name, answer in answers.items() if answer.token_usage}
    models = [answer.sampled_model_name for answer in answers.values() if answer.sampled_model_name]
    fault.spent = dict(spent)
    fault.sampled_model_name = models[0] if len(models) == 1 else None


def child_call_id(call_id: str, name: str) -> str:
    digest = hashlib.sha256(f"{call_id}\x1f{name}".encode()).hexdigest()
    return f"grade_{digest[:24]}"


_GroupScores = dict[str, Sequence[ScoreResult]]


class GroupMulti:
    """A judge without scores removes the group, any other part only its rollout."""

    def __init__(
        self, spec: MultiGrader, children: Mapping[str, Scorer], judges: Mapping[str, GroupAiJudge]
    ) -> None:
        self._spec = spec
        self._children = children
        self._judges = judges

    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult | ScoreFault]:
        judged = await self._judged(request)
        agreement = mean_agreement([[one.score for one in each] for each in judged.values()])
        with first_fault():
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._joined(rollout, judged, number))
                    for number, rollout in enumerate(request.rollouts)
                ]
        results = [task.result() for task in tasks]
        if agreement is None:
            return results
        return [
            result
            if isinstance(result, ScoreFault)
            else replace(result, sub_scores={AGREEMENT: agreement, **result.sub_scores})
            for result in results
        ]

    async def _judged(self, request: GroupGradeRequest) -> _GroupScores:
        judged, faults, spent = _GroupScores(), dict[str, ScoreFault](), dict[str, JudgeUsage]()

        async def ask(name: str, judge: GroupAiJudge) -> None:
            own = replace(request, call_id=child_call_id(request.call_id, name))
            try:
                judged[name] = results = await judge.judge(own)
            except ScoreFault as fault:
                fault.child, faults[name], spent[name] = name, fault, fault.token_usage
            else:
                spent[name] = sum_of_usages(result.token_usage for result in results)

        await asyncio.gather(*(ask(*each) for each in self._judges.items()))
        first = next((faults[name] for name in self._judges if name in faults), None)
        if first is not None:
            first.spent = {name: spent[name] for name in self._judges if spent[name]}
            raise first
        return {name: judged[name] for name in self._judges}

    async def _joined(
        self, rollout: GradeRequest, judged: _GroupScores, number: int
    ) -> ScoreResult | ScoreFault:
        given = {name: _KnownScore(results[number]) for name, results in judged.items()}
        children: dict[str, Scorer] = {
            name: given.get(name) or self._children[name] for name in self._spec.parts
        }
        try:
            return await MultiScorer(self._spec, children).score(rollout)
        except ScoreFault as fault:
            return fault


class _KnownScore:
    def __init__(self, result: ScoreResult) -> None:
        self._result = result

    async def score(self, request: GradeRequest) -> ScoreResult:  # noqa: ARG002 - it was scored with its group
        return self._result
