"""Converts a token record to the parts of a page: spans by turn, and a table of a few. Pure.

Each token has something to see, whatever it writes, and that a page stays small.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Final, Literal, get_args

from fastapi import APIRouter, Response

from app.pages.refusals import PageRoute
from app.pages.rendering import cut
from app.pages.visitors import SignedIn
from app.rollouts.trajectory import RecordedTurn, TokenRecord

Measure = Literal["log_prob", "ratio"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
_SHOWN_TOKENS: Final = 4096
_LISTED: Final = 20
_LONGEST: Final = 200
"""Characters of a token that a page shows."""
_EMPTY: Final = "∅"
_MARKED: Final = str.maketrans({"\n": "↵\n", "\r": "␍", "\t": "→\t"})
_SPACE: Final = "·"
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
    """The CSS class."""
    title: str
    turn: int
    position: int
    """Number of the token in its turn, from 1."""
    probability: float | None
    log_prob: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    number: int
    tokens: list[ShownToken]


@dataclass(frozen=True, slots=True)
class Shade:
    """A line of the legend."""

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
    """The classes of one measure."""

    shade: Callable[[float | None, float | None], str]
    """Returns the class of a token by its probability and ratio."""
    size: Callable[[ShownToken], float | None]
    """Returns how far a token is from an ordinary one; `None` for one without the value."""
    legend: list[Shade]


def shown_tokens(record: TokenRecord, by: Measure) -> ShownTokens:
    scale = _SCALES[by]
    turns = _turns(record.turns, scale)
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
    """Returns a token's text with something to see for each line break, tab, token of spaces or of
    characters that print nothing, and empty token.
    """
    if not text:
        return _EMPTY
    if not any(letter.isprintable() or letter.isspace() for letter in text):
        return "".join(f"⟨U+{ord(letter):04X}⟩" for letter in text)
    marked = text.translate(_MARKED)
    return cut(marked.replace(" ", _SPACE) if text.isspace() else marked, _LONGEST)


def _turns(recorded: Iterable[RecordedTurn], scale: _Scale) -> list[ShownTurn]:
    """Returns the turns with as many tokens as a page shows; one without any is left out."""
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
    """Returns the tokens of the largest sizes, the largest first, of equal ones the earliest."""
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
