"""Decides whether failures of tools, environments or graders lost too many rollouts to train on the
others.

Owns the message for the customer with the correction. Must not know how a run reacts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from app.domain.errors import (
    ENDPOINT_UNAVAILABLE,
    FORMULA_ERROR,
    INVALID_SCORE,
    JUDGE_WITHOUT_SCORE,
    MODEL_ERROR,
    MODEL_UNAVAILABLE,
    PYTHON_ERROR,
    SANDBOX_ERROR,
    SANDBOX_UNAVAILABLE,
    UNREADABLE_ROW,
)
from app.domain.rollouts.trajectory import Failure, FailureClass, ScoredRollout
from app.domain.texts.personal_data import shaped_data
from workers.reinforcement.steps.summary import valid_share

CURES: Final = {
    PYTHON_ERROR: (
        PYTHON_ERROR,
        "Correct the grader's source, try it with POST /v1/fine_tuning/alpha/graders/run,",
    ),
    FORMULA_ERROR: (
        INVALID_SCORE,
        "Correct the formula of the multi grader, or give it an 'invalid_grade',",
    ),
    SANDBOX_ERROR: (
        SANDBOX_UNAVAILABLE,
        "Ask the operator to repair the sandbox that runs the code of graders",
    ),
    "model_grader_parse_error": (
        JUDGE_WITHOUT_SCORE,
        "Use a judge that keeps to the answer format, or give it more max_completion_tokens,",
    ),
    "model_grader_refusal_error": (
        JUDGE_WITHOUT_SCORE,
        "Change the judge's prompt, or use another judge,",
    ),
    MODEL_ERROR: (
        MODEL_UNAVAILABLE,
        "Repair the server of the grader's model, or use another model,",
    ),
}
"""Error code and correction by the error flag of a grade without a score."""
_GRADER: Final = "method.reinforcement.grader"
_EXCERPT: Final = 240
"""Largest number of characters of a grader's details in the error of a job."""


@dataclass(frozen=True, slots=True)
class ExcessiveLosses:
    """A lost share over the limit."""

    reason: str
    """The share and its main cause, in words a customer can act on."""
    cause: FailureClass
    """The class of most failures."""
    flag: str | None = None
    """The error flag of most failures, if it names a cause that the user can correct."""
    param: str | None = None
    """The path of the grader that raised the flag, in the body of the job."""

    @property
    def cure(self) -> str:
        return self._code_and_cure[1]

    @property
    def code(self) -> str:
        """Error code of a job that ends for it."""
        return self._code_and_cure[0]

    @property
    def _code_and_cure(self) -> tuple[str, str]:
        if self.flag is not None:
            return CURES[self.flag]
        return _of_class(self.cause)


def _of_class(cause: FailureClass) -> tuple[str, str]:
    """Returns error code and correction by the class of the failure."""
    match cause:
        case FailureClass.GRADER_ITEM_MISSING:
            cure = "Correct the grader's template, or give every row that key"
            return "invalid_grader_template", cure
        case FailureClass.GRADER_ITEM_UNREADABLE:
            return UNREADABLE_ROW, "Correct the rows, or use a grader that can read them,"
        case FailureClass.GRADER_BAD_SCORE:
            part = "the formula of a multi grader"
            return INVALID_SCORE, f"Correct the grader, or {part}, so that its scores are in range"
        case (
            FailureClass.TOOL_ERROR
            | FailureClass.TOOL_TIMEOUT
            | FailureClass.TOOL_UNREACHABLE
            | FailureClass.TOOL_BAD_REPLY
            | FailureClass.ENVIRONMENT_ERROR
            | FailureClass.ENVIRONMENT_TIMEOUT
            | FailureClass.ENVIRONMENT_UNREACHABLE
            | FailureClass.ENVIRONMENT_BAD_REPLY
            | FailureClass.GRADER_ERROR
            | FailureClass.GRADER_TIMEOUT
            | FailureClass.GRADER_UNREACHABLE
            | FailureClass.GRADER_BAD_REPLY
            | FailureClass.ENDPOINT_REFUSED
            | FailureClass.CANCELLED
        ):
            return ENDPOINT_UNAVAILABLE, "Repair the endpoint"
        case _:
            assert_never(cause)


def too_many_lost(rollouts: Sequence[ScoredRollout], *, limit: float) -> ExcessiveLosses | None:
    """Returns `None` while the lost share is below `limit`."""
    lost = 1.0 - valid_share(rollouts)
    if not rollouts or lost < limit:
        return None
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    causes = Counter(map(_cause, failures))
    main, _ = causes.most_common(1)[0]
    source, cause, flag = main
    messages = Counter(failure.message for failure in failures if _cause(failure) == main)
    message, _ = messages.most_common(1)[0]
    reason = (
        f"{lost:.0%} of the step's rollouts were lost to failures of tools, environments "
        f"or graders (mostly '{source}', {cause.value}: {message})"
    )
    if flag is None:
        return ExcessiveLosses(reason, cause)
    row, example = next(
        (each.key.prompt_index + 1, each.failure)
        for each in rollouts
        if each.failure is not None and _cause(each.failure) == main
    )
    path = _GRADER if example.child is None else f"{_GRADER}.graders.{example.child}"
    flagged = f"The grader ({path}) has the error '{flag}'; for example in row {row}: "
    return ExcessiveLosses(f"{reason}. {flagged}{_excerpt(example)}", cause, flag, path)


def _excerpt(failure: Failure) -> str:
    """Returns the grader's reason, which may quote a judge, bounded and without personal data."""
    shown = shaped_data(failure.details or failure.message)
    return shown if len(shown) <= _EXCERPT else f"{shown[:_EXCERPT]}…"


def _cause(failure: Failure) -> tuple[str, FailureClass, str | None]:
    """Returns the common cause of failures, whose messages may contain different values."""
    return failure.source, failure.failure_class, _answer_flag(failure)


def _answer_flag(failure: Failure) -> str | None:
    """Returns the flag that says why a judge, an embedding model or code gave no score; `None` for
    any other failure.
    """
    measured = failure.measures.get(failure.child or "", {})
    return next((flag for flag in CURES if measured.get(f"errors/{flag}")), None)
