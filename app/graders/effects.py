"""Finds values of graders by which every sample passes, or none.

Reported when a definition is created or checked; stored graders are not checked again. Must not
know how anything is scored.
"""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel

from app.graders.definitions import MultiGrader
from app.graders.grader_model import GraderModel
from app.graders.template_faults import placeholders
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter
from app.kit.issues import CONSTANT_GRADER, NoEffect
from app.kit.walk import FieldKind, walk_fields

_ROUNDING: Final = 1e-9
"""Relative error of a formula's bounds, as floats are added in another order for a sample."""


def value_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the faults of each grader at or below the definitions, which are given by their
    parameters.
    """
    for root, definition in definitions:
        for path, grader in _graders(definition, ()):
            for below, reason in (*_threshold_faults(grader), *grader.empty_texts):
                yield refused_value(parameter(root, (*path, *below)), reason)


def out_of_range(score: float, grader: GraderModel) -> str | None:
    """Returns why a limit of a score is useless: every score of the grader reaches it, or none."""
    low, high = grader.score_range
    if low < score <= high + _ROUNDING * max(1.0, abs(high)):
        return None
    shown = " to ".join("no limit" if math.isinf(end) else f"{end:g}" for end in (low, high))
    return (
        f"the scores of the grader are from {shown}: send a number above the lowest and not "
        "above the highest, so that some rollouts can pass and some not"
    )


def _threshold_faults(grader: GraderModel) -> Iterator[tuple[Path, str]]:
    if grader.pass_threshold is not None:
        reason = out_of_range(grader.pass_threshold, grader)
        if reason is not None:
            yield ("pass_threshold",), reason


def _graders(value: Any, path: Path) -> Iterator[tuple[Path, GraderModel]]:
    """Yields the graders of a definition; none is below a list."""
    match value:
        case MultiGrader():
            yield path, value
            for name, part in value.graders.items():
                yield (*path, "graders", name), part
        case GraderModel():
            yield path, value
        case BaseModel():
            for name, below in value.__dict__.items():
                yield from _graders(below, (*path, name))
        case _:
            return


_TRIED: Final = 200
"""Scores of its parts for which a formula is computed, unless two of its values differ earlier."""
_WIDEST: Final = 10.0
"""Assumed limits of a part whose definition has none."""


def constant_score(grader: GraderModel) -> str | None:
    """Returns why the score of the grader cannot vary; `None` for one that can."""
    if grader.lowest is not None and grader.lowest == grader.highest:
        return f"it has no other score than {grader.lowest:g}"
    value = _constant_value(grader) if grader.parts else None
    return None if value is None else f"its formula is {value:g} for every score"


def unread_thresholds(grader: GraderModel) -> Iterator[str]:
    """Yields the names of the parts that have a `pass_threshold`, which only the whole needs."""
    for name, part in grader.parts.items():
        if part.pass_threshold is not None:
            yield name


def _constant_value(grader: GraderModel) -> float | None:
    found: float | None = None
    for scores in islice(_scores(grader), _TRIED):
        value = grader.combined(scores)
        if value is None:
            continue
        if found is not None and value != found:
            return None
        found = value
    return found


def _scores(grader: GraderModel) -> Iterator[dict[str, float]]:
    """Yields scores of the parts: all lowest, all highest, one alone high or low, then others."""
    limits = {name: _limits(part) for name, part in grader.parts.items()}
    lowest = {name: low for name, (low, _) in limits.items()}
    highest = {name: high for name, (_, high) in limits.items()}
    yield lowest
    yield highest
    chance = random.Random(0)
    yield {name: chance.uniform(*ends) for name, ends in limits.items()}
    for name in limits:
        yield {**lowest, name: highest[name]}
        yield {**highest, name: lowest[name]}
    while True:
        yield {name: chance.choice((*ends, chance.uniform(*ends))) for name, ends in limits.items()}


def _limits(part: GraderModel) -> tuple[float, float]:
    low = -_WIDEST if part.lowest is None else part.lowest
    return low, max(low, _WIDEST) if part.highest is None else part.highest


WHOLE: Final = ""
"""Stands for a template of the whole sample."""


def parts_read(grader: GraderModel) -> frozenset[str]:
    """Returns the parts of a sample without which the grader has nothing to score."""
    return frozenset(key for each in _single_graders(grader) for key in _own_parts(each))


def reads_sample(grader: GraderModel) -> bool:
    """Returns whether the score can depend on the sample. A grader without any template is counted
    as one that reads it.
    """
    return any(map(_may_read_sample, _single_graders(grader)))


def constant_rewards(grader: GraderModel, param: str) -> Iterator[NoEffect]:
    """Yields a warning about a job's grader that reads nothing of a sample."""
    if not reads_sample(grader):
        yield NoEffect(
            CONSTANT_GRADER,
            param,
            f"'{param}' reads nothing of a sample, so all rollouts of a row earn the same and the "
            "job learns nothing; use a template such as '{{sample.output_text}}'",
        )


def constant_scores(grader: GraderModel, param: str) -> Iterator[NoEffect]:
    """Yields a warning about a criterion of an eval that reads nothing of a sample."""
    if not reads_sample(grader):
        yield NoEffect(
            CONSTANT_GRADER,
            param,
            f"'{param}' reads nothing of a sample, so an item's score is the same for every model; "
            "use a template such as '{{sample.output_text}}', unless the items hold the answers",
        )


def _may_read_sample(grader: GraderModel) -> bool:
    templates = list(_templates(grader))
    read = any(_parts(text) for _, text in templates)
    return grader.reads_beside_templates or not templates or read


def _single_graders(grader: GraderModel) -> Iterator[GraderModel]:
    if not grader.parts:
        yield grader
    for part in grader.parts.values():
        yield from _single_graders(part)


def _own_parts(grader: GraderModel) -> Iterator[str]:
    by_nature = grader.parts_read_by_nature
    yield from by_nature
    for name, text in _templates(grader):
        if not (by_nature and name == "input"):
            yield from _parts(text)


def _templates(grader: GraderModel) -> Iterator[tuple[str, str]]:
    """Yields the field and the text of each template."""
    for field in walk_fields(type(grader), grader):
        if field.kind is FieldKind.TEMPLATE:
            yield str(field.path[0]), field.value


def _parts(text: str) -> frozenset[str]:
    return frozenset(
        str(each.steps[0]) if each.steps else WHOLE
        for each in placeholders(text)
        if each.namespace == "sample"
    )
