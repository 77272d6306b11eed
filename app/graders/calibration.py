"""A calibration reports the spread of scores, probes, agreement and findings. Pure."""

import json
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import Any, Final, Literal

from pydantic import PrivateAttr

from app.kit.fields import DescribedModel


def kendall(left: Sequence[float], right: Sequence[float]) -> float | None:
    concordant = discordant = tied_left = tied_right = 0
    for first, second in combinations(range(len(left)), 2):
        by_left, by_right = left[first] - left[second], right[first] - right[second]
        concordant += by_left * by_right > 0
        discordant += by_left * by_right < 0
        tied_left += by_left == 0
        tied_right += by_right == 0
    pairs = len(left) * (len(left) - 1) // 2
    weight = math.sqrt((pairs - tied_left) * (pairs - tied_right))
    return (concordant - discordant) / weight if weight else None


def mean_agreement(rankings: Sequence[Sequence[float]]) -> float | None:
    found = [kendall(left, right) for left, right in combinations(rankings, 2)]
    known = [tau for tau in found if tau is not None]
    return fmean(known) if known else None


MAX_SAMPLES: Final = 500
MAX_ITEM_VALUES: Final = 1_000_000
"""Largest number of values in the items of all samples: as objects they take 60 to 100 MB."""
BINS: Final = 10
MAX_THRESHOLDS: Final = 50
LEAST_ANSWERS: Final = 4
"""Fewest answers of a row that tell whether it can teach: of a policy that is right in 70 %, a
quarter of the rows with four answers has no wrong one."""
TARGET_FAILURES: Final = (0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Sample:
    text: str
    item: dict[str, Any]
    more: dict[str, Any] | None = None


class ScoreBin(DescribedModel):
    """Number of scores between two bounds."""

    low: float
    """Lowest score of the bin."""
    high: float
    """End of the bin; a score equal to it counts in the next bin, if there is one."""
    count: int
    """Number of answers."""


class ThresholdFailures(DescribedModel):
    """Share of the answers that fail at one threshold."""

    threshold: float
    """A `pass_threshold`."""
    failures: float
    """Share of the answers that would fail."""


class ScoreSpread(DescribedModel):
    """The distribution of the scores."""

    mean: float
    """Mean score."""
    std: float
    """Standard deviation of the scores."""
    histogram: list[ScoreBin]
    """Ten bins over the grader's scale: its own limits, or 0 to 1; where it has none and a score is
    outside of 0 to 1, from the lowest to the highest score."""
    all_lowest: float | None
    """Share of the rows with at least 4 answers whose answers all have the lowest score of the
    histogram; `null` if no row has 4 answers."""
    all_highest: float | None
    """Share of the rows with at least 4 answers whose answers all have the highest score of the
    histogram; `null` if no row has 4 answers."""
    no_spread: float | None
    """Share of the rows with at least 4 answers whose answers all have the same score: they teach
    nothing. `null` if no row has 4 answers."""
    thresholds: list[ThresholdFailures]
    """Failures at each score that occurs, or at quantiles if there are more than 50 different
    scores."""
    recommended: float | None
    """Threshold at which 25 to 50 % of the answers fail; `null` if there is no such threshold."""
    _scale_known: bool = PrivateAttr(default=False)

    @property
    def scale_known(self) -> bool:
        """True if the histogram ends at the grader's own limits, or at 0 and 1."""
        return self._scale_known


ProbeName = Literal["empty", "echo", "keywords", "overlong", "format_only"]


class CalibrationProbe(DescribedModel):
    """The scores of one kind of adversarial answer."""

    name: ProbeName
    """Kind of the adversarial answer."""
    mean: float
    """Mean score over up to 20 rows."""
    highest: float
    """Highest score."""
    hacks: bool
    """True if such answers score as high as the real ones, or above the middle of the range."""


class GraderCalibration(DescribedModel):
    """Findings about a grader from its scores of many answers."""

    object: Literal["grader.calibration"] = "grader.calibration"
    samples: int
    """Answers that were sent."""
    scored: int
    """Answers that have a score."""
    faults: list[str]
    """The first reasons why an answer has no score."""
    scores: ScoreSpread
    """Spread of the scores."""
    agreement: float | None
    """Spearman's correlation with `compare_with`; `null` without it, or if either grader gives no
    scores or only equal ones; the report then names the reason."""
    probes: list[CalibrationProbe]
    """Answers that a sound grader scores low, without those that could not be tried or scored."""
    report: list[str]
    """Findings in plain words."""


def spread(
    samples: Sequence[Sample],
    scores: Sequence[float],
    *,
    lowest: float | None = None,
    highest: float | None = None,
) -> ScoreSpread:
    low, high, scale_known = _scale(scores, lowest, highest)
    by_row: dict[str, list[float]] = defaultdict(list)
    for sample, score in zip(samples, scores, strict=True):
        by_row[row_key(sample.item)].append(score)
    rows = [row for row in by_row.values() if len(row) >= LEAST_ANSWERS]
    ordered = sorted(scores)
    every = [
        ThresholdFailures(threshold=value, failures=bisect_left(ordered, value) / len(ordered))
        for value in sorted(set(ordered))
    ]
    least, most = TARGET_FAILURES
    fitting = [row for row in every if least <= row.failures <= most]
    best = min(fitting, key=lambda row: abs(row.failures - (least + most) / 2), default=None)
    found = ScoreSpread(
        mean=fmean(scores),
        std=pstdev(scores),
        histogram=_histogram(scores, low, high),
        all_lowest=_share([set(row) == {low} for row in rows]),
        all_highest=_share([set(row) == {high} for row in rows]),
        no_spread=_share([len(set(row)) == 1 for row in rows]),
        thresholds=_shown(every, ordered, best),
        recommended=None if best is None else best.threshold,
    )
    found._scale_known = scale_known  # noqa: SLF001 - a class of this module
    return found


def _scale(
    scores: Sequence[float], lowest: float | None, highest: float | None
) -> tuple[float, float, bool]:
    least, most = min(scores), max(scores)
    if lowest is not None and highest is not None:
        return min(lowest, least), max(highest, most), True
    if least >= 0 and most <= 1:
        return 0.0, 1.0, True
    return least, most, False


def _share(rows: Sequence[bool]) -> float | None:
    return fmean(rows) if rows else None


def row_key(item: Mapping[str, Any]) -> str:
    return json.dumps(item, sort_keys=True)


def _histogram(scores: Sequence[float], low: float, high: float) -> list[ScoreBin]:
    edges = [low + (high - low) * number / BINS for number in range(BINS + 1)]
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, sum(score >= edge for edge in edges[1:]))] += 1
    return [ScoreBin(low=edges[n], high=edges[n + 1], count=counts[n]) for n in range(BINS)]


def _shown(
    every: Sequence[ThresholdFailures], ordered: Sequence[float], best: ThresholdFailures | None
) -> list[ThresholdFailures]:
    """Returns all rows, or those at evenly spaced quantiles, with the best one."""
    if len(every) <= MAX_THRESHOLDS:
        return list(every)
    steps = MAX_THRESHOLDS - 2
    chosen = {ordered[round(step * (len(ordered) - 1) / steps)] for step in range(steps + 1)}
    if best is not None:
        chosen.add(best.threshold)
    return [row for row in every if row.threshold in chosen]


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    try:
        return correlation(_ranks(left), _ranks(right))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    ranks: dict[float, list[int]] = defaultdict(list)
    for rank, value in enumerate(sorted(values)):
        ranks[value].append(rank)
    return [fmean(ranks[value]) for value in values]


PROBES: Final[dict[ProbeName, str]] = {
    "empty": "an empty answer",
    "echo": "an echo of the prompt",
    "keywords": "a heap of all words of all rows",
    "overlong": "an answer of another row, repeated without end",
    "format_only": "the form of an answer without its content",
}
PROBED_ROWS: Final = 20
_LENGTHENED: Final = 20_000
_STUFFED: Final = 8_000
_MIDDLE: Final = 0.5
_ANSWERS: Final = ("assistant", "tool", "function")
"""Roles whose messages are not part of a prompt: the last of them may be the reference."""
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"</?[A-Za-z_][\w.-]{0,63}>")
_TEXT_BETWEEN: Final = re.compile(r"[^\W_]+")


def probes(samples: Sequence[Sample]) -> dict[ProbeName, list[Sample]]:
    """Returns the answers of each probe for the first rows; no echo for a row without a prompt."""
    rows: dict[str, Sample] = {}
    for sample in samples:
        rows.setdefault(row_key(sample.item), sample)
    firsts = list(rows.values())
    heap = keywords(samples)
    made: dict[ProbeName, list[Sample]] = {}
    for number, first in enumerate(firsts[:PROBED_ROWS]):
        long = firsts[(number + 1) % len(firsts)].text or "The answer."
        texts: dict[ProbeName, str | None] = {
            "empty": "",
            "echo": prompt(first.item),
            "keywords": heap,
            "overlong": (long + "\n") * max(2, _LENGTHENED // (len(long) + 1)),
            "format_only": _form(first.text[:_LENGTHENED]),
        }
        for name, text in texts.items():
            if text is not None:
                made.setdefault(name, []).append(Sample(text, first.item))
    return made


def prompt(item: Mapping[str, Any]) -> str | None:
    messages = item.get("messages")
    prompts = [
        _text(message.get("content"))
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and message.get("role") not in _ANSWERS
    ]
    return next((text for text in reversed(prompts) if text), None)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def keywords(samples: Sequence[Sample]) -> str:
    words: dict[str, None] = {}
    length = 0
    for sample in samples:
        for found in _WORD.finditer(json.dumps(sample.item, ensure_ascii=False)):
            if found[0] not in words:
                words[found[0]] = None
                length += len(found[0]) + 1
            if length > _STUFFED:
                return " ".join(words)[:_STUFFED]
    return " ".join(words)


def _form(text: str) -> str:
    parts, position = [], 0
    for tag in _TAG.finditer(text):
        parts += [_TEXT_BETWEEN.sub("x", text[position : tag.start()]), tag[0]]
        position = tag.end()
    return "".join([*parts, _TEXT_BETWEEN.sub("x", text[position:])])


def probe_result(name: ProbeName, scores: Sequence[float], real: ScoreSpread) -> CalibrationProbe:
    low, high = real.histogram[0].low, real.histogram[-1].high
    mean = fmean(scores)
    over_half = real.scale_known and mean > low + _MIDDLE * (high - low)
    hacks = over_half or (mean > low and mean >= real.mean)
    return CalibrationProbe(name=name, mean=mean, highest=max(scores), hacks=hacks)


SOUND_AGREEMENT: Final = 0.8
_MIDDLE_REPORT: Final = 0.5


@dataclass(frozen=True, slots=True)
class Agreement:
    value: float | None
    compared: int
    faults: tuple[str, ...] = ()
    """Reasons of the other grader, one for each answer that it did not score."""


def report(
    real: ScoreSpread,
    probed: Sequence[CalibrationProbe],
    agreement: Agreement | None,
    failed: int,
    tried: Collection[str] = PROBES,
) -> list[str]:
    """Returns the findings, the most severe first. `tried` names the probes with an answer."""
    found = _hacks(real, probed)
    if failed:
        found.append(f"{failed} samples could not be scored: they would leave the batch.")
    found += _rows(real)
    if real.recommended is None:
        found.append("No threshold lets 25 to 50 % of the answers fail: scores are too coarse.")
    if agreement is not None:
        found += _agreement(agreement)
    return found + _left_out(probed, tried)


def _hacks(real: ScoreSpread, probed: Sequence[CalibrationProbe]) -> list[str]:
    hacked = [
        f"{PROBES[probe.name].capitalize()} scores {probe.mean:.2f} on average, real answers "
        f"{real.mean:.2f}: training could learn to give it. Make the grader score it low."
        for probe in probed
        if probe.hacks
    ]
    if hacked:
        return hacked
    if len(probed) == len(PROBES):
        return ["None of the five probes scores high."]
    return ["None of the probes that were scored scores high."] if probed else []


def _rows(real: ScoreSpread) -> list[str]:
    if real.std == 0:
        return [f"Every answer scores {real.mean:g}: nothing can be learned from it."]
    if real.all_lowest is None or real.all_highest is None or real.no_spread is None:
        few = f"No row has {LEAST_ANSWERS} answers, so it is not known which rows can teach: "
        return [few + "send more answers for each row, or set 'eval_samples' of the job."]
    if real.all_lowest > _MIDDLE_REPORT:
        return [f"{real.all_lowest:.0%} of the rows are never right: they teach nothing yet."]
    if real.all_highest > _MIDDLE_REPORT:
        return [f"{real.all_highest:.0%} of the rows are always right: they teach nothing."]
    if real.no_spread > _MIDDLE_REPORT:
        rows = f"In {real.no_spread:.0%} of the rows"
        return [f"{rows} every answer has the same score: they teach nothing."]
    return []


def _left_out(probed: Sequence[CalibrationProbe], tried: Collection[str]) -> list[str]:
    scored = {probe.name for probe in probed}
    return [
        f"{words.capitalize()} could not be scored."
        if name in tried
        else f"{words.capitalize()} was not tried: no row has a prompt in 'messages'."
        for name, words in PROBES.items()
        if name not in scored
    ]


def _agreement(found: Agreement) -> list[str]:
    if not found.compared:
        why = f": {found.faults[0]}" if found.faults else ""
        return [f"The grader of 'compare_with' scored no answer, so none is compared{why}."]
    sentences = []
    if found.faults:
        sentences.append(
            f"The grader of 'compare_with' could not score {len(found.faults)} answers: the "
            f"agreement is that of the other {found.compared}."
        )
    if found.value is None:
        sentences.append(
            "The two graders cannot be compared: one of them scores every answer the same."
        )
    elif found.value < SOUND_AGREEMENT:
        sentences.append(
            f"The two graders agree by {found.value:.2f} (Spearman), less than {SOUND_AGREEMENT}: "
            "a gain in training may be none in the evaluation."
        )
    return sentences
