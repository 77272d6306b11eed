"""Starts of `agent-rft up --model` that are refused before anything is made or started."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from transformers import AutoConfig

from app.local.state import free_port
from tests.support.cli.command_line import agent_rft
from tests.support.embedded.installation import cli
from tests.support.learning.architectures import ARCHITECTURES
from tests.support.models.tiny_model import build_tokenizer, save_tiny_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def _command(data: Path, *options: str) -> tuple[str, ...]:
    return ("up", "--data-dir", str(data), "--port", str(free_port()), "--detach", *options)


def _refused(data: Path, *options: str, **environment: str) -> tuple[int, str]:
    return _checked(data, agent_rft(*_command(data, *options), **environment))


def _checked(data: Path, done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    assert done.stdout == ""
    assert not (data / "base_model.json").exists()
    assert not (data / "services.json").exists()
    assert not (data / "postgres").exists()
    return done.returncode, done.stderr


def _config_only(directory: Path, kind: str, **own: object) -> Path:
    """Writes a model without weights: enough to refuse it."""
    AutoConfig.for_model(kind, **own).save_pretrained(directory)
    build_tokenizer().save_pretrained(directory)
    return directory


def test_options_of_a_model_need_one(tmp_path: Path) -> None:
    assert _refused(tmp_path / "data", "--engine", "vllm")[0] == 2
    code, said = _refused(tmp_path / "data", "--model", "x/y", "--cpu")
    assert (code, "add --engine vllm" in said) == (2, True)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("no-such-directory", "there is no such directory, and it is not a hub id"),
        (".", "config.json"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, named: str, says: str) -> None:
    named = str(tmp_path) if named == "." else named
    code, said = _refused(tmp_path / "data", "--model", named)
    assert (code, says in said) == (8, True), said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--model", "tiny-agent", "--engine", "vllm", "--cpu", "--context-length", "64"),
            "--engine, --cpu, --context-length: --model tiny-agent selects a shipped",
        ),
        (("--model", "DIR", "--revision", "v9"), "--revision chooses a commit of the hub"),
        (("--model", "DIR", "--context-length", "999999"), "--context-length 999999: "),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    tmp_path: Path, tiny: Path, options: tuple[str, ...], says: str
) -> None:
    words = [str(tiny) if word == "DIR" else word for word in options]
    code, said = _refused(tmp_path / "data", *words)
    assert (code, says in said) == (2, True), said


@pytest.mark.long
def test_a_config_that_transformers_refuses_is_refused_in_one_sentence(
    tmp_path: Path, tiny: Path
) -> None:
    directory = tmp_path / "model"
    shutil.copytree(tiny, directory)
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "hidden_size": "many"}))
    code, said = _refused(tmp_path / "data", "--model", str(directory))
    assert (code, "model is refused: " in said) == (9, True), said
    assert "Traceback" not in said


@pytest.mark.long
def test_a_model_that_the_engine_cannot_serve_is_refused_with_the_reason(tmp_path: Path) -> None:
    kind, own = ARCHITECTURES["gpt-oss"]
    directory = _config_only(tmp_path / "model", kind, **own, num_hidden_layers=2, vocab_size=640)
    code, said = _refused(tmp_path / "data", "--model", str(directory))
    assert code == 9, said
    assert "model is refused: the CPU engine cannot serve it: its attention has sinks" in said


@pytest.mark.long
def test_a_model_that_does_not_fit_is_refused_with_what_helps(tmp_path: Path) -> None:
    large = {"hidden_size": 16_384, "intermediate_size": 262_144, "num_hidden_layers": 8}
    heads = {"num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128}
    directory = _config_only(tmp_path / "model", "qwen3", **large, **heads, vocab_size=640)
    code, said = _refused(tmp_path / "data", "--model", str(directory))
    assert code == 10, said
    assert "engine: weights, plain and packed" in said, "the plan is printed"
    assert "model does not fit here" in said
    assert "take a smaller model" in said


def test_a_hub_model_is_refused_with_the_reason_of_the_hub(tmp_path: Path) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path / "hub")}
    done = subprocess.run(
        cli(*_command(tmp_path / "data", "--model", "somebody/tiny")),
        env={**os.environ, **offline},  # which the hub's client reads when it is imported
        capture_output=True,
        text=True,
        check=False,
    )
    code, said = _checked(tmp_path / "data", done)
    assert (code, "HF_HUB_OFFLINE is set" in said) == (8, True), said


def test_a_model_and_settings_that_name_others_contradict_each_other(tmp_path: Path) -> None:
    spec = json.dumps([{"name": "m", "path": "/m", "context_length": 64}])
    code, said = _refused(tmp_path / "data", "--model", "x/y", AGENT_RFT_BASE_MODELS=spec)
    assert (code, "AGENT_RFT_BASE_MODELS is set" in said) == (2, True)


@pytest.mark.long
def test_vllm_without_a_gpu_is_refused_with_the_option_that_helps(
    tmp_path: Path, tiny: Path
) -> None:
    code, said = _refused(tmp_path / "data", "--model", str(tiny), "--engine", "vllm")
    assert code == 9
    assert "add --cpu for vLLM's CPU build" in said


@pytest.mark.long
def test_vllm_is_not_installed_without_consent(tmp_path: Path, tiny: Path) -> None:
    options = ("--model", str(tiny), "--engine", "vllm", "--cpu")
    absent = str(tmp_path / "absent")
    code, said = _refused(tmp_path / "data", *options, AGENT_RFT_VLLM_PYTHON=absent)
    assert (code, f"{absent} does not exist" in said) == (11, True), said
