"""Runs of evals on the wire. Source: the hosted API's `CreateEvalRunRequest`, `EvalRun` and
`EvalRunOutputItem`.
"""

from typing import Literal

from pydantic import ValidationError

from app.api.schemas.common import ClosedBody, Metadata
from app.api.schemas.evals import Name, fault_of
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest
from app.domain.evals.data_sources import DATA_SOURCE, JsonlSource, SampledSource
from app.domain.evals.evals import EvalRun, EvalRunStatus, ItemStatus, OutputItem
from app.domain.graders.definition_work import DefinitionWork

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
        """Returns the run's data source. Raises `InvalidRequest` with the parameter at fault."""
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
        """Builds the reply. `report_url` is the run itself, because there is no other report."""
        counts = run.counts
        return cls(
            id=run.id,
            eval_id=run.eval_id,
            name=run.name,
            status=run.status,
            model=run.model,
            data_source=run.data_source,
            created_at=run.created_at,
            error=run.error,
            metadata=run.metadata,
            report_url=f"{public_url.rstrip('/')}/v1/evals/{run.eval_id}/runs/{run.id}",
            result_counts=ResultCountsBody(
                total=counts.total,
                errored=counts.errored,
                failed=counts.failed,
                passed=counts.passed,
            ),
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
        return cls(
            id=item.id,
            eval_id=item.eval_id,
            run_id=item.run_id,
            created_at=item.created_at,
            datasource_item_id=item.index,
            sample_index=item.sample_index,
            datasource_item=item.datasource_item,
            status=item.status,
            results=item.results,
            sample=item.sample,
        )
