"""Evals on the wire. Source: the hosted API's `CreateEvalRequest` and `Eval`."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from app.api.schemas.common import ClosedBody, Metadata
from app.api.schemas.parameters import dotted_path
from app.api.schemas.registry import RegistryWarning, warnings_of
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, missing_parameter
from app.domain.evals.evals import Eval, EvalCriterion, NewEval
from app.domain.faults.values import refusal
from app.domain.graders.definition_work import DefinitionWork
from app.domain.graders.graders import Grader

Name = Annotated[str, StringConstraints(max_length=256)]
_GRADER: TypeAdapter[EvalCriterion] = TypeAdapter(Grader)
_MAX_CRITERIA = 32


class DataSourceConfig(ClosedBody):
    """The form of the items of an eval."""

    type: Literal["custom", "logs", "stored_completions"]
    item_schema: Json | None = None
    """JSON schema of an item."""
    include_sample_schema: Annotated[bool, Field(strict=True)] = False
    """True if criteria read `sample` beside `item`."""


class CreateEval(ClosedBody):
    """A new eval: the form of its items, and the criteria that grade them."""

    data_source_config: DataSourceConfig
    """The form of the items; only `custom` is available."""
    testing_criteria: Annotated[list[Json], Field(min_length=1, max_length=_MAX_CRITERIA)]
    """Graders that score each item."""
    name: Name | None = None
    metadata: Metadata | None = None

    def to_spec(self) -> NewEval:
        """Returns the eval as a domain value. Raises `InvalidRequest` with the parameter at
        fault.
        """
        config = self.data_source_config
        if config.type != "custom":
            raise InvalidRequest(
                f"Data sources of type '{config.type}' are not available. "
                "Use 'custom' and send the items with the run.",
                param="data_source_config.type",
                code="data_source_not_available",
            )
        if config.item_schema is None:
            raise missing_parameter("data_source_config.item_schema")
        work = DefinitionWork()
        criteria = [
            _criterion(sent, f"testing_criteria[{number}]", work)
            for number, sent in enumerate(self.testing_criteria)
        ]
        return NewEval(
            name=self.name,
            item_schema=config.item_schema,
            include_sample_schema=config.include_sample_schema,
            criteria=tuple(criteria),
            metadata=self.metadata,
        )


class UpdateEval(ClosedBody):
    """Changes of an eval; absent fields do not change, and `metadata: null` clears it."""

    name: Name | None = None
    metadata: Metadata | None = None

    def changes(self) -> dict[str, Any]:
        sent = self.model_dump(include={"name", "metadata"}, exclude_unset=True)
        return {key: value for key, value in sent.items() if key != "name" or value is not None}


class EvalObject(DescribedModel):
    """An eval: the form of its items, and the criteria that grade them."""

    id: str
    object: Literal["eval"] = "eval"
    name: str
    data_source_config: Json
    """The form of the items."""
    testing_criteria: list[Json]
    """Graders that score each item, with secrets redacted."""
    metadata: dict[str, str] | None
    created_at: int
    updated_at: int
    """Time of the last change (an extension)."""
    shared_with_openai: bool = False
    warnings: list[RegistryWarning] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Unknown keys of the criteria, and criteria that read no sample; only in the reply to a create
    (an extension).
    """

    @classmethod
    def of(cls, row: Eval) -> "EvalObject":
        return cls(
            id=row.id,
            name=row.name,
            data_source_config=row.data_source_config,
            testing_criteria=row.testing_criteria,
            metadata=row.metadata,
            created_at=row.created_at,
            updated_at=row.updated_at,
            warnings=warnings_of(row.unread, row.unused),
        )


class EvalDeleted(DescribedModel):
    """The confirmation that an eval and its runs are deleted."""

    deleted: bool = True
    eval_id: str
    object: Literal["eval.deleted"] = "eval.deleted"


def _criterion(sent: Json, path: str, work: DefinitionWork) -> EvalCriterion:
    try:
        criterion = _GRADER.validate_python(sent, context=work)
    except ValidationError as error:
        raise fault_of(error, path) from error
    if criterion.reads_environment:
        message = (
            "a grader of type 'environment' takes the rewards of a job's environment, and the "
            "items of an eval have none"
        )
        raise InvalidRequest(
            f"Invalid value for '{path}': {message}.", param=path, code="invalid_value"
        )
    for name in criterion.required_in_evals:
        if getattr(criterion, name) is None:
            raise missing_parameter(f"{path}.{name}")
    return criterion


def fault_of(
    error: ValidationError, path: str, *, tagged: frozenset[str] = frozenset()
) -> InvalidRequest:
    """Returns the first validation fault below a path of the body.

    `tagged` are the fields that contain one of several kinds. pydantic adds the name of the kind to
    the location; it is left out, because it is no key of the body. An empty field means the path
    itself.
    """
    fault = error.errors(include_url=False)[0]
    location, field = [], ""
    for part in fault["loc"]:
        if field not in tagged:
            location.append(part)
            field = str(part)
        else:
            field = f"[{part}]"
    if fault["type"].startswith("union_tag"):
        location.append("type")
    return refusal(dotted_path(path, tuple(location)), [fault])
