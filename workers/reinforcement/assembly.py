"""Builds the parts of a reinforcement run from its context: trainer, rollout setup, policy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from app.domain.errors import RunFailed
from app.domain.methods.learning import resolved_learning
from app.domain.methods.mode import resolved_mode
from app.domain.methods.reasoning_efforts import named_effort, turn_tokens
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.models.compute_choices import ComputeChoice
from app.domain.models.models import BASE_MODEL_UNSUPPORTED
from app.gateways.endpoints.limits import OutagePatience
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.embeddings import build_embeddings
from app.gateways.sandbox.client import build_sandbox
from app.grading.build import GradingPorts
from app.rendering.renderer import Renderer
from workers.compute.compute_thread import is_computing
from workers.engines.policy import EnginePolicy
from workers.environments.http_environment import HttpEnvironment
from workers.environments.http_episode import EnvironmentEndpoint
from workers.environments.http_tools import HttpTools
from workers.environments.job_tools import JobTools
from workers.environments.single_turn import SingleTurn
from workers.environments.tool_environment import ToolEnvironment
from workers.grading.build import build_group_scorer
from workers.learning.trainer import Trainer
from workers.learning.training.lora_trainer import LoraTrainer
from workers.reinforcement.learning_setup import shaping_config, trainer_options
from workers.reinforcement.plan import Plan
from workers.reinforcement.run_judges import operators_endpoints, run_judges
from workers.reinforcement.schedulers.build import build_mode
from workers.reinforcement.schedulers.groups import GroupConfig
from workers.reinforcement.schedulers.mode import Mode, SchedulerContext
from workers.rollout.environment import RolloutEnvironment
from workers.rollout.limits import EpisodeLimits
from workers.rollout.setup import RolloutSetup, RolloutSlots
from workers.rollout.tools import RolloutTools
from workers.runs.adapters.publisher import Publisher
from workers.runs.context import RunContext
from workers.runs.opening.resuming import AdapterSettings
from workers.runs.opening.trainer_machine import with_machine

TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class TrainingParts:
    trainer: Trainer
    setup: RolloutSetup
    mode: Mode
    policy: EnginePolicy
    publisher: Publisher
    accelerators: int
    """Accelerators that the trainer uses; 0 on a machine without one."""


def assemble(
    context: RunContext,
    method: ReinforcementMethod,
    plan: Plan,
    settings: AdapterSettings,
    way: ComputeChoice | None,
) -> TrainingParts:
    """Loads the model and builds the parts; takes seconds, so callers run it in a thread."""
    effort = method.hyperparameters.reasoning_effort
    learning = resolved_learning(method, context.base_model, effort)
    trainer = LoraTrainer(
        context.base_model.path,
        base_name=context.base_model.name,
        rank=settings.rank,
        alpha=settings.alpha,
        learning_rate=settings.learning_rate,
        seed=context.job.seed,
        temperature=TEMPERATURE,
        options=with_machine(trainer_options(learning, start=context.start), context, way),
    )
    policy = EnginePolicy(context.inference, base_model=context.base_model.name)
    context.activity.works_while(lambda: policy.busy.is_busy or is_computing())
    setup = _rollout_setup(context, method, plan)
    group_config = GroupConfig(
        min_group_share=context.settings.runs.min_group_share,
        shaping=shaping_config(learning.objective),
        estimator=learning.advantage.type,
    )
    options = resolved_mode(method.mode, batch_size=plan.hyperparameters.batch_size)
    mode = build_mode(options, SchedulerContext(setup, trainer, policy, group_config, policy.busy))
    return TrainingParts(
        trainer=trainer,
        setup=setup,
        mode=mode,
        policy=policy,
        publisher=Publisher(context, trainer, policy, max_staleness=options.staleness),
        accelerators=trainer.accelerators,
    )


def _environments(
    context: RunContext, method: ReinforcementMethod, endpoints: EndpointPool, signer: CallSigner
) -> Callable[[], RolloutEnvironment]:
    """Returns the function that creates the environment of each rollout."""
    spec = method.http_environment
    if spec is not None:
        endpoint = endpoints.endpoint(spec.url, rate_limit=spec.rate_limit)
        limit_s = context.settings.runs.episode_waiting_limit_s
        customer = EnvironmentEndpoint(endpoint, signer, spec.name, spec.headers, limit_s)
        return partial(HttpEnvironment, customer, job_seed=context.job.seed)
    if method.runs_tools:
        return partial(ToolEnvironment, _job_tools(method, endpoints, signer))
    return SingleTurn


def _rollout_setup(context: RunContext, method: ReinforcementMethod, plan: Plan) -> RolloutSetup:
    base = context.base_model
    egress = context.settings.egress
    signer = CallSigner(*context.settings.secret_keys, project_id=context.job.project_id)
    endpoints = EndpointPool(
        context.egress,
        timeout_s=egress.call_timeout_s,
        max_retries=egress.max_retries,
        outages=OutagePatience(is_known=context.job.step > 0),
    )
    context.activity.calls_through(endpoints)
    operators = operators_endpoints(context)
    effort = method.hyperparameters.reasoning_effort
    renderer = Renderer(
        base.path,
        tool_parser=base.tool_parser,
        chat_template=base.chat_template,
        reasoning_effort=named_effort(effort),
    )
    if method.runs_calls and renderer.tools_fault is not None:
        raise RunFailed(
            f"Model {base.name} {renderer.tools_fault}.", code=BASE_MODEL_UNSUPPORTED, param="model"
        )
    return RolloutSetup(
        renderer=renderer,
        new_environment=_environments(context, method, endpoints, signer),
        scorer=build_group_scorer(
            method.grader,
            GradingPorts(
                endpoints,
                signer,
                run_judges(context, endpoints, signer, operators=operators),
                build_sandbox(context.settings).for_project(
                    context.job.organization_id, context.job.project_id
                ),
                build_embeddings(context.settings.embeddings, operators, signer),
            ),
        ),
        limits=EpisodeLimits(
            max_episode_steps=plan.hyperparameters.max_episode_steps,
            context_length=base.context_length,
            max_turn_tokens=turn_tokens(base, effort),
        ),
        job_seed=context.job.seed,
        temperature=TEMPERATURE,
        slots=RolloutSlots(context.settings.runs.max_concurrent_rollouts),
    )


def _job_tools(
    method: ReinforcementMethod, endpoints: EndpointPool, signer: CallSigner
) -> RolloutTools:
    http = HttpTools(endpoints, signer, method.tools)
    if not method.mcp_servers:
        return http
    from workers.environments.mcp_tools import McpTools  # noqa: PLC0415 - its library takes a second

    return JobTools([http, McpTools(endpoints, signer, method.mcp_servers)])
