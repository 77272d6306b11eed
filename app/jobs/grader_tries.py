"""Tries the python graders of a job on a few of its rows, before the job is paid for.

Runs each grader as training does. A failure is an error only if no answer could avoid it: code that
expects a format which these answers lack gets a warning. A function that returns a score for no try
is an error, too.
"""

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from app.files.datasets import grader_item
from app.graders.definitions import is_used, unused_paths
from app.graders.kinds.python import RETURNED, PythonGrader, PythonScorer, python_graders
from app.graders.scorer import (
    BAD_SCORE,
    BEYOND,
    BoundedScorer,
    GradeRequest,
    ScoreFault,
    Scorer,
    text_sample,
)
from app.jobs.preflight import SampleRow
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.errors import PreflightIssue, first_fault
from app.kit.fields import parameter
from app.kit.ids import new_id
from app.tools.sandbox import Sandbox
from app.tools.tools import new_trace_id

ROWS: Final = 5
"""Number of tried rows of each file."""
MAX_GRADERS: Final = 4
_AT_ONCE: Final = 2
_LIMIT_S: Final = 30.0
_MAX_TEXT: Final = 2000
_OWN_TEXTS: Final = 2
_SHOWN_LINES: Final = 5
_ANSWERS: Final = ("The answer is 42.", "42", '{"answer": "42"}', '["42"]', "")
_OF_THE_CODE: Final = ("ImportError", "ModuleNotFoundError", "NameError", "SyntaxError")
"""Exceptions that are faults of the code if every answer raises the same one."""
_NO_SCORE: Final = (RETURNED, BEYOND)
"""Beginnings of the messages about a returned value that is not a score."""
_KEY_ERROR: Final = re.compile(r"KeyError: '([^'\\]+)'")
_TRY: Final = "try it on an answer with POST /v1/fine_tuning/alpha/graders/run"
_ROOT: Final = "method.reinforcement"


@dataclass(frozen=True, slots=True)
class _Failure:
    """A row for which no answer had a score."""

    row: SampleRow
    texts: tuple[str, ...]
    """The reason for each answer."""
    is_certain: bool
    """True if no answer can have a score."""


class GraderTries:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def issues(
        self,
        method: ReinforcementMethod,
        rows: Sequence[SampleRow],
        *,
        reported: Collection[str | None],
    ) -> list[PreflightIssue]:
        """Returns an issue for each grader that has no score for some row, whatever the answer.
        Leaves out graders whose source was `reported` to have a fault.
        """
        if not rows:
            return []
        unused = await asyncio.to_thread(unused_paths, method)
        used = (found for found in python_graders(method) if is_used(found[0], unused))
        graders = [
            (parameter(_ROOT, (*path, "source")), grader)
            for path, grader in islice(used, MAX_GRADERS)
        ]
        tried = [(param, grader) for param, grader in graders if param not in reported]
        try:
            async with asyncio.timeout(_LIMIT_S):
                found = [await self._issue(param, grader, rows) for param, grader in tried]
        except TimeoutError:
            message = (
                f"The python graders had no score for all {len(rows)} rows that were tried within "
                f"{_LIMIT_S:g} s; {_TRY}."
            )
            return [PreflightIssue("warning", "grader_not_tried", message, tried[0][0])]
        return [issue for issue in found if issue is not None]

    async def _issue(
        self, param: str, grader: PythonGrader, rows: Sequence[SampleRow]
    ) -> PreflightIssue | None:
        slots = asyncio.Semaphore(_AT_ONCE)
        scorer = BoundedScorer(
            PythonScorer(grader, self._sandbox, source=grader.name), source=grader.name
        )

        async def attempt(row: SampleRow) -> _Failure | None:
            async with slots:
                return await _failure(scorer, row)

        try:
            with first_fault():
                async with asyncio.TaskGroup() as tasks:
                    attempts = [tasks.create_task(attempt(row)) for row in rows]
        except _SandboxFailed as fault:
            message = f"The python grader '{grader.name}' was not tried: {fault}."
            return PreflightIssue("warning", "grader_not_tried", message, param)
        failures = [failure for task in attempts if (failure := task.result()) is not None]
        return _failures_issue(param, grader, failures, tried=len(rows)) if failures else None


class _SandboxFailed(Exception):
    """The sandbox failed, not the grader."""


async def _failure(scorer: Scorer, row: SampleRow) -> _Failure | None:
    """Tries answers until one has a score."""
    texts, item = [], grader_item(row.item)
    for answer in (*_ANSWERS, *islice(_own_texts(row.item), _OWN_TEXTS)):
        text = await _reason(scorer, answer, item)
        if text is None:
            return None
        texts.append(text)
    is_alike = len(set(texts)) == 1
    certain = all(text.startswith(_NO_SCORE) for text in texts) or (
        is_alike
        and (texts[0].startswith(_OF_THE_CODE) or await _lacks_field(scorer, item, texts[0]))
    )
    return _Failure(row, tuple(texts), certain)


async def _lacks_field(scorer: Scorer, item: dict[str, Any], text: str) -> bool:
    """Returns whether a KeyError is about a field of the item, which no answer can add. A key that
    is looked up in the answer's content is also missing in every generated answer.
    """
    key = _KEY_ERROR.match(text)
    if key is None or key[1] in item:
        return False
    return await _reason(scorer, _ANSWERS[0], {**item, key[1]: _ANSWERS[0]}) != text


async def _reason(scorer: Scorer, answer: str, item: dict[str, Any]) -> str | None:
    """Returns why an answer has no score; `None` for one with a score."""
    request = GradeRequest(
        sample=text_sample(answer), item=item, trace_id=new_trace_id(), call_id=new_id("grade_")
    )
    try:
        await scorer.score(request)
    except ScoreFault as fault:
        if fault.kind == BAD_SCORE:
            return fault.message
        if not fault.errors.python_grader_runtime_error:
            raise _SandboxFailed(str(fault)) from fault
        return fault.errors.python_grader_runtime_error_details or str(fault)
    return None


def _own_texts(item: dict[str, Any]) -> Iterator[str]:
    """Yields texts of the row besides its messages: one of them may be the right answer."""
    for name, value in item.items():
        if name not in ("messages", "tools") and isinstance(value, str) and len(value) < _MAX_TEXT:
            yield value


def _failures_issue(
    param: str, grader: PythonGrader, failures: Sequence[_Failure], *, tried: int
) -> PreflightIssue:
    first = failures[0]
    locations = ", ".join(f"{one.row.param} line {one.row.line}" for one in failures[:_SHOWN_LINES])
    more = ", …" if len(failures) > _SHOWN_LINES else ""
    if len(failures) == tried and all(one.is_certain for one in failures):
        message = (
            f"The python grader '{grader.name}' fails on each of the {tried} rows that were tried "
            f"({locations}{more}), whatever the answer: {first.texts[0]}. Each rollout would be "
            f"lost. Correct the source, and {_TRY}."
        )
        return PreflightIssue("error", "grader_always_fails", message, param, first.row.line)
    message = (
        f"The python grader '{grader.name}' has no score for {len(failures)} of the {tried} rows "
        f"that were tried ({locations}{more}), with none of {len(first.texts)} answers such as "
        f"{_ANSWERS[0]!r} and {_ANSWERS[2]!r}: {first.texts[-1]}. A rollout that it fails on is "
        f"lost, not graded 0. If the model may write such answers, return a score for them; {_TRY}."
    )
    return PreflightIssue("warning", "grader_fails", message, param, first.row.line)
