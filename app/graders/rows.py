"""Texts that graders read from the row alone, and the rules for these texts.

If a row breaks a rule, no answer to it can be graded. The fault is therefore reported before the
job is paid for, and a rollout of the row is lost and never scored 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.graders.grader_model import GraderModel, RowRule
from app.graders.templates import MissingVariable, RenderedTooLong, Template, parse_template
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter


@dataclass(frozen=True, slots=True)
class RowReading:
    """A template that depends on the row only."""

    param: str
    template: Template
    rule: RowRule

    def fault(self, item: Mapping[str, Any]) -> str | None:
        """Returns why the row's text cannot be used. A missing key is not reported here."""
        try:
            return self.rule.fault(self.template.render(sample={}, item=item))
        except MissingVariable:
            return None
        except RenderedTooLong as error:
            return str(error)


def row_readings(grader: GraderModel, root: str) -> Iterator[RowReading]:
    """Yields the readings of a grader, or of the used parts of a `multi`, including literal
    texts.
    """
    yield from _readings(grader, root, ())


def literal_faults(grader: GraderModel, root: str) -> Iterator[InvalidRequest]:
    """Yields the faults of texts without placeholders, which concern every row."""
    for reading in row_readings(grader, root):
        if not reading.template.placeholders and (fault := reading.fault({})) is not None:
            yield refused_value(reading.param, fault)


def _readings(grader: GraderModel, root: str, path: Path) -> Iterator[RowReading]:
    for field, rule in grader.row_rules.items():
        template = parse_template(getattr(grader, field))
        if not template.reads_sample:
            yield RowReading(parameter(root, (*path, field)), template, rule)
    for name, part in grader.parts.items():
        yield from _readings(part, root, (*path, "graders", name))
