"""Resume, baseline, steps, report of a reinforcement run. Imports torch, which takes seconds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.database import RunUnitOfWork
from app.files.datasets import DatasetRow
from app.graders.embeddings import build_embeddings
from app.graders.judge import Judges
from app.graders.judge_calls import EngineModel, EngineModels, RoutedJudges
from app.graders.scorer import GradingPorts
from app.jobs.learning import (
    AUTO,
    AnyMode,
    Learning,
    MismatchOptions,
    ObjectiveOptions,
    StreamingOptions,
    SyncOptions,
    Truncation,
    resolved_learning,
    resolved_mode,
)
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.response_formats import named_effort, turn_tokens
from app.jobs.stop_rules import RuleTrigger
from app.jobs.supervised import Auto
from app.kit.endpoint_limits import OutagePatience
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.kit.errors import RunFailed
from app.models.compute import ComputeChoice
from app.models.models import BASE_MODEL_UNSUPPORTED, find_base_model
from app.rollouts.renderer import Renderer
from app.tools.sandbox import build_sandbox
from workers.compute import is_computing, run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.environments.http_environment import EnvironmentEndpoint, HttpEnvironment
from workers.environments.tool_environment import HttpTools, JobTools, SingleTurn, ToolEnvironment
from workers.grading.job_grader import build_group_scorer
from workers.learning.advantages import ShapingConfig
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import MismatchConfig, TrainerOptions
from workers.methods.reinforcement.evaluation import NoReport, build_report
from workers.methods.reinforcement.learning_check import LearningCheck
from workers.methods.reinforcement.loop import ReinforcementLoop, TrainingParts
from workers.methods.reinforcement.rows import Plan
from workers.methods.schedulers.asynchronous import AsyncMode
from workers.methods.schedulers.mode import (
    GroupConfig,
    Mode,
    SchedulerContext,
    StreamingMode,
    SyncMode,
)
from workers.rollout.environment import EpisodeLimits, Policy, RolloutEnvironment, RolloutTools
from workers.rollout.episode import RolloutSetup, RolloutSlots
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, ChosenAdapter, TrainingResult, best_adapter
from workers.runs.opening import (
    AdapterSettings,
    ResumedState,
    adapter_settings_of_resume,
    committed_step,
    fetch_adapter,
    restore,
    way_to_compute,
    with_machine,
)
from workers.runs.publisher import Publisher
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StoppedEarly

TEMPERATURE = 1.0


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
        options=with_machine(
            trainer_options(
                learning,
                minibatches=method.hyperparameters.minibatches,
                start=context.start,
            ),
            context,
            way,
        ),
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
        outages=OutagePatience(is_known=context.job.usage is not None),
        clock=context.clock,
    )
    context.activity.calls_through(endpoints)
    operators = EndpointPool(
        context.judge_egress or context.egress,
        timeout_s=egress.call_timeout_s,
        max_retries=egress.max_retries,
        outages=OutagePatience(is_known=True),
        clock=context.clock,
    )
    context.activity.calls_operators_through(operators)
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
    from workers.environments.tool_environment import McpTools  # noqa: PLC0415 - its library takes a second

    return JobTools([http, McpTools(endpoints, signer, method.mcp_servers)])


def trainer_options(
    learning: Learning, *, minibatches: int = 1, start: Path | None = None
) -> TrainerOptions:
    return TrainerOptions(
        start=start,
        minibatches=minibatches,
        loss=learning.loss.type,
        loss_options=learning.loss.options(),
        mismatch=mismatch_config(learning.mismatch),
        kl_coefficient=learning.objective.kl_coefficient,
    )


def mismatch_config(options: MismatchOptions) -> MismatchConfig:
    truncation, mask = options.truncation, options.sequence_mask
    if truncation == AUTO:
        raise ValueError("the truncation was not resolved")
    config = MismatchConfig(max_log_ratio=options.max_log_ratio)
    if isinstance(truncation, Truncation):
        config = replace(config, truncation=truncation.level, cap=truncation.cap)
    if mask is not None:
        band = _resolved(mask.low, "lower end"), _resolved(mask.high, "upper end")
        config = replace(config, sequence_mask=mask.type, band=band)
    return config


def shaping_config(options: ObjectiveOptions) -> ShapingConfig:
    overlong = options.overlong
    config = ShapingConfig(
        token_penalty=_resolved(options.token_penalty, "token penalty"),
        token_budget=_resolved(options.token_budget, "token budget"),
        call_budget=options.call_budget,
        call_budget_penalty=options.call_budget_penalty,
        repeated_call_penalty=options.repeated_call_penalty,
        clamp_limit_stop=options.clamp_limit_stop,
    )
    if overlong is None:
        return config
    return replace(
        config,
        overlong_limit=overlong.limit,
        overlong_buffer=_resolved(overlong.buffer, "buffer"),
        overlong_penalty=overlong.penalty,
    )


_Resolved = TypeVar("_Resolved", int, float)


def _resolved(value: _Resolved | Auto, name: str) -> _Resolved:
    if value == AUTO:
        raise ValueError(f"the {name} was not resolved")
    return value


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

    async def read(unit: RunUnitOfWork) -> EngineModel | None:
        tuned = await unit.models.get(name)
        return None if tuned is None else EngineModel.of_tuned(tuned)

    return await context.in_unit(read)


def build_mode(options: AnyMode, context: SchedulerContext) -> Mode:
    if isinstance(options, SyncOptions):
        return SyncMode(context)
    if isinstance(options, StreamingOptions):
        return StreamingMode(context, minibatches=options.minibatches)
    return AsyncMode(context, options)


async def train(
    context: RunContext,
    method: ReinforcementMethod,
    plan: Plan,
    *,
    rows: tuple[Sequence[DatasetRow], Sequence[DatasetRow]],
    reporter: Reporter,
    check_stop: CheckStop,
) -> TrainingResult:
    """`rows`: those to train on, those held out. The last step before an early end is validated."""
    settings = await adapter_settings_of_resume(
        context, learning_rate=plan.hyperparameters.learning_rate
    )
    way = await way_to_compute(context)
    parts = await run_on_compute_thread(assemble, context, method, plan, settings, way)
    reporter.meter.accelerators = parts.accelerators
    check = LearningCheck(context, method, plan, reporter=reporter)
    try:
        await parts.publisher.forget_earlier_claims()
        loop = ReinforcementLoop(context, method, plan, parts, reporter)
        ended = await _train_steps(
            context, loop, parts, rows=rows, reporter=reporter, check=check, check_stop=check_stop
        )
        chosen = await best_adapter(context)
        start = await _start_policy(context, parts)
        tuned = await parts.publisher.policy_of(
            chosen.step, lambda: fetch_adapter(context, chosen.key)
        )
        await loop.compare(rows[1], step=chosen.step, start=start, tuned=tuned)
    finally:
        await parts.mode.close()
        parts.trainer.close()
        await parts.publisher.close()
    report = await _report(context, method, plan, reporter, chosen=chosen, ended=ended)
    return TrainingResult(chosen.step, chosen.key, report, ended)


async def _train_steps(
    context: RunContext,
    loop: ReinforcementLoop,
    parts: TrainingParts,
    *,
    rows: tuple[Sequence[DatasetRow], Sequence[DatasetRow]],
    reporter: Reporter,
    check: LearningCheck,
    check_stop: CheckStop,
) -> RuleTrigger | None:
    """Returns the rule that ended the training early, if any."""
    train_rows, valid_rows = rows
    resumed = await _resume(context, parts)
    await loop.baseline(valid_rows)
    if resumed.step == 0:
        await check.after_baseline()
    await reporter.stopping.load()
    try:
        await loop.steps(
            train_rows,
            valid_rows,
            first=resumed.step + 1,
            scheduler_state=resumed.scheduler_state,
            check_stop=check_stop,
            check_learning=check.before_step,
        )
    except StoppedEarly as stop:
        await parts.mode.close()
        await loop.validate(valid_rows, step=await committed_step(context))
        return stop.trigger
    return None


async def _start_policy(context: RunContext, parts: TrainingParts) -> Policy:
    start = context.start
    if start is None:
        return parts.policy.base

    async def directory() -> Path:
        return start

    return await parts.publisher.policy_of(0, directory)


async def _report(
    context: RunContext,
    method: ReinforcementMethod,
    plan: Plan,
    reporter: Reporter,
    *,
    chosen: ChosenAdapter,
    ended: RuleTrigger | None,
) -> dict[str, Any] | None:
    """`None` if the rows cannot be compared: a trained job succeeds without the report."""
    evaluation = plan.hyperparameters.evaluation
    try:
        return await build_report(context, method, evaluation, chosen, ended)
    except NoReport as error:
        message = f"The job has no report of base against tuned: {error}."
        await reporter.message_once(message, level="warn")
        return None


async def _resume(context: RunContext, parts: TrainingParts) -> ResumedState:
    """A new run that starts from a tuned model first samples from that model, as version 0."""
    point = await restore(context, parts.trainer)
    if point.adapter is not None:
        await parts.publisher.serve(point.step, point.adapter)
    elif context.start is not None:
        await parts.publisher.serve(0, context.start)
    return point
