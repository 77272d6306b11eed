"""Converts a rollout's trace to the parts of a page, turn by turn. Pure.

A page stays small whatever a model, tool or grader wrote: long texts are cut and turns beyond a
limit left out, with a notice for both.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Final, Literal, get_args

from fastapi import APIRouter, Response

from app.kit.fields import Json
from app.pages.rendering import CUT_AT, cut, pretty
from app.pages.visitors import PageRoute, SignedIn
from app.rollouts.rollouts import RolloutRow, prompt_messages
from app.rollouts.trajectory import RecordedTurn, TokenRecord

SHOWN_TURNS: Final = 100
_SHOWN_CALLS: Final = 20
"""Largest number of shown calls of a turn."""
_SHOWN_CHARACTERS: Final = 200_000
"""Characters of a whole transcript; each text keeps its beginning."""
_LEAST: Final = 200
_GLIMPSE: Final = 160


@dataclass(frozen=True, slots=True)
class ShownCall:
    id: str
    name: str
    arguments: str
    output: str
    error: str | None
    latency_s: float | None
    attempts: int | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class ShownMessage:
    role: str
    text: str
    turn: int | None = None
    row: int = 0
    """Index of the turn's row of training; several where the template rewrote earlier turns."""
    reasoning: str = ""
    tokens: int | None = None
    finish_reason: str | None = None
    parse_error: str | None = None
    calls: list[ShownCall] = field(default_factory=list)
    more_calls: int = 0
    reward: float | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class ShownTranscript:
    parts: list[ShownMessage]
    more_turns: int


@dataclass(frozen=True, slots=True)
class GraderNote:
    name: str
    score: float | None
    reason: str
    error: str


def transcript(row: RolloutRow) -> ShownTranscript:
    texts, prompt = _Texts(), prompt_messages(row)
    turns: list[Json] = row.trace["turns"]
    shown = [_message(message, texts) for message in prompt[:SHOWN_TURNS]]
    shown += _turns(row.trace["messages"][len(prompt) :], turns[:SHOWN_TURNS], texts)
    more = max(0, len(turns) - SHOWN_TURNS) + max(0, len(prompt) - SHOWN_TURNS)
    return ShownTranscript(shown, more)


def grader_notes(row: RolloutRow) -> list[GraderNote]:
    reasons: Mapping[str, str] = row.trace.get("grader_reasons") or {}
    errors: Mapping[str, str] = row.trace.get("grader_errors") or {}
    return [
        GraderNote(
            name=name,
            score=row.components.get(name) if name else row.reward,
            reason=cut(reasons.get(name, "")),
            error=cut(errors.get(name, "")),
        )
        for name in sorted({*row.components, *reasons, *errors})
    ]


def answer(row: RolloutRow | None) -> str:
    """Returns the last text that the policy wrote, cut to a line or two; empty without one."""
    if row is None:
        return ""
    written = row.trace["messages"][len(prompt_messages(row)) :]
    texts = [_text(message) for message in written if message.get("role") == "assistant"]
    return cut(texts[-1], _GLIMPSE) if texts else ""


class _Texts:
    """Cuts texts, more strictly the more of the page is filled."""

    def __init__(self) -> None:
        self._left = _SHOWN_CHARACTERS

    def cut(self, text: str) -> str:
        length = max(_LEAST, min(CUT_AT, self._left))
        self._left -= min(len(text), length)
        return cut(text, length)


def _turns(messages: list[Json], turns: list[Json], texts: _Texts) -> Iterator[ShownMessage]:
    """Yields the turns, and the messages with which an environment answered them."""
    number = 0
    for message in messages:
        if message.get("role") == "user":
            yield _message(message, texts)
        if message.get("role") != "assistant":
            continue
        if number == len(turns):
            return
        turn = turns[number]
        number += 1
        calls = turn.get("tool_calls") or []
        step: Json = turn.get("environment") or {}
        yield ShownMessage(
            role="assistant",
            text=texts.cut(_text(message)),
            turn=number,
            row=turn.get("row", 0),
            reasoning=texts.cut(str(message.get("reasoning_content") or "")),
            tokens=turn.get("tokens"),
            finish_reason=turn.get("finish_reason"),
            parse_error=turn.get("parse_error"),
            calls=[_call(call, texts) for call in calls[:_SHOWN_CALLS]],
            more_calls=max(0, len(calls) - _SHOWN_CALLS),
            reward=step.get("reward"),
            done=bool(step.get("done")),
        )


def _message(message: Json, texts: _Texts) -> ShownMessage:
    return ShownMessage(role=str(message.get("role", "")), text=texts.cut(_text(message)))


def _call(call: Json, texts: _Texts) -> ShownCall:
    return ShownCall(
        id=str(call.get("call_id", "")),
        name=cut(str(call.get("name", "")), 100),
        arguments=texts.cut(pretty(call.get("arguments", ""))),
        output=texts.cut(pretty(call.get("output", ""))),
        error=call.get("error"),
        latency_s=call.get("latency_s"),
        attempts=call.get("attempts"),
        repeated=bool(call.get("repeated")),
    )


def _text(message: Json) -> str:
    content = message.get("content")
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


Measure = Literal["log_prob", "ratio"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
_SHOWN_TOKENS: Final = 4096
_LISTED: Final = 20
_LONGEST: Final = 200
"""Characters of a token that a page shows."""
_MARKED: Final = str.maketrans({"\n": "↵\n", "\r": "␍", "\t": "→\t"})
_PROBABILITIES: Final = (0.99, 0.9, 0.7, 0.4, 0.2, 0.05, 0.01)
"""Least probability of the classes 1 to 7; a token below all is of class 8."""
_RATIOS: Final = (0.5, 0.8, 0.95, 1.05, 1.25, 2.0)
"""Least ratio of the classes 2 to 7; a token below all is of class 1."""
_UNKNOWN: Final = "blank"
"""Class of a token without the value."""


@dataclass(frozen=True, slots=True)
class ShownToken:
    text: str
    shade: str
    title: str
    turn: int
    position: int
    probability: float | None
    log_prob: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    number: int
    tokens: list[ShownToken]


@dataclass(frozen=True, slots=True)
class Shade:
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class ShownTokens:
    turns: list[ShownTurn]
    listed: list[ShownToken]
    """The least likely tokens, or those whose ratio is farthest from 1."""
    legend: list[Shade]
    tokens: int
    left_out: int
    """Number of sampled tokens that the page does not show."""
    trained: int
    mean_log_prob: float | None
    mean_ratio: float | None


@dataclass(frozen=True, slots=True)
class _Scale:
    shade: Callable[[float | None, float | None], str]
    """Returns the class of a token by its probability and ratio."""
    size: Callable[[ShownToken], float | None]
    """Returns how far a token is from an ordinary one; `None` for one without the value."""
    legend: list[Shade]


def shown_tokens(record: TokenRecord, by: Measure) -> ShownTokens:
    scale = _SCALES[by]
    turns = _turns_tokens(record.turns, scale)
    tokens = [token for turn in turns for token in turn.tokens]
    stored = sum(len(turn.texts) for turn in record.turns)
    ratios = [token.ratio for token in tokens if token.ratio is not None]
    log_probs = [token.log_prob for token in tokens if token.log_prob is not None]
    return ShownTokens(
        turns,
        listed=_extremes(tokens, scale.size),
        legend=scale.legend,
        tokens=len(tokens),
        left_out=record.omitted + stored - len(tokens),
        trained=len(ratios),
        mean_log_prob=fmean(log_probs) if log_probs else None,
        mean_ratio=fmean(ratios) if ratios else None,
    )


def visible(text: str) -> str:
    """Returns a token's text with something to see for spaces, breaks and unprintable parts."""
    if not text:
        return "∅"
    if not any(letter.isprintable() or letter.isspace() for letter in text):
        return "".join(f"⟨U+{ord(letter):04X}⟩" for letter in text)
    marked = text.translate(_MARKED)
    return cut(marked.replace(" ", "·") if text.isspace() else marked, _LONGEST)


def _turns_tokens(recorded: Iterable[RecordedTurn], scale: _Scale) -> list[ShownTurn]:
    turns, left = list[ShownTurn](), _SHOWN_TOKENS
    for number, turn in enumerate(recorded, start=1):
        values = zip(turn.texts[:left], turn.log_probs, turn.ratios, strict=False)
        tokens = [
            _token(*value, scale=scale, turn=number, position=position)
            for position, value in enumerate(values, start=1)
        ]
        left -= len(tokens)
        if tokens:
            turns.append(ShownTurn(number, tokens))
    return turns


def _token(
    text: str,
    log_prob: float | None,
    ratio: float | None,
    *,
    scale: _Scale,
    turn: int,
    position: int,
) -> ShownToken:
    probability = None if log_prob is None else math.exp(min(log_prob, 0.0))
    return ShownToken(
        text=visible(text),
        shade=scale.shade(probability, ratio),
        title=_title(probability, log_prob, ratio),
        turn=turn,
        position=position,
        probability=probability,
        log_prob=log_prob,
        ratio=ratio,
    )


def _title(probability: float | None, log_prob: float | None, ratio: float | None) -> str:
    said = "no log-prob"
    if probability is not None and log_prob is not None:
        said = f"probability {probability:.2%}, log-prob {log_prob:.4f}"
    return f"{said}, {'not trained' if ratio is None else f'ratio {ratio:.4f}'}"


def _probability_shade(probability: float | None, _ratio: float | None) -> str:
    if probability is None:
        return _UNKNOWN
    return f"p{1 + sum(probability < least for least in _PROBABILITIES)}"


def _ratio_shade(_probability: float | None, ratio: float | None) -> str:
    return _UNKNOWN if ratio is None else f"r{1 + sum(ratio >= least for least in _RATIOS)}"


def _extremes(
    tokens: Sequence[ShownToken], size: Callable[[ShownToken], float | None]
) -> list[ShownToken]:
    sized = [(found, token) for token in tokens if (found := size(token)) is not None]
    return [token for _, token in sorted(sized, key=lambda one: -one[0])[:_LISTED]]


def _surprise(token: ShownToken) -> float | None:
    return None if token.log_prob is None else -token.log_prob


def _distance(token: ShownToken) -> float | None:
    """Returns how many times the ratio is above or below 1, as a logarithm."""
    return None if token.ratio is None else abs(math.log(max(token.ratio, 1e-9)))


_PROBABILITY_LEGEND: Final = [
    Shade("p1", "99% or more"),
    *(
        Shade(f"p{number}", f"{least:.0%} to {most:.0%}")
        for number, (most, least) in enumerate(pairwise(_PROBABILITIES), start=2)
    ),
    Shade("p8", f"below {_PROBABILITIES[-1]:.0%}"),
]
_RATIO_LEGEND: Final = [
    Shade("r1", f"below {_RATIOS[0]:g}"),
    *(
        Shade(f"r{number}", f"{least:g} to {most:g}")
        for number, (least, most) in enumerate(pairwise(_RATIOS), start=2)
    ),
    Shade("r7", f"{_RATIOS[-1]:g} or more"),
    Shade(_UNKNOWN, "not trained"),
]
_SCALES: Final[dict[Measure, _Scale]] = {
    "log_prob": _Scale(_probability_shade, _surprise, _PROBABILITY_LEGEND),
    "ratio": _Scale(_ratio_shade, _distance, _RATIO_LEGEND),
}


router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/jobs/{job_id}/rollouts/{rollout_id}/tokens")
async def tokens_page(
    job_id: str, rollout_id: str, visitor: SignedIn, by: Measure = "log_prob"
) -> Response:
    job = await visitor.services.jobs().get(job_id)
    row = await visitor.services.rollouts().get(job_id, rollout_id)
    record = await visitor.services.rollouts().tokens(job_id, rollout_id)
    return await visitor.page(
        "tokens.html",
        lambda: {"shown": shown_tokens(record, by)},
        job=job,
        row=row,
        by=by,
        measures=MEASURES,
    )
