"""The base model that the options of `agent-rft up` request.

Reads no model.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.kit.processes import MODEL_REFUSED, running_module
from app.local.state import (
    DataDir,
    DataDirUnusable,
    EmbeddedError,
    ModelNotFound,
    ModelRefused,
    WrongOptions,
    write_private,
)
from app.models.compute import EngineKind
from app.models.models import BaseModelSpec, find_base_model
from app.settings import (
    HostSettings,
    ModelSettings,
    inherited_environment,
    known_by_name,
    shipped_models,
    to_models_json,
)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    model: str
    engine: EngineKind = "cpu"
    revision: str | None = None
    context_length: int | None = None
    engine_share: float | None = None

    @property
    def shipped(self) -> BaseModelSpec | None:
        return find_base_model(known_by_name(), self.model)


def requested_model(
    model: str | None,
    engine: Literal["cpu", "vllm"],
    *,
    cpu: bool,
    revision: str | None,
    context_length: int | None,
    engine_share: float | None,
) -> ModelRequest | None:
    sent = {
        "--engine": engine == "vllm",
        "--cpu": cpu,
        "--revision": revision is not None,
        "--context-length": context_length is not None,
        "--engine-share": engine_share is not None,
    }
    names = ", ".join(name for name, is_sent in sent.items() if is_sent)
    if model is None:
        if names:
            raise WrongOptions(f"{names}: name the model too, with --model DIR or --model HUB_ID")
        return None
    request = ModelRequest(
        model,
        "vllm_cpu" if cpu else engine,
        revision=revision,
        context_length=context_length,
        engine_share=engine_share,
    )
    if not model.strip():
        raise WrongOptions("--model is empty: name a directory or a hub id, or leave it out")
    if names and request.shipped is not None:
        raise WrongOptions(
            f"{names}: --model {model} selects a shipped model, which takes none of them"
        )
    if revision is not None and Path(model).expanduser().is_dir():
        raise WrongOptions(f"--revision chooses a commit of the hub, and {model} is a directory")
    if cpu and engine != "vllm":
        raise WrongOptions("--cpu chooses a build of vLLM: add --engine vllm, or leave it out")
    if engine_share is not None and (cpu or engine != "vllm"):
        raise WrongOptions("--engine-share divides a GPU: use it with --engine vllm")
    return request


def checked_models(
    models: tuple[BaseModelSpec, ...], *, on_cpu_engine: bool
) -> tuple[BaseModelSpec, ...]:
    """Returns the models with their refusals. Raises `EmbeddedError` if none is left."""
    if all(model in known_by_name() for model in models):
        return models
    done = subprocess.run(  # noqa: S603 - our own program
        running_module("workers.engines.base_model_check", "--models-json", "-"),
        input=to_models_json(models),
        capture_output=True,
        text=True,
        env=inherited_environment(),
        check=False,
    )
    if done.returncode not in (0, MODEL_REFUSED):
        raise EmbeddedError(f"the base models could not be checked:\n{done.stderr}")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    checked = tuple(
        spec.model_copy(update={"refusal": _refusal(report, on_cpu_engine=on_cpu_engine)})
        for spec, report in zip(models, reports, strict=True)
    )
    if all(spec.refusal is not None for spec in checked):
        raise ModelRefused(
            "every base model is refused:\n"
            + "\n".join(f"{spec.name}: {spec.refusal}" for spec in checked)
        )
    return checked


def _refusal(report: dict[str, Any], *, on_cpu_engine: bool) -> str | None:
    unserved = on_cpu_engine and not report["cpu_engine"]
    return "; ".join(report["reasons"]) if report["verdict"] == "refused" or unserved else None


class ChosenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: BaseModelSpec
    """The model, with the directory of its weights as its path."""
    engine: EngineKind
    hub_id: str | None = None
    commit: str | None = None
    vllm_python: str | None = None
    """Interpreter of vLLM's environment."""
    engine_share: float | None = None
    """Share of the GPU for the engine."""
    kv_mib: int | None = None
    """Memory of keys and values of an engine on the CPU."""
    micro_batch_tokens: int | None = Field(default=None, gt=0)
    """Tokens of a micro-batch, unless the operator sets a number."""


def write_chosen(data_dir: DataDir, chosen: ChosenModel) -> None:
    write_private(data_dir.base_model_file, chosen.model_dump(mode="json"))


def read_chosen(data_dir: DataDir) -> ChosenModel | None:
    try:
        values = json.loads(data_dir.base_model_file.read_text(encoding="utf-8"))
        return _where_it_is_now(ChosenModel.model_validate(values))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as failure:
        raise DataDirUnusable(
            f"{data_dir.base_model_file} cannot be read: start with --model once more"
        ) from failure


def _where_it_is_now(chosen: ChosenModel) -> ChosenModel:
    for shipped in known_by_name():
        # Not its aliases: a directory of the user may be called so.
        if shipped.name == chosen.spec.name:
            return chosen.model_copy(update={"spec": shipped})
    return chosen


def refuse_missing(chosen: ChosenModel) -> None:
    if not (Path(chosen.spec.path) / "config.json").is_file():
        named = chosen.hub_id or chosen.spec.path
        raise ModelNotFound(
            f"{chosen.spec.path}, the base model of this data directory, is gone: bring it back, "
            f"or start with --model {named} once more"
        )


_SHIPPED: Final = "null"


@dataclass(frozen=True, slots=True)
class LastModel:
    """The model of the last start, unless the settings name others."""


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """The model served by default, for this and later starts."""


ModelChoice = ChosenModel | ShippedModel | LastModel


def shipped_choice(spec: BaseModelSpec) -> ModelChoice:
    return ShippedModel() if spec in shipped_models() else ChosenModel(spec=spec, engine="cpu")


def settle_base_model(
    choice: ModelChoice, data_dir: DataDir, host: HostSettings
) -> ChosenModel | None:
    """Returns and stores the model of this start; `None`: those of the settings. Hold the lock."""
    try:
        match choice:
            case ChosenModel():
                write_chosen(data_dir, choice)
                return choice
            case ShippedModel():
                data_dir.base_model_file.unlink(missing_ok=True)
                return None
            case LastModel():
                return _last(data_dir, host)
            case _:
                assert_never(choice)
    except OSError as failure:
        raise DataDirUnusable(f"{data_dir.base_model_file}: {failure.strerror}") from failure


def _last(data_dir: DataDir, host: HostSettings) -> ChosenModel | None:
    chosen = None if _settings_name_models() else read_chosen(data_dir)
    if chosen is not None:
        refuse_settings(
            host,
            cure=f"it, or name its models in AGENT_RFT_BASE_MODELS: {data_dir.root} was last "
            f"started with --model {chosen.hub_id or chosen.spec.path}, whose engine runs here",
        )
        refuse_missing(chosen)
    return chosen


def next_base_models(data_dir: DataDir) -> tuple[BaseModelSpec, ...]:
    """Returns the models that `up` without `--model` would serve. Raises `EmbeddedError`."""
    chosen = None if _settings_name_models() else read_chosen(data_dir)
    if chosen is None:
        return ModelSettings().base_models
    refuse_missing(chosen)
    return (chosen.spec,)


def refuse_settings(host: HostSettings, *, cure: str) -> None:
    """Raises `WrongOptions` for settings that name other models or another engine."""
    if _settings_name_models():
        raise WrongOptions(f"AGENT_RFT_BASE_MODELS is set: leave out {cure}")
    if host.engine_url is not None:
        raise WrongOptions(f"AGENT_RFT_ENGINE_URL is set: leave out {cure}")


def _settings_name_models() -> bool:
    return "base_models" in ModelSettings().model_fields_set


def to_arguments(choice: ModelChoice) -> tuple[str, ...]:
    match choice:
        case ChosenModel():
            return "--chosen-model", choice.model_dump_json()
        case ShippedModel():
            return "--chosen-model", _SHIPPED
        case LastModel():
            return ()
        case _:
            assert_never(choice)


def from_argument(text: str) -> ChosenModel | ShippedModel:
    return ShippedModel() if text == _SHIPPED else ChosenModel.model_validate_json(text)
