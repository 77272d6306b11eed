"""Connects a run's model graders to their judges: the service's engine, the operator's servers or
the customer's own.

Must not know prompts. A tuned model is looked up once, so that a job's rewards come from the same
model to its end, even if the model's name is deleted meanwhile.
"""

from app.domain.models.models import find_base_model
from app.gateways.endpoints.limits import OutagePatience
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.judges import EngineModel, EngineModels, Judges, RoutedJudges
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


def operators_endpoints(context: RunContext) -> EndpointPool:
    """Returns the pool for the operator's own judges and embeddings."""
    settings = context.settings
    configured = EndpointPool(
        context.judge_egress or context.egress,
        timeout_s=settings.egress.call_timeout_s,
        max_retries=settings.egress.max_retries,
        outages=OutagePatience(is_known=True),
    )
    context.activity.calls_operators_through(configured)
    return configured


def run_judges(
    context: RunContext, endpoints: EndpointPool, signer: CallSigner, *, operators: EndpointPool
) -> Judges:
    settings = context.settings
    found: dict[str, EngineModel] = {}

    async def find(name: str) -> EngineModel | None:
        if name not in found:
            model = await _find(context, name)
            if model is None:
                return None
            found[name] = model
        return found[name]

    return RoutedJudges(
        EngineModels(context.inference, context.adapters, find),
        configured=settings.judges if context.judge_egress is not None else (),
        configured_endpoints=operators,
        endpoints=endpoints,
        signer=signer,
    )


async def _find(context: RunContext, name: str) -> EngineModel | None:
    base = find_base_model(context.settings.base_models, name)
    if base is not None:
        return EngineModel(name, base.name, None)

    async def read() -> EngineModel | None:
        async with context.unit() as unit:
            tuned = await unit.models.get(name)
        return None if tuned is None else EngineModel.of_tuned(tuned)

    return await retry_while_unavailable(read)
