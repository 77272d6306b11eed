"""The union of all graders, and its reader."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WrapValidator

from app.graders.grader_model import AUTO, GraderModel, RowRule, graders_in, models_of, read_of
from app.graders.json_schemas import CHECK_LIMIT_S, JsonSchemaFault
from app.graders.kinds import SingleGrader
from app.graders.kinds.multi import MultiGrader
from app.graders.templates import (
    DefinitionWork,
    MissingVariable,
    RenderedTooLong,
    Template,
    parse_template,
)
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import JudgeName, Path, parameter, value_of


class AutoGrader(GraderModel):
    """The grader that fits the rows, chosen before the job exists (an extension)."""

    # A key that nothing reads would be lost with it, so that it is refused.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["auto"]
    name: str | None = Field(default=None, min_length=1, max_length=256)
    """Name of the chosen grader; absent: its type."""
    model: JudgeName | None = None
    """Name of a judge, for rows without a reference."""


def pattern_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    ends = time.monotonic() + CHECK_LIMIT_S
    for root, definition in definitions:
        for path, grader in graders_in(definition):
            field = grader.compiled_field
            if field is None:
                continue
            param = parameter(root, (*path, field))
            if time.monotonic() > ends:
                late = "those before it take too long together; make them simpler"
                yield refused_value(param, late)
                continue
            try:
                grader.check_compiled()
            except JsonSchemaFault as fault:
                yield refused_value(param, str(fault))


AnyGrader = SingleGrader | MultiGrader
_MODELS: Final = models_of(AnyGrader)
_GRADER: Final = "grader"
_PART: Final = len((_GRADER, "graders", "name"))


def read_grader(sent: Any, *, work: DefinitionWork | None = None) -> AnyGrader:
    grader: AnyGrader = read_of(_MODELS, sent, work=work)
    return grader


def read_grader_or_auto(sent: Any) -> AnyGrader | AutoGrader:
    """Returns a grader or `auto`, for callers that have rows. Raises `ValidationError`."""
    if isinstance(sent, AutoGrader):
        return sent
    if isinstance(sent, dict) and sent.get("type") == AUTO:
        return AutoGrader.model_validate(sent)
    grader: AnyGrader = read_of(_MODELS, sent, beside=(AUTO,))
    return grader


def unused_paths(method: Any) -> frozenset[Path]:
    try:
        names = read_grader(value_of(method, _GRADER)).unused_parts
    except ValueError:  # pydantic raises its two kinds
        return frozenset()
    return frozenset((_GRADER, "graders", name) for name in names)


def is_used(path: Path, unused: frozenset[Path]) -> bool:
    return path[:_PART] not in unused


def passing_score(kind: str) -> float | None:
    model = _MODELS.get(kind)
    return None if model is None else model.passing_score


Grader = Annotated[
    AnyGrader,
    Field(discriminator="type"),
    WrapValidator(lambda sent, _, info: read_grader(sent, work=DefinitionWork.of(info))),
]
GRADER_MODELS: Final[tuple[type[BaseModel], ...]] = tuple(_MODELS.values())


@dataclass(frozen=True, slots=True)
class RowReading:
    param: str
    template: Template
    rule: RowRule

    def fault(self, item: Mapping[str, Any]) -> str | None:
        try:
            return self.rule.fault(self.template.render(sample={}, item=item))
        except MissingVariable:
            return None
        except RenderedTooLong as error:
            return str(error)


def row_readings(grader: GraderModel, root: str) -> Iterator[RowReading]:
    yield from _readings(grader, root, ())


def literal_faults(grader: GraderModel, root: str) -> Iterator[InvalidRequest]:
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
