"""Lists the engines that a start can have: command line, configuration and readiness of each.

Must not know how children are supervised.
"""

import os
from pathlib import Path
from typing import Final, assert_never

from app.domain.models.start_plans import EngineKind
from app.domain.processes.interpreters import running_module
from app.embedded.base_model.last_model import ChosenModel
from app.embedded.children.probes import http_ok, log_size, processor_time
from app.embedded.children.processes import ChildSpec
from app.embedded.children.vllm_log import root_cause
from app.embedded.layout import HOST, PASSIVE_THREADS
from app.embedded.state import DataDir
from app.settings.environment import inherited_environment
from app.settings.models import to_models_json
from app.settings.settings import Settings

_LOADING_S: Final = 180.0
"""Seconds for loading: half a gigabyte of libraries may come from a cold disk."""
_SILENT_S: Final = 600.0
"""Seconds without a log line: vLLM compiles and captures graphs for minutes silently."""
_STOPPING_S: Final = 20.0


def engine_child(
    settings: Settings, data_dir: DataDir, port: int, *, chosen: ChosenModel | None
) -> ChildSpec:
    models = data_dir.root / "models.json"
    log = data_dir.logs / "engine.log"

    def write_models() -> None:
        models.touch(mode=0o600)
        served = tuple(spec for spec in settings.base_models if spec.refusal is None)
        models.write_text(to_models_json(served))

    on_vllm = chosen is not None and _is_vllm(chosen.engine)
    return ChildSpec(
        name="engine",
        command=(
            *running_module("workers.engines.vllm" if on_vllm else "workers.engines.cpu"),
            *("--host", HOST, "--port", str(port), "--models-json", str(models)),
            *(() if on_vllm else ("--compute-dir", str(data_dir.compute))),
            *_sizes(chosen, data_dir),
        ),
        environment={
            **inherited_environment(),
            **PASSIVE_THREADS,
            "OMP_NUM_THREADS": str(os.cpu_count() or 1),
            "TOKENIZERS_PARALLELISM": "false",
            "AGENT_RFT_COMPUTE": settings.compute.model_dump_json(),
            "AGENT_RFT_ENGINE_API_KEY": settings.engine_api_key.get_secret_value(),
        },
        log=log,
        prepare=write_models,
        ready=http_ok(HOST, port, "/health"),
        ready_timeout_s=_SILENT_S if on_vllm else _LOADING_S,
        progress=log_size(log),
        works=(lambda _: None) if on_vllm else processor_time,  # vLLM may hang in a loop
        cause=root_cause if on_vllm else lambda _: None,
        stop_timeout_s=_STOPPING_S,
        directory=data_dir.root,
    )


def _is_vllm(engine: EngineKind) -> bool:
    match engine:
        case "cpu":
            return False
        case "vllm" | "vllm_cpu":
            return True
        case _:
            assert_never(engine)


def _sizes(chosen: ChosenModel | None, data_dir: DataDir) -> tuple[str, ...]:
    """Returns the arguments that the plan of a start gives its engine."""
    if chosen is None:
        return ()
    match chosen.engine:
        case "cpu":
            return () if chosen.kv_mib is None else ("--kv-pool-mib", str(chosen.kv_mib))
        case "vllm":
            share = chosen.engine_share
            return (
                *_vllm(chosen, data_dir.root),
                *(() if share is None else ("--gpu-memory-utilization", f"{share:g}")),
            )
        case "vllm_cpu":
            # In the precision of a trainer on a CPU, so that both agree to the last digits.
            sizes = () if chosen.kv_mib is None else ("--kv-cache-mib", str(chosen.kv_mib))
            return (*_vllm(chosen, data_dir.root), "--cpu", "--dtype", "float32", *sizes)
        case _:
            assert_never(chosen.engine)


def _vllm(chosen: ChosenModel, root: Path) -> tuple[str, ...]:
    return ("--python", str(chosen.vllm_python), "--cache-dir", str(root / "vllm"))
