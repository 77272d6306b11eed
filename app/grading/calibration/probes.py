"""Adversarial probes: answers that a sound grader scores low, made from the samples.

Owns the probes, their texts and their verdict. Pure: callers score them. Every step over one sample
is short and every text is bounded, so that a thread may make them while an event loop runs.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from app.grading.calibration.calibration import Sample, Spread, row_key

PROBES: Final = {
    "empty": "an empty answer",
    "echo": "an echo of the prompt",
    "keywords": "a heap of all words of all rows",
    "overlong": "an answer of another row, repeated without end",
    "format_only": "the form of an answer without its content",
}
"""The probes with their descriptions."""
PROBED_ROWS: Final = 20
_LENGTHENED: Final = 20_000
_STUFFED: Final = 8_000
_MIDDLE: Final = 0.5
_ANSWERS: Final = ("assistant", "tool", "function")
"""Roles whose messages are not part of a prompt: the last of them may be the reference."""
_WORD: Final = re.compile(r"\w+")
_TAG: Final = re.compile(r"</?[A-Za-z_][\w.-]{0,63}>")
_TEXT_BETWEEN: Final = re.compile(r"[^\W_]+")


def probes(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """Returns the answers of each probe for the first rows, under its name.

    A row without a prompt has no echo; a probe without an answer is not named.
    """
    rows: dict[str, Sample] = {}
    for sample in samples:
        rows.setdefault(row_key(sample.item), sample)
    firsts = list(rows.values())
    heap = keywords(samples)
    made: dict[str, list[Sample]] = {}
    for number, first in enumerate(firsts[:PROBED_ROWS]):
        long = firsts[(number + 1) % len(firsts)].text or "The answer."
        texts = {
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
    """Returns the text of the row's last prompt message, `None` without one.

    Other fields are not read, because one of them is the reference, and its echo would be a correct
    answer.
    """
    messages = item.get("messages")
    prompts = [
        _text(message.get("content"))
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and message.get("role") not in _ANSWERS
    ]
    return next((text for text in reversed(prompts) if text), None)


def _text(content: Any) -> str:
    """Returns the text of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def keywords(samples: Sequence[Sample]) -> str:
    """Returns the first words of the rows, each once, which a policy could learn to recite."""
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
    """Returns the tags, headings and punctuation of a text, with `x` for each word."""
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
    """True if the probe scores as high as the real answers, or above the middle of the scale where
    the scale is known.
    """


def probe_result(name: str, scores: Sequence[float], real: Spread) -> ProbeResult:
    low, high = real.histogram[0].low, real.histogram[-1].high
    mean = fmean(scores)
    over_half = real.scale_known and mean > low + _MIDDLE * (high - low)
    return ProbeResult(name, mean, max(scores), over_half or (mean > low and mean >= real.mean))
