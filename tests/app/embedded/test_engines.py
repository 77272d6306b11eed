"""The engine's command line, by the plan of a start."""

import json
import os
import time
from pathlib import Path

import pytest

from app.local.base_model import ChosenModel
from app.local.layout import worker_child
from app.local.processes import ChildSpec
from app.local.state import DataDir
from app.local.supervisor import engine_child
from app.models.compute import EngineKind
from app.models.models import BaseModelSpec
from app.settings import Settings
from workers.engines.vllm import _arguments

SPEC = BaseModelSpec(name="m", path="/models/m", context_length=2048)


def _child(root: Path, engine: EngineKind, **sizes: float) -> ChildSpec:
    settings = Settings(
        database_url="postgresql+psycopg://u@h/d", secret_key="x" * 32, base_models=(SPEC,)
    )
    values = {"spec": SPEC, "engine": engine, "vllm_python": "/v/bin/python", **sizes}
    chosen = ChosenModel.model_validate(values)
    return engine_child(settings, DataDir.at(root), 8311, chosen=chosen)


def test_vllm_gets_the_planned_share_of_the_gpu(tmp_path: Path) -> None:
    child = _child(tmp_path, "vllm", engine_share=0.45)
    assert child.command[1:4] == ("-P", "-m", "workers.engines.vllm")
    read = _arguments(child.command[4:])  # the launcher takes every word of it
    assert (read.port, read.python, read.cpu) == (8311, "/v/bin/python", False)
    assert read.gpu_memory_utilization == 0.45
    assert read.cache_dir == tmp_path / "vllm"


def test_an_engine_gets_no_model_that_was_refused(tmp_path: Path) -> None:
    refused = SPEC.model_copy(update={"name": "old", "refusal": "it has no linear layer"})
    settings = Settings(
        database_url="postgresql+psycopg://u@h/d", secret_key="x" * 32, base_models=(SPEC, refused)
    )
    child = engine_child(settings, DataDir.at(tmp_path), 8311, chosen=None)
    assert child.prepare is not None
    child.prepare()
    served = json.loads((tmp_path / "models.json").read_text())
    assert [spec["name"] for spec in served] == [SPEC.name]


def test_the_cpu_build_computes_in_the_trainers_precision(tmp_path: Path) -> None:
    read = _arguments(_child(tmp_path, "vllm_cpu", kv_mib=300).command[4:])
    assert (read.cpu, read.dtype, read.kv_cache_mib) == (True, "float32", 300)


def test_the_cpu_engine_gets_the_planned_cache(tmp_path: Path) -> None:
    child = _child(tmp_path, "cpu", kv_mib=300)
    assert child.command[3] == "workers.engines.cpu"
    assert child.command[-4:] == (
        *("--compute-dir", str(tmp_path / "compute")),
        *("--kv-pool-mib", "300"),
    )


@pytest.mark.parametrize(("engine", "counts"), [("cpu", True), ("vllm", False)])
def test_an_engine_that_loads_on_a_busy_machine_works(
    tmp_path: Path, engine: EngineKind, counts: bool
) -> None:
    _assert_work_counts(_child(tmp_path, engine), counts=counts)


def test_a_worker_of_runs_has_one_job_at_a_time(tmp_path: Path) -> None:
    """Trainers of several jobs would share the memory that was planned for one."""
    settings = Settings(database_url="postgresql+psycopg://u@h/d", secret_key="x" * 32)
    command = worker_child(settings, DataDir.at(tmp_path), "runs").command
    assert "-Q runs -c 1 " in " ".join(command)


def _assert_work_counts(child: ChildSpec, *, counts: bool) -> None:
    """Computes until the child's measure of work has changed, if it does."""
    before, began = child.works(os.getpid()), time.process_time()
    while child.works(os.getpid()) == before and time.process_time() - began < 0.2:
        pass
    assert (child.works(os.getpid()) != before) is counts


@pytest.mark.parametrize("engine", ["cpu", "vllm"])
def test_a_growing_log_is_progress(tmp_path: Path, engine: EngineKind) -> None:
    child = _child(tmp_path, engine)
    before = child.progress()
    child.log.write_text("Loading safetensors checkpoint shards: 1/2")
    assert child.progress() != before
