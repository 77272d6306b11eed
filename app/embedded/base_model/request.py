"""The base model that the options of `agent-rft up` request.

Owns the options that contradict each other or would have no effect. Reads no model.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.domain.models.models import BaseModelSpec, find_base_model
from app.domain.models.start_plans import EngineKind
from app.embedded.errors import WrongOptions
from app.settings.models import known_by_name


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A base model as the options of `up` name it."""

    model: str
    engine: EngineKind = "cpu"
    revision: str | None = None
    context_length: int | None = None
    engine_share: float | None = None

    @property
    def shipped(self) -> BaseModelSpec | None:
        """The shipped model of that name, which needs no preparation."""
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
    """Returns the request of the options, `None` without `--model`. Raises `WrongOptions`."""
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
