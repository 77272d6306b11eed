"""Evals on the wire. Source: the hosted API's `CreateEvalRequest` and `Eval`."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from app.evals.data_sources import DATA_SOURCE, JsonlSource, SampledSource
from app.evals.evals import (
    Eval,
    EvalCriterion,
    EvalRun,
    EvalRunStatus,
    ItemStatus,
    NewEval,
    OutputItem,
)
from app.graders.definitions import Grader
from app.graders.templates import DefinitionWork
from app.kit.errors import InvalidRequest, missing_parameter
from app.kit.faults import refusal
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Metadata, dotted_path
from app.tools.schemas import RegistryWarning, warnings_of

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
        return cls.read(row, warnings=warnings_of(row.unread, row.unused))


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
    """Returns the first validation fault below a path of the body. pydantic adds the kind's name to
    the location of `tagged` fields, which contain one of several kinds; it is no key of the body,
    so it is left out. An empty field means the path itself.
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


_KEPT_CALLS = ("stored_completions", "responses", "logs")
_TAGGED = frozenset({"", "source", "input_messages"})


class CreateEvalRun(ClosedBody):
    """A new run of an eval."""

    data_source: Json
    """Items to grade (`jsonl`), or prompts that a model answers first (`completions`, `responses`).
    """
    name: Name | None = None
    metadata: Metadata | None = None

    def to_source(self) -> JsonlSource | SampledSource:
        source = self.data_source.get("source")
        kind = source.get("type") if isinstance(source, dict) else None
        if kind in _KEPT_CALLS:
            raise InvalidRequest(
                f"Items of type '{kind}' are not available. Use 'file_content' or 'file_id'.",
                param="data_source.source.type",
                code="data_source_not_available",
            )
        try:
            return DATA_SOURCE.validate_python(self.data_source, context=DefinitionWork())
        except ValidationError as error:
            raise fault_of(error, "data_source", tagged=_TAGGED) from error


class ResultCountsBody(DescribedModel):
    """The items of an eval run by outcome."""

    total: int
    """All items."""
    errored: int
    """Items that could not be sampled or graded."""
    failed: int
    """Items that failed a criterion."""
    passed: int
    """Items that passed every criterion."""


class CriterionResult(DescribedModel):
    """The counts of one criterion of an eval run."""

    testing_criteria: str
    """Name of the criterion."""
    passed: int
    """Items that passed it."""
    failed: int
    """Items that failed it."""


class ModelUsage(DescribedModel):
    """The calls and tokens of one model in an eval run."""

    model_name: str
    """Name of the model."""
    invocation_count: int
    """Calls of the model."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    """Prompt tokens read from a cache."""
    total_tokens: int
    """Prompt and completion tokens."""


class EvalRunObject(DescribedModel):
    """A run of an eval over its data source, with counts and usage."""

    id: str
    object: Literal["eval.run"] = "eval.run"
    eval_id: str
    name: str
    status: EvalRunStatus
    """State of the run."""
    model: str | None
    """The model that is measured; `null` where items hold their samples."""
    data_source: Json
    """As sent, with secrets redacted."""
    created_at: int
    error: Json | None
    """Code and message of a run that failed."""
    metadata: dict[str, str] | None
    report_url: str
    """Address of this run; there is no other report."""
    result_counts: ResultCountsBody
    """Items by result."""
    per_model_usage: list[ModelUsage]
    """Calls and tokens of each model."""
    per_testing_criteria_results: list[CriterionResult]
    """Results by criterion."""
    shared_with_openai: bool = False

    @classmethod
    def of(cls, run: EvalRun, *, public_url: str) -> "EvalRunObject":
        counts = run.counts
        return cls.read(
            run,
            report_url=f"{public_url.rstrip('/')}/v1/evals/{run.eval_id}/runs/{run.id}",
            result_counts=ResultCountsBody.read(counts),
            per_model_usage=[ModelUsage(**usage) for usage in run.usage],
            per_testing_criteria_results=[CriterionResult(**result) for result in run.criteria],
        )


class EvalRunDeleted(DescribedModel):
    """The confirmation that an eval run is deleted."""

    deleted: bool = True
    run_id: str
    object: Literal["eval.run.deleted"] = "eval.run.deleted"


class OutputItemObject(DescribedModel):
    """One graded item of an eval run."""

    id: str
    object: Literal["eval.run.output_item"] = "eval.run.output_item"
    eval_id: str
    run_id: str
    created_at: int
    datasource_item_id: int
    """Number of the item, from 0."""
    sample_index: int
    """Number of the sample among those of its item, from 0 (an extension)."""
    datasource_item: Json
    """The item."""
    status: ItemStatus
    """Result of the item."""
    results: list[Json]
    """Score and verdict of each criterion."""
    sample: Json
    """The graded sample: input, output, usage and error."""

    @classmethod
    def of(cls, item: OutputItem) -> "OutputItemObject":
        return cls.read(item, datasource_item_id=item.index)
