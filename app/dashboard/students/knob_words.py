"""The plain words for the knobs of a plan and their positions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from app.domain.plans.knobs import KnobName


@dataclass(frozen=True, slots=True)
class KnobText:
    label: str
    """The question that the knob answers."""
    least: str = ""
    most: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """Position and its words."""


CHOICE_WORDS: Final[Mapping[str, KnobText]] = {
    "practice_mode": KnobText(
        "How long to practise",
        choices=(
            ("quick", "Quick: a first look"),
            ("balanced", "Balanced: the usual"),
            ("thorough", "Thorough: the longest"),
        ),
    ),
    "effort": KnobText(
        "Effort for each example",
        choices=(
            ("light", "Light"),
            ("standard", "Standard"),
            ("strong", "Strong"),
            ("maximum", "Maximum"),
        ),
    ),
    "auto_stop": KnobText(
        "When practice no longer helps",
        choices=(
            ("stop", "Stop and keep the best"),
            ("pause", "Pause and wait for me"),
            ("warn", "Only tell me"),
            ("off", "Go on"),
        ),
    ),
}
SLIDER_WORDS: Final[Mapping[str, KnobText]] = {
    "drift_guard": KnobText("Drift guard", "Free to change", "Stay as it is"),
    "creativity": KnobText("Creativity", "Always the same", "Many ideas"),
}
_LOW: Final = 34
_HIGH: Final = 67


def knob_words(knob: KnobName, position: Any) -> str:
    """Returns what a knob at a position means for the student, in one sentence."""
    match knob:
        case "practice_mode":
            words = _PRACTICE.get(str(position), "The student practises as often as you chose.")
        case "drift_guard":
            words = _third(position, _DRIFT)
        case "effort":
            words = _EFFORT[str(position)]
        case "creativity":
            words = _third(position, _CREATIVITY)
        case "auto_stop":
            words = _STOP[str(position)]
        case "target" if position is None:
            words = "There is no score at which practice ends by itself."
        case "target":
            words = f"Practice ends once tests reach the score {position:g}."
        case _:
            assert_never(knob)
    return words


def _third(position: int, words: tuple[str, str, str]) -> str:
    return words[0] if position < _LOW else words[1] if position < _HIGH else words[2]


_PRACTICE: Final[Mapping[str, str]] = {
    "quick": "The student goes over the examples once, to see whether anything moves.",
    "balanced": "The student goes over the examples a few times.",
    "thorough": "The student goes over the examples many times; this takes longest.",
}
_DRIFT: Final = (
    "The student may change a lot. It learns fastest, and may lose something that it could do.",
    "The student may change, but is held near to how it answers today.",
    "The student is held close to how it answers today. It learns slowly and loses little.",
)
_EFFORT: Final[Mapping[str, str]] = {
    "light": "Few attempts at each example: cheap, and the tests are rough.",
    "standard": "The usual number of attempts at each example.",
    "strong": "Many attempts at each example, and surer tests.",
    "maximum": "The most attempts at each example: the dearest, for hard tasks.",
}
_CREATIVITY: Final = (
    "Answers are tested with little variety: good where one answer is right.",
    "Answers are tested with the usual variety.",
    "Answers are tested with much variety: good for ideas, bad for facts.",
)
_STOP: Final[Mapping[str, str]] = {
    "stop": "Practice ends by itself when it no longer helps, and the best version is kept.",
    "pause": "Practice pauses when it no longer helps, until you decide.",
    "warn": "You see a warning when practice no longer helps; it continues.",
    "off": "Practice continues to its end, also when it no longer helps.",
}
