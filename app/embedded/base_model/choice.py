"""The choice of the base model of one start, and its effect on later starts.

Owns the rule of `base_model.json`: only the process with the directory's lock writes and reads it,
so that two starts at once cannot combine the model of one with the data of the other.
"""

from dataclasses import dataclass
from typing import Final, assert_never

from app.domain.models.models import BaseModelSpec
from app.embedded.base_model.last_model import (
    ChosenModel,
    forget_chosen_model,
    read_chosen,
    refuse_missing,
    write_chosen,
)
from app.embedded.errors import DataDirUnusable, WrongOptions
from app.embedded.state import DataDir
from app.settings.host import HostSettings
from app.settings.models import ModelSettings, shipped_models

_SHIPPED: Final = "null"


@dataclass(frozen=True, slots=True)
class LastModel:
    """The model of the last start, unless the settings name others."""


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """The model served by default, for this and later starts."""


ModelChoice = ChosenModel | ShippedModel | LastModel


def shipped_choice(spec: BaseModelSpec) -> ModelChoice:
    """Returns the choice of a shipped model."""
    return ShippedModel() if spec in shipped_models() else ChosenModel(spec=spec, engine="cpu")


def settle_base_model(
    choice: ModelChoice, data_dir: DataDir, host: HostSettings
) -> ChosenModel | None:
    """Returns the model of this start and stores it for later ones; `None` means the models of the
    settings. The caller holds the directory's lock. Raises `EmbeddedError`.
    """
    try:
        match choice:
            case ChosenModel():
                write_chosen(data_dir, choice)
                return choice
            case ShippedModel():
                forget_chosen_model(data_dir)
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
    """Returns the base models that `up` without `--model` would serve from a directory. Raises
    `EmbeddedError`.
    """
    chosen = None if _settings_name_models() else read_chosen(data_dir)
    if chosen is None:
        return ModelSettings().base_models
    refuse_missing(chosen)
    return (chosen.spec,)


def refuse_settings(host: HostSettings, *, cure: str) -> None:
    """Refuses a user's own model together with settings that name other models or another engine.
    Raises `WrongOptions`.
    """
    if _settings_name_models():
        raise WrongOptions(f"AGENT_RFT_BASE_MODELS is set: leave out {cure}")
    if host.engine_url is not None:
        raise WrongOptions(f"AGENT_RFT_ENGINE_URL is set: leave out {cure}")


def _settings_name_models() -> bool:
    return "base_models" in ModelSettings().model_fields_set


def to_arguments(choice: ModelChoice) -> tuple[str, ...]:
    """Returns the arguments that pass the choice to a detached start."""
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
    """Reads the value of `--chosen-model`."""
    return ShippedModel() if text == _SHIPPED else ChosenModel.model_validate_json(text)
