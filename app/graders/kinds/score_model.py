"""Scores with a judge that answers with a number."""

from functools import partial

from app.graders.judge import JudgedScorer, Judges, number_verdict
from app.graders.judge_prompts import Prompt
from app.graders.model_definitions import ScoreModelGrader
from app.graders.templating import fill


def score_model_scorer(
    spec: ScoreModelGrader, judges: Judges, *, source: str
) -> JudgedScorer[float]:
    messages = partial(fill, Prompt(spec.input), source=source)
    verdict = number_verdict(*spec.range)
    return JudgedScorer(spec, judges, verdict, messages=messages, score=float, source=source)
