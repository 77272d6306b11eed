"""Scores with a judge that chooses a label: 1 for a passing one."""

from functools import partial

from app.graders.judge import JudgedScorer, Judges, label_verdict
from app.graders.judge_prompts import Prompt
from app.graders.model_definitions import LabelModelGrader
from app.graders.templating import fill


def label_model_scorer(spec: LabelModelGrader, judges: Judges, *, source: str) -> JudgedScorer[str]:
    return JudgedScorer(
        spec,
        judges,
        label_verdict(spec.labels),
        messages=partial(fill, Prompt(spec.input), source=source),
        score=lambda label: float(label in spec.passing_labels),
        source=source,
    )
