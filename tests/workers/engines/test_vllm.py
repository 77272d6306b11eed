from pathlib import Path

import pytest

from app.domain.models import BaseModelSpec
from workers.engines.vllm import VllmOptions, vllm_command, vllm_environment


def _spec(**changes: object) -> BaseModelSpec:
    fields = {"name": "qwen3-4b-2026-01-01", "path": "Qwen/Qwen3-4B", "context_length": 8192}
    return BaseModelSpec.model_validate({**fields, **changes})


def _value(command: tuple[str, ...], flag: str) -> str:
    return command[command.index(flag) + 1]


def test_command_keeps_the_contract() -> None:
    command = vllm_command(_spec(), VllmOptions(port=9001), python="/vllm/bin/python")
    assert command[:3] == ("/vllm/bin/python", "-m", "vllm.entrypoints.openai.api_server")
    assert _value(command, "--model") == "Qwen/Qwen3-4B"
    assert _value(command, "--served-model-name") == "qwen3-4b-2026-01-01"
    assert _value(command, "--host") == "127.0.0.1"
    assert _value(command, "--port") == "9001"
    assert _value(command, "--max-model-len") == "8192"
    assert _value(command, "--logprobs-mode") == "processed_logprobs"
    assert _value(command, "--generation-config") == "vllm"
    assert _value(command, "--block-size") == "32"
    assert _value(command, "--tool-call-parser") == "hermes"
    assert {"--enable-lora", "--enable-prefix-caching", "--enable-auto-tool-choice"} <= {*command}
    assert "--chat-template" not in command


def test_command_follows_the_model(tmp_path: Path) -> None:
    spec = _spec(lora_rank=20, chat_template=tmp_path / "t.jinja")
    command = vllm_command(spec, VllmOptions(), python="python")
    assert _value(command, "--max-lora-rank") == "32"
    assert _value(command, "--chat-template") == str(tmp_path / "t.jinja")


def test_a_rank_vllm_cannot_serve_is_refused() -> None:
    with pytest.raises(ValueError, match="up to 512"):
        vllm_command(_spec(lora_rank=1024), VllmOptions(), python="python")


def test_cpu_builds_get_an_explicit_cache_instead_of_a_share() -> None:
    options = VllmOptions(kv_cache_gib=1)
    assert "--gpu-memory-utilization" not in vllm_command(_spec(), options, python="python")
    assert _value(vllm_command(_spec(), VllmOptions(), python="p"), "--gpu-memory-utilization")
    environment = vllm_environment(options, api_key="k", cache_dir=Path("/cache"))
    assert environment["VLLM_CPU_KVCACHE_SPACE"] == "1"


def test_the_key_is_in_the_environment_only_and_development_mode_is_off() -> None:
    environment = vllm_environment(VllmOptions(), api_key="sk-secret", cache_dir=Path("/cache"))
    assert environment["VLLM_API_KEY"] == "sk-secret"
    assert environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"
    assert environment["VLLM_SERVER_DEV_MODE"] == "0"
    assert "sk-secret" not in " ".join(vllm_command(_spec(), VllmOptions(), python="python"))
