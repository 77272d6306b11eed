"""The parts of `sample` that a grader reads, whether by its templates or by its nature.

Must not know how a sample is built. Graders that send the whole sample elsewhere (`endpoint`,
`python`) may ignore it, so nothing is known about what they read.
"""

from collections.abc import Iterator
from typing import Final

from app.domain.documents.walk import FieldKind, walk_fields
from app.domain.faults.no_effect import CONSTANT_GRADER, NoEffect
from app.domain.graders.grader_model import GraderModel
from app.domain.graders.templates.template_faults import placeholders

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
