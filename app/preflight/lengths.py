"""Measures the prompts of a file in tokens, and reports prompts without room for an answer.

Promises the limits of a run: the share of validation prompts that would end the job after its
baseline is an error here, and so is a training file in which every prompt fills the context.
"""

from collections.abc import Iterator
from statistics import fmean

from app.domain.errors import InvalidRequest
from app.domain.faults.issues import IssueSeverity, PreflightIssue
from app.domain.jobs.creation.preflight import InspectionRequest, TokenLengths
from app.domain.models.context_size import NO_ROOM_CURE, fills_context, full_context
from app.domain.models.models import BaseModelSpec
from app.preflight.files import ReadFile
from app.rendering.renderer import Renderer

_SHOWN_LINES = 5
PROMPT_EXCEEDS_CONTEXT = "prompt_exceeds_context"

Lengths = dict[int, int]
"""Tokens of each measured prompt by its line."""


def prompt_lengths(renderer: Renderer, file: ReadFile) -> Lengths:
    """Returns the lengths of the sampled prompts that the template renders."""
    lengths: Lengths = {}
    for line, prompt in file.sampled.items():
        try:
            lengths[line] = len(renderer.prompt_ids(prompt.messages, prompt.tools))
        except InvalidRequest:
            continue
    return lengths


def token_lengths(by_line: Lengths, base: BaseModelSpec) -> TokenLengths | None:
    if not by_line:
        return None
    lengths = sorted(by_line.values())

    def percentile(share: float) -> int:
        return lengths[min(len(lengths) - 1, round(share * (len(lengths) - 1)))]

    return TokenLengths(
        measured_rows=len(lengths),
        mean=round(fmean(lengths), 1),
        p50=percentile(0.5),
        p90=percentile(0.9),
        p99=percentile(0.99),
        max=lengths[-1],
        context_length=base.context_length,
        over_context=sum(fills_context(length, base.context_length) for length in lengths),
    )


def length_issues(
    request: InspectionRequest, param: str, by_line: Lengths, base: BaseModelSpec
) -> Iterator[PreflightIssue]:
    full = [line for line, length in by_line.items() if fills_context(length, base.context_length)]
    if not full:
        return
    share = request.no_room_share if param == "validation_file" else 1.0
    ends = request.no_room_share is not None and len(full) >= (share or 1.0) * len(by_line)
    severity: IssueSeverity = "error" if ends else "warning"
    shown = ", ".join(map(str, full[:_SHOWN_LINES])) + (", …" if len(full) > _SHOWN_LINES else "")
    message = (
        f"{len(full)} of {len(by_line)} measured prompts "
        f"{full_context(base.context_length, max(by_line.values()))}: lines {shown}. That leaves "
        f"no token for an answer. {NO_ROOM_CURE}."
    )
    yield PreflightIssue(severity, PROMPT_EXCEEDS_CONTEXT, message, param, full[0])
