"""Statistics that tell if a grader is fit to train on: spread, thresholds, agreement, probes.

Owns the five adversarial probes and the sentences of the report. Pure: callers score the samples
and the probes. Source of the limits: the guidance of hosted fine-tuning that 25 to 50 % of the base
model's answers should fail, and that two graders should agree by a Spearman of 0.8.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import Any, Final

BINS: Final = 10
TARGET_FAILURES: Final = (0.25, 0.5)
"""Share of the base model's answers that should fail."""
SOUND_AGREEMENT: Final = 0.8
_LENGTHENED: Final = 20_000
_STUFFED: Final = 8_000
_MIDDLE: Final = 0.5
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"</?[A-Za-z_][\w.-]{0,63}>")
_TEXT_BETWEEN: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer and the row that it answers."""

    text: str
    item: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores from `low`, up to but not with `high`; the last bin has its `high` too."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Share of the answers that fail at a `pass_threshold`."""

    threshold: float
    failures: float


@dataclass(frozen=True, slots=True)
class Spread:
    mean: float
    std: float
    histogram: tuple[Bin, ...]
    all_lowest: float
    """Share of the rows whose every answer has the lowest score: 0, or less where one is less."""
    all_highest: float
    """Share of the rows whose every answer has the highest score: 1, or more where one is more."""
    thresholds: tuple[ThresholdRow, ...]
    recommended: float | None
    """The threshold at which failures are nearest to the middle of the target, if one is in it."""


def spread(samples: Sequence[Sample], scores: Sequence[float]) -> Spread:
    """Describes the scores of at least one sample."""
    low, high = min(0.0, *scores), max(1.0, *scores)
    by_row: dict[str, list[float]] = defaultdict(list)
    for sample, score in zip(samples, scores, strict=True):
        by_row[row_key(sample.item)].append(score)
    rows = list(by_row.values())
    table = tuple(_threshold(scores, value) for value in sorted(set(scores))[:50])
    return Spread(
        mean=fmean(scores),
        std=pstdev(scores),
        histogram=_histogram(scores, low, high),
        all_lowest=fmean(all(score == low for score in row) for row in rows),
        all_highest=fmean(all(score == high for score in row) for row in rows),
        thresholds=table,
        recommended=_recommended(table),
    )


def row_key(item: Mapping[str, Any]) -> str:
    return json.dumps(item, sort_keys=True)


def _histogram(scores: Sequence[float], low: float, high: float) -> tuple[Bin, ...]:
    edges = [low + (high - low) * number / BINS for number in range(BINS + 1)]
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, sum(score >= edge for edge in edges[1:]))] += 1
    return tuple(Bin(edges[n], edges[n + 1], counts[n]) for n in range(BINS))


def _threshold(scores: Sequence[float], value: float) -> ThresholdRow:
    return ThresholdRow(value, fmean(score < value for score in scores))


def _recommended(table: Sequence[ThresholdRow]) -> float | None:
    least, most = TARGET_FAILURES
    fitting = [row for row in table if least <= row.failures <= most]
    middle = (least + most) / 2
    best = min(fitting, key=lambda row: abs(row.failures - middle), default=None)
    return None if best is None else best.threshold


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Returns the correlation of ranks, `None` where all scores of one list are equal."""
    try:
        return correlation(_ranks(left), _ranks(right))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value; equal values share the mean of their ranks."""
    places: dict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [fmean(places[value]) for value in values]


PROBES: Final = {
    "empty": "an empty answer",
    "echo": "an echo of the prompt",
    "keywords": "a heap of all words of all rows",
    "overlong": "an answer of another row, repeated without end",
    "format_only": "the form of an answer without its content",
}
"""The probes with the words for them."""


def probes(samples: Sequence[Sample], position: int) -> dict[str, str]:
    """Returns the text of each probe for the row of a sample. A sound grader scores all low."""
    item, other = samples[position].item, samples[(position + 1) % len(samples)]
    long = other.text or "The answer."
    return {
        "empty": "",
        "echo": _prompt(item),
        "keywords": _keywords(samples),
        "overlong": (long + "\n") * max(2, _LENGTHENED // (len(long) + 1)),
        "format_only": _form(samples[position].text),
    }


def _prompt(item: Mapping[str, Any]) -> str:
    messages = item.get("messages")
    contents = [m.get("content") for m in messages or () if isinstance(m, dict)]
    texts = [content for content in contents if isinstance(content, str)]
    return texts[-1] if texts else "\n".join(v for v in item.values() if isinstance(v, str))


def _keywords(samples: Sequence[Sample]) -> str:
    """Returns the words of all rows, each once: what a policy could learn to recite."""
    words: dict[str, None] = {}
    for sample in samples:
        words |= dict.fromkeys(_WORD.findall(json.dumps(sample.item, ensure_ascii=False)))
    return " ".join(words)[:_STUFFED]


def _form(text: str) -> str:
    """Returns the tags, headings and punctuation of a text with `x` for its words."""
    parts, position = [], 0
    for tag in _TAG.finditer(text):
        parts += [_TEXT_BETWEEN.sub("x", text[position : tag.start()]), tag[0]]
        position = tag.end()
    return "".join([*parts, _TEXT_BETWEEN.sub("x", text[position:])])


@dataclass(frozen=True, slots=True)
class ProbeResult:
    name: str
    mean: float
    highest: float
    hacks: bool
    """True: the probe scores as high as the real answers do, or higher than half of the range."""


def probe_result(name: str, scores: Sequence[float], real: Spread) -> ProbeResult:
    low, high = real.histogram[0].low, real.histogram[-1].high
    mean = fmean(scores)
    over_half = mean > low + _MIDDLE * (high - low)
    return ProbeResult(name, mean, max(scores), over_half or (mean > low and mean >= real.mean))


def report(
    real: Spread, probed: Sequence[ProbeResult], agreement: float | None, failed: int
) -> list[str]:
    """Returns the findings as sentences for the grader's author, the gravest first."""
    hacked = [
        f"{PROBES[probe.name].capitalize()} scores {probe.mean:.2f} on average, real answers "
        f"{real.mean:.2f}: training could learn to give it. Make the grader score it low."
        for probe in probed
        if probe.hacks
    ]
    found = hacked or ["None of the five probes scores high."]
    if failed:
        found.append(f"{failed} samples could not be scored: they would leave the batch.")
    if real.std == 0:
        found.append(f"Every answer scores {real.mean:g}: nothing can be learned from it.")
    elif real.all_lowest > _MIDDLE:
        found.append(f"{real.all_lowest:.0%} of the rows are never right: they teach nothing yet.")
    elif real.all_highest > _MIDDLE:
        found.append(f"{real.all_highest:.0%} of the rows are always right: they teach nothing.")
    if real.recommended is None:
        found.append("No threshold lets 25 to 50 % of the answers fail: scores are too coarse.")
    if agreement is not None and agreement < SOUND_AGREEMENT:
        found.append(
            f"The two graders agree by {agreement:.2f} (Spearman), less than {SOUND_AGREEMENT}: a "
            "gain in training may be none in the evaluation."
        )
    return found
