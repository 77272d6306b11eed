"""What the holder of an eval run has at hand: its rows, its doors, its fence."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from app.domain.evals.data_sources import DATA_SOURCE, JsonlSource, SampledSource
from app.domain.evals.evals import Criterion, Eval, EvalRun, Tally, result_names
from app.domain.graders.graders import Grader
from app.domain.jobs.redaction import restore_headers
from app.domain.models.models import find_base_model
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.inference import Inference
from app.gateways.inference.judges import EngineModel, EngineModels, RoutedJudges
from app.gateways.objects import Objects
from app.gateways.secrets import SecretBox
from app.grading.registry import GradingPorts, build_scorer
from app.grading.scorer import Scorer
from app.settings import Settings
from app.store.database import Database
from app.store.evals.claims import ClaimedEvalRun, EvalRunUnitOfWork, held_eval_run
from workers.processes.retry import retry_while_unavailable

_GRADER: TypeAdapter[Criterion] = TypeAdapter(Grader)


@dataclass(frozen=True, slots=True)
class EvalPorts:
    """What a process shares among runs."""

    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    judge_egress: Egress
    inference: Inference


@dataclass(frozen=True, slots=True)
class EvalContext:
    ports: EvalPorts
    claimed: ClaimedEvalRun
    of: Eval
    run: EvalRun
    source: JsonlSource | SampledSource
    scorers: list[Scorer]
    """One for each criterion of the eval, in order, with the real headers."""
    tally: Tally
    done: frozenset[int]
    """Places that an earlier claim has written."""

    def unit(self) -> EvalRunUnitOfWork:
        """A fenced transaction. Raises `LeaseLost` once the run is canceled or newly claimed."""
        return held_eval_run(self.ports.database, self.claimed)


async def open_eval_run(ports: EvalPorts, claimed: ClaimedEvalRun) -> EvalContext:
    """Raises `LeaseLost`."""

    async def read() -> EvalContext:
        async with held_eval_run(ports.database, claimed) as unit:
            run = await unit.run.get()
            of = await unit.evals.get(run.eval_id)
            sealed = await unit.evals.secrets(run.eval_id)
            items = await unit.items.done(run.id)
        tally = Tally(result_names(of))
        for _, status, results, usage in items:
            tally.add(status, results, usage)
        return EvalContext(
            ports=ports,
            claimed=claimed,
            of=of,
            run=run,
            source=DATA_SOURCE.validate_python(run.data_source),
            scorers=_scorers(ports, claimed, of, sealed),
            tally=tally,
            done=frozenset(place for place, *_ in items),
        )

    return await retry_while_unavailable(read)


def _scorers(
    ports: EvalPorts, claimed: ClaimedEvalRun, of: Eval, sealed: bytes | None
) -> list[Scorer]:
    settings = ports.settings
    key = settings.secret_key.get_secret_value()
    headers = {}
    if sealed is not None:
        headers = SecretBox(key).open(sealed, project_id=claimed.project_id, job_id=of.id)
    signer = CallSigner(key, project_id=claimed.project_id)
    customers = _pool(ports.egress, settings)
    judges = RoutedJudges(
        EngineModels(ports.inference, ports.objects, lambda name: find_model(ports, claimed, name)),
        configured=settings.judges,
        configured_endpoints=_pool(ports.judge_egress, settings),
        endpoints=customers,
        signer=signer,
    )
    grading = GradingPorts(customers, signer, judges)
    scorers = []
    for number, criterion in enumerate(of.testing_criteria):
        method = {"reinforcement": {"grader": criterion}}
        restored = restore_headers(method, headers.get(str(number), {}))
        spec = _GRADER.validate_python(restored["reinforcement"]["grader"])
        scorers.append(build_scorer(spec, grading))
    return scorers


def _pool(egress: Egress, settings: Settings) -> EndpointPool:
    return EndpointPool(
        egress,
        timeout_s=settings.egress.call_timeout_s,
        max_retries=settings.egress.max_retries,
    )


async def find_model(ports: EvalPorts, claimed: ClaimedEvalRun, name: str) -> EngineModel | None:
    """A base model, or one that the run's project may call at this moment."""
    base = find_base_model(ports.settings.base_models, name)
    if base is not None:
        return EngineModel(name, base.name, None)

    async def read() -> EngineModel | None:
        async with held_eval_run(ports.database, claimed) as unit:
            tuned = await unit.models.get(name)
        return None if tuned is None else EngineModel.of_tuned(tuned)

    return await retry_while_unavailable(read)
