"""The recorded list of what vLLM serves is that of its registry, and of the pinned version."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import bootstrap
from tests.support.engines.vllm_server import VLLM_PYTHON
from tests.support.learning.architectures import build_architecture
from workers.engines.base_model_check import RECORDED, is_served_by_vllm

_PROGRAM = Path(__file__).parents[2] / "support" / "engines" / "vllm_model_list.py"


@pytest.mark.vllm
def test_vllm_lists_what_is_recorded(tmp_path: Path) -> None:
    """Writes the recording instead with RECORD_VLLM_READINGS=1."""
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    done = subprocess.run(
        (VLLM_PYTHON, _PROGRAM), stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path
    )
    found = json.loads(done.stdout.splitlines()[-1])
    if os.environ.get("RECORD_VLLM_READINGS"):
        RECORDED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(RECORDED.read_text(encoding="utf-8"))


def test_the_recording_is_of_the_pinned_version() -> None:
    version = json.loads(RECORDED.read_text(encoding="utf-8"))["version"]
    assert bootstrap.vllm_requirement() == f"vllm=={version}"


def test_a_models_own_name_of_its_architecture_decides() -> None:
    model = build_architecture("Qwen3", device="meta")
    assert is_served_by_vllm(model)
    model.config.architectures = ["NobodysForCausalLM"]
    assert not is_served_by_vllm(model)
    model.config.architectures = ["NobodysForCausalLM", "LlamaForCausalLM"]
    assert is_served_by_vllm(model)
