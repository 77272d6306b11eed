"""Checks the base models of `AGENT_RFT_BASE_MODELS` when a service starts.

Owns the refusals of the checked models, by which the API refuses their jobs. The check builds
models with torch, so it runs as a program of the GPU plane. Must not know processes of the service.
"""

import json
import subprocess
from typing import Any

from app.domain.models.models import BaseModelSpec
from app.domain.processes.exit_codes import MODEL_REFUSED
from app.domain.processes.interpreters import running_module
from app.embedded.errors import EmbeddedError, ModelRefused
from app.settings.environment import inherited_environment
from app.settings.models import known_by_name, to_models_json


def checked_models(
    models: tuple[BaseModelSpec, ...], *, on_cpu_engine: bool
) -> tuple[BaseModelSpec, ...]:
    """Returns the models with the refusal of each that cannot be trained or, where the service has
    its own CPU engine, served. Shipped models are known to work. Raises `EmbeddedError` if no
    model is left.
    """
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
