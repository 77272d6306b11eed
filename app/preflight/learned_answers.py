"""Measures the answers that supervised and preference rows teach, and reports those that do not fit
into the context.

Promises the rule of a run: an answer that begins behind the model's last token ends the job, and
one that ends behind it is cut.
"""

from collections.abc import Iterator
from typing import assert_never

from app.domain.data.supervised_rows import learned_turns, nothing_left
from app.domain.errors import InvalidRequest
from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.preflight import InspectionRequest
from app.domain.models.models import BaseModelSpec
from app.preflight.files import ReadFile, RowPrompt
from app.preflight.lengths import Lengths
from app.rendering.renderer import Renderer

ANSWERS_CUT = "answers_cut"


def answer_issues(
    request: InspectionRequest,
    param: str,
    file: ReadFile,
    by_line: Lengths,
    *,
    renderer: Renderer,
    base: BaseModelSpec,
) -> Iterator[PreflightIssue]:
    """Yields the rows that end the job, then a warning about answers that are cut. `by_line` has
    the lengths of whole examples.
    """
    limit, cut = base.context_length, 0
    for line in by_line:
        found = _span(request, file.sampled[line], by_line[line], limit, renderer)
        if found is None:
            continue
        begins, ends = found
        if begins >= limit:
            message = f"Line {line}: {nothing_left(limit)}"
            yield PreflightIssue("error", f"invalid_{param}", message, param, line)
        else:
            cut += ends > limit
    if cut:
        label = param.removesuffix("_file")
        message = (
            f"{cut} of {len(by_line)} measured {label} examples are longer than {limit} tokens and "
            "are cut at their end"
        )
        yield PreflightIssue("warning", ANSWERS_CUT, message, param)


def _span(
    request: InspectionRequest, prompt: RowPrompt, length: int, limit: int, renderer: Renderer
) -> tuple[int, int] | None:
    """Returns the tokens before the first learned answer and up to the end of the longest one,
    `None` for a row that fits or that the template cannot render.
    """
    match request.method:
        case "supervised":
            if length <= limit:  # with the beginning of another turn
                return None
            learned = learned_turns(prompt.item["messages"], request.train_on)
            before, texts = learned[0], [prompt.messages[: learned[-1] + 1]]
        case "dpo":
            asked = prompt.item["input"]["messages"]
            answers = (prompt.item[name] for name in ("preferred_output", "non_preferred_output"))
            before, texts = len(asked), [[*asked, *answer] for answer in answers]
        case "reinforcement":
            raise ValueError("the answers of a reinforcement job are sampled")
        case _:
            assert_never(request.method)
    tools = prompt.tools
    try:
        ends = [
            len(renderer.prompt_ids(text[:-1], tools)) + len(renderer.turn_ids(text, tools))
            for text in texts
        ]
        return len(renderer.prompt_ids(texts[0][:before], tools)), max(ends)
    except InvalidRequest:
        return None
