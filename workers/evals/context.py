"""The context of a claimed eval run: its rows, clients and lease."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.evals.claims import EvalRunUnitOfWork, leased_eval_run
from app.evals.data_sources import DATA_SOURCE, CriterionNeeds, JsonlSource, SampledSource, needs_of
from app.evals.evals import Eval, EvalCriterion, EvalRun, Tally, result_names
from app.files.datasets import DatasetRow
from app.graders.definitions import GRADER_MODELS, AnyGrader, Grader
from app.graders.embeddings import build_embeddings
from app.graders.judge_calls import EngineModel, EngineModels, RoutedJudges
from app.graders.kinds.ai_judge import GroupGradeRequest, GroupJudge
from app.graders.scorer import (
    GradeRequest,
    GradingPorts,
    JudgeUsage,
    ScoreFault,
    Scorer,
    ScoreResult,
    TokenUsage,
    build_scorer,
    sum_of_usages,
    within_bound,
)
from app.kit.egress import Egress
from app.kit.endpoint_limits import OutagePatience
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.kit.errors import SECRETS_LOST, RunFailed, SecretsLost
from app.kit.faults import refused_today
from app.kit.leases import Lease
from app.kit.redaction import require_sealed, restore_secrets
from app.kit.sealing import build_secret_box
from app.models.models import find_base_model
from app.settings import Settings
from app.tools.sandbox import build_sandbox
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable


@dataclass(frozen=True, slots=True)
class ScoredSamples:
    answers: Sequence[ScoreResult | ScoreFault]
    usages: Sequence[JudgeUsage]
    """Judge tokens of each sample, those of a failed score included."""


@dataclass(frozen=True, slots=True)
class SingleCriterion:
    scorer: Scorer

    async def score(self, requests: Sequence[GradeRequest]) -> ScoredSamples:
        answers = await asyncio.gather(*map(self._one, requests))
        return ScoredSamples(answers, [answer.token_usage for answer in answers])

    async def _one(self, request: GradeRequest) -> ScoreResult | ScoreFault:
        try:
            return await self.scorer.score(request)
        except ScoreFault as fault:
            return fault


@dataclass(frozen=True, slots=True)
class GroupedCriterion:
    """A criterion that compares the samples of an item with each other."""

    name: str
    judge: GroupJudge
    parts: frozenset[str]
    """Parts of a `multi` grader that judge groups; `""` for a grader that is one itself."""

    async def score(
        self,
        requests: Sequence[GradeRequest],
        conversations: Sequence[list[dict[str, Any]]],
        row: DatasetRow,
        *,
        trace_id: str,
        call_id: str,
    ) -> ScoredSamples:
        request = GroupGradeRequest(
            conversations=tuple(conversations),
            tools=row.tools,
            item=row.item,
            trace_id=trace_id,
            call_id=call_id,
            rollouts=tuple(requests),
        )
        try:
            judged = await self.judge.judge(request)
        except ScoreFault as fault:
            nothing: JudgeUsage = {}
            others = [nothing] * (len(requests) - 1)
            return ScoredSamples([fault] * len(requests), [fault.token_usage, *others])
        answers = [self._bounded(answer) for answer in judged]
        used = [_used(answer) for answer in answers]
        asked_once = sum_of_usages(
            usage for parts in used for name, usage in parts.items() if name in self.parts
        )
        own = [
            sum_of_usages(usage for name, usage in parts.items() if name not in self.parts)
            for parts in used
        ]
        return ScoredSamples(answers, [sum_of_usages([asked_once, own[0]]), *own[1:]])

    def _bounded(self, answer: ScoreResult | ScoreFault) -> ScoreResult | ScoreFault:
        try:
            return (
                answer if isinstance(answer, ScoreFault) else within_bound(answer, source=self.name)
            )
        except ScoreFault as fault:
            return fault


ItemCriterion = SingleCriterion | GroupedCriterion


def build_criterion(spec: AnyGrader, ports: GradingPorts, *, compares: bool) -> ItemCriterion:
    """`compares` is false where an item came with its one sample: nothing to compare, no prompt."""
    judge = spec.group_judge(ports, source=spec.name) if compares else None
    if judge is None:
        return SingleCriterion(build_scorer(spec, ports))
    parts = [name for name, part in spec.parts.items() if part.compares_rollouts]
    return GroupedCriterion(spec.name, judge, frozenset(parts or [""]))


def _used(answer: ScoreResult | ScoreFault) -> Mapping[str, Mapping[str, TokenUsage]]:
    if isinstance(answer, ScoreFault):
        return answer.spent
    parts = {name: part.token_usage for name, part in answer.children.items()}
    return parts or {"": answer.token_usage}


_GRADER: TypeAdapter[EvalCriterion] = TypeAdapter(Grader)


@dataclass(frozen=True, slots=True)
class EvalContext:
    clients: Clients
    lease: Lease
    of: Eval
    run: EvalRun
    source: JsonlSource | SampledSource
    criteria: list[ItemCriterion]
    needs: list[CriterionNeeds]
    tally: Tally
    done: frozenset[int]
    age_s: float

    def unit(self) -> EvalRunUnitOfWork:
        """Raises `LeaseLost` once the run was canceled or claimed again."""
        return leased_eval_run(self.clients.database, self.lease)


async def open_eval_run(clients: Clients, lease: Lease) -> EvalContext:
    """Raises `LeaseLost`, and `RunFailed` when the secrets of the eval are lost."""

    async def read_rows() -> EvalContext:
        async with leased_eval_run(clients.database, lease) as unit:
            run = await unit.run.get()
            of = await unit.evals.get(run.eval_id)
            sealed = await unit.evals.secrets(run.eval_id)
            items = await unit.items.done(run.id)
            age_s = await unit.run.age_s()
            organization_id = await unit.run.organization_id()
        source = DATA_SOURCE.validate_python(run.data_source)
        specs = _criteria(clients.settings, lease, of, sealed)
        grading = _grading_ports(clients, lease, organization_id=organization_id)
        tally = Tally(result_names(of))
        for _, status, results, usage in items:
            tally.add(status, results, usage)
        return EvalContext(
            clients=clients,
            lease=lease,
            of=of,
            run=run,
            source=source,
            criteria=[
                build_criterion(spec, grading, compares=source.sampled_model is not None)
                for spec in specs
            ],
            needs=list(needs_of(of.testing_criteria)),
            tally=tally,
            done=frozenset(position for position, *_ in items),
            age_s=age_s,
        )

    return await retry_while_unavailable(read_rows)


def _grading_ports(clients: Clients, lease: Lease, *, organization_id: str) -> GradingPorts:
    settings = clients.settings
    signer = CallSigner(*settings.secret_keys, project_id=lease.project_id)
    customers = _pool(clients.egress, settings)
    operators = _pool(clients.judge_egress, settings)
    judges = RoutedJudges(
        EngineModels(
            clients.inference, clients.adapters, lambda name: find_model(clients, lease, name)
        ),
        configured=settings.judges,
        configured_endpoints=operators,
        endpoints=customers,
        signer=signer,
    )
    return GradingPorts(
        customers,
        signer,
        judges,
        build_sandbox(settings).for_project(organization_id, lease.project_id),
        build_embeddings(settings.embeddings, operators, signer),
    )


def _criteria(
    settings: Settings, lease: Lease, of: Eval, sealed: bytes | None
) -> list[EvalCriterion]:
    secrets = {}
    try:
        if sealed is not None:
            box = build_secret_box(settings)
            secrets = box.open(sealed, project_id=lease.project_id, row_id=of.id)
        for number in range(len(of.testing_criteria)):
            require_sealed(GRADER_MODELS, of.testing_criteria, secrets, (number,))
        whole = restore_secrets(of.testing_criteria, secrets)
    except SecretsLost as error:
        raise RunFailed(
            f"The stored secrets of eval {of.id} cannot be read any more: create the eval again "
            "with its urls and headers.",
            code=SECRETS_LOST,
        ) from error
    return [_criterion(number, criterion) for number, criterion in enumerate(whole)]


def _criterion(number: int, criterion: dict[str, Any]) -> EvalCriterion:
    try:
        return _GRADER.validate_python(criterion)
    except ValidationError as error:
        raise refused_today("The run's eval", f"testing_criteria[{number}]", error) from error


def _pool(egress: Egress, settings: Settings) -> EndpointPool:
    return EndpointPool(
        egress,
        timeout_s=settings.egress.call_timeout_s,
        max_retries=settings.egress.max_retries,
        outages=OutagePatience(is_known=True),
    )


async def find_model(clients: Clients, lease: Lease, name: str) -> EngineModel | None:
    base = find_base_model(clients.settings.base_models, name)
    if base is not None:
        return EngineModel(name, base.name, None)

    async def read_tuned_model() -> EngineModel | None:
        async with leased_eval_run(clients.database, lease) as unit:
            tuned = await unit.models.get(name)
        return None if tuned is None else EngineModel.of_tuned(tuned)

    return await retry_while_unavailable(read_tuned_model)
