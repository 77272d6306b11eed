"""Prepares a start with a base model: finds it, checks it, plans its memory, measures its speed.

Owns the order: nothing is downloaded, installed or started for a model that is refused or does not
fit. Each result is printed to standard error at once. Must not know processes of the service.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Final, TypeVar, assert_never

from pydantic import BaseModel, ValidationError

from app.domain.models.models import BaseModelSpec
from app.domain.models.start_plans import (
    GROUP_SIZE,
    GROUPS,
    PROMPT_TOKENS,
    SAMPLED_TOKENS,
    EngineKind,
    StartPlan,
    StartRequest,
    StepPace,
    step_time,
)
from app.domain.models.trainer_memory import TrainerMemory
from app.domain.processes.interpreters import running_module
from app.embedded.base_model.last_model import ChosenModel
from app.embedded.base_model.request import ModelRequest
from app.embedded.base_model.source import ModelSource, fetch_weights, find_model
from app.embedded.base_model.vllm_environment import find_vllm
from app.embedded.errors import DoesNotFit, EmbeddedError, ModelRefused, WrongOptions
from app.rendering.model_files import ModelFiles, context_length
from app.settings.environment import inherited_environment
from app.settings.host import HostSettings

_PROGRAM: Final = "workers.engines.start_plans"
_LONGEST: Final[dict[EngineKind, int]] = {"cpu": 4096, "vllm_cpu": 4096, "vllm": 16_384}
"""Default limit of a rollout's context: long ones take hours on a CPU."""
_MINUTE_S: Final = 60
M = TypeVar("M", bound=BaseModel)


def prepare(
    requested: ModelRequest,
    *,
    host: HostSettings,
    memory: TrainerMemory,
    before: ChosenModel | None,
    consent: Callable[[str], bool],
) -> ChosenModel:
    """Returns the model to start. `before` is the model of the last start: a hub model keeps its
    commit unless another `revision` is requested. `memory` is the operator's. Raises
    `EmbeddedError`.
    """
    revision = requested.revision
    if revision is None and before is not None and before.hub_id == requested.model:
        revision = before.commit
    source = find_model(requested.model, revision=revision)
    _print_lines(f"base model {source.name}: {source.title}")
    spec = _spec(source, requested)
    plan = _plan(spec, requested, memory)
    fetch_weights(source)
    python = None
    match requested.engine:
        case "cpu":
            planned = plan.micro_batch_tokens or memory.micro_batch_tokens
            spec = _with_pace(spec, memory.model_copy(update={"micro_batch_tokens": planned}))
        case "vllm" | "vllm_cpu":
            on_cpu = requested.engine == "vllm_cpu"
            python = str(find_vllm(host, on_cpu=on_cpu, consent=consent))
            _print_lines(
                "seconds per step are not known before the first job: vLLM is measured by it"
            )
        case _:
            assert_never(requested.engine)
    return ChosenModel(
        spec=spec,
        engine=requested.engine,
        hub_id=source.hub_id,
        commit=source.commit,
        vllm_python=python,
        engine_share=plan.engine_share,
        kv_mib=plan.kv_mib,
        micro_batch_tokens=plan.micro_batch_tokens,
    )


def _spec(source: ModelSource, requested: ModelRequest) -> BaseModelSpec:
    try:
        longest = context_length(ModelFiles(str(source.directory)).json("config.json"))
    except ValueError as error:
        raise ModelRefused(f"{source.title}: {error}") from error
    wanted = requested.context_length or min(longest, _LONGEST[requested.engine])
    if wanted > longest:
        raise WrongOptions(
            f"--context-length {wanted}: {source.title} holds at most {longest} tokens"
        )
    if requested.context_length is None and wanted < longest:
        _print_lines(
            f"rollouts hold {wanted:,} tokens of the model's {longest:,}: --context-length changes "
            "it"
        )
    return BaseModelSpec(
        name=source.name,
        aliases=() if source.hub_id is None else (source.hub_id,),
        path=str(source.directory),
        context_length=wanted,
    )


def _plan(spec: BaseModelSpec, requested: ModelRequest, memory: TrainerMemory) -> StartPlan:
    request = StartRequest(
        spec=spec, engine=requested.engine, engine_share=requested.engine_share, memory=memory
    )
    plan = _run_planner("plan", request, StartPlan)
    _print_lines(*plan.lines)
    if plan.refusal is not None:
        raise ModelRefused(f"{spec.name} is refused: {plan.refusal}")
    if plan.problems:
        raise DoesNotFit("\n".join((f"{spec.name} does not fit here:", *plan.problems)))
    return plan


def _with_pace(spec: BaseModelSpec, memory: TrainerMemory) -> BaseModelSpec:
    """Returns the model with its measured speed, which estimates of its first jobs use, and prints
    the speed.
    """
    pace = _run_planner("pace", StartRequest(spec=spec, engine="cpu", memory=memory), StepPace)
    step = step_time(pace)
    _print_lines(
        f"speed, measured here: {pace.read:,.0f} tokens/s read, {pace.sampled:,.0f} sampled, "
        f"{pace.trained:,.0f} trained",
        f"a step of {GROUPS} prompts × {GROUP_SIZE} rollouts, each {PROMPT_TOKENS} tokens of "
        f"prompt and {SAMPLED_TOKENS} sampled: about {_shown(step.total)} "
        f"({_shown(step.sampling)} sampling, {_shown(step.training)} training), without tools",
    )
    return spec.model_copy(update={"tokens_per_s": round(step.tokens_per_s, 2)})


def _shown(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    return f"{seconds / _MINUTE_S:.1f} min"


def _run_planner(command: str, request: StartRequest, answer: type[M]) -> M:
    """Runs the planning module of the GPU plane, in a separate process that may import torch."""
    done = subprocess.run(  # noqa: S603 - our own program
        running_module(_PROGRAM, command),
        input=request.model_dump_json(),
        stdout=subprocess.PIPE,
        text=True,
        env=inherited_environment(),
        check=False,
    )
    try:
        return answer.model_validate_json(done.stdout)
    except ValidationError as error:
        raise EmbeddedError(
            f"the {command} of {request.spec.name} could not be made (status {done.returncode}); "
            "the reason is above"
        ) from error


def _print_lines(*lines: str) -> None:
    sys.stderr.write("\n".join([*lines, ""]))
    sys.stderr.flush()
