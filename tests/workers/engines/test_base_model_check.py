"""One check says what a base model can do, from its small files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, GPT2Config

from app.models.models import BaseModelSpec
from app.settings import shipped_models, to_models_json
from tests.support.cli.command_line import agent_rft
from tests.support.learning.architectures import build_architecture
from tests.support.models.tiny_model import (
    DROPS_THINKING,
    KEEPS_THINKING,
    VOCAB_SIZE,
    save_tiny_model,
)
from tests.support.rendering.family_templates import NO_TOOLS, save_family
from workers.engines.base_model_check import check_base_model

NO_LINEAR_LAYER = (
    "The trainer cannot train this base model: none of its layers is a linear layer that LoRA can "
    "adapt."
)


def saved(directory: Path, family: str) -> BaseModelSpec:
    save_family(directory, NO_TOOLS)
    build_architecture(family).save_pretrained(directory)
    return BaseModelSpec(name=family, path=str(directory), context_length=64)


def test_the_shipped_model_works() -> None:
    (spec,) = shipped_models()
    report = check_base_model(spec)
    assert (report.verdict, report.reasons, report.tool_parser) == ("works", (), "hermes")
    assert (report.targets, report.packs, report.cpu_engine) == ("all-linear", True, True)


def test_a_model_without_calls_works_without_tools(tmp_path: Path) -> None:
    report = check_base_model(saved(tmp_path, "gpt-oss"))
    assert report.verdict == "works without tools"
    engine, tools = report.reasons
    assert engine == "the CPU engine cannot serve it: its attention has sinks; use vLLM"
    assert tools.startswith("it cannot be used with tools: its chat template writes no tool calls")
    assert (report.tool_parser, report.cpu_engine, report.vllm) == (None, False, True)


@pytest.mark.parametrize(
    ("template", "reasoning"),
    [
        (KEEPS_THINKING, None),
        (DROPS_THINKING, "qwen3"),
        (KEEPS_THINKING + "{{ '<think>' if add_generation_prompt }}", "qwen3"),
    ],
)
def test_only_a_template_with_reasoning_has_any(
    tmp_path: Path, template: str, reasoning: str | None
) -> None:
    save_tiny_model(tmp_path, template)
    spec = BaseModelSpec(name="m", path=str(tmp_path), context_length=64)
    assert check_base_model(spec).reasoning == reasoning


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"hidden_size": "many"}, "Field 'hidden_size' expected int, got str"),
        ({"num_hidden_layers": 1, "layer_types": ["x"]}, "`layer_types` entries must be in"),
        ({"num_attention_heads": 0, "head_dim": None}, ""),
    ],
)
def test_a_config_with_wrong_values_is_refused_in_one_line(
    tmp_path: Path, values: dict[str, object], says: str
) -> None:
    directory = save_tiny_model(tmp_path)
    config = json.loads((directory / "config.json").read_text()) | values
    (directory / "config.json").write_text(json.dumps(config))
    report = check_base_model(BaseModelSpec(name="m", path=str(directory), context_length=64))
    (reason,) = report.reasons
    assert report.verdict == "refused"
    assert says in reason
    assert "\n" not in reason


def _header(file: Path) -> tuple[dict[str, Any], bytes]:
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def _with_header(file: Path, header: dict[str, Any], data: bytes) -> None:
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data)


def _tokens_beyond(directory: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.add_tokens([f"<extra_{n}>" for n in range(VOCAB_SIZE - len(tokenizer) + 5)])
    tokenizer.save_pretrained(directory)


def _vocabulary_of_another(directory: Path) -> None:
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "vocab_size": 700}))


def _end_beyond(directory: Path) -> None:
    (directory / "generation_config.json").write_text('{"eos_token_id": [2, 901]}')


def _cut(directory: Path) -> None:
    file = directory / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def _without_a_tensor(directory: Path) -> None:
    header, data = _header(directory / "model.safetensors")
    del header["model.layers.1.mlp.up_proj.weight"]
    _with_header(directory / "model.safetensors", header, data)


def _without_a_shard(directory: Path) -> None:
    shards = {"weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors"}}
    (directory / "model.safetensors.index.json").write_text(json.dumps(shards))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            _tokens_beyond,
            (
                "its tokenizer writes tokens up to number 604, and the last of the 600 rows of its "
                "embedding (vocab_size of config.json) is 599"
            ),
        ),
        (
            _vocabulary_of_another,
            (
                "config.json gives model.embed_tokens.weight the shape 700x128, and the weights "
                "have 600x128"
            ),
        ),
        (
            _end_beyond,
            (
                "generation_config.json ends a turn with token 901, and its embedding has 600 rows "
                "(vocab_size of config.json)"
            ),
        ),
        (_cut, "model.safetensors is cut: it has "),
        (
            _without_a_tensor,
            (
                "the weights lack 1 of the 46 tensors of config.json (49,152 values), the first "
                "model.layers.1.mlp.up_proj.weight"
            ),
        ),
        (_without_a_shard, "its directory has no model-00002-of-00002.safetensors"),
    ],
)
def test_files_that_do_not_belong_together_are_refused_with_both_numbers(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    spec = BaseModelSpec(name="m", path=str(save_tiny_model(tmp_path)), context_length=64)
    assert check_base_model(spec).verdict == "works"
    damage(tmp_path)
    report = check_base_model(spec)
    assert report.verdict == "refused"
    [reason] = report.reasons
    assert reason.startswith(f"m: {says}")


def test_control_tokens_that_no_text_may_have_need_no_row(tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(save_tiny_model(tmp_path))
    unused = [f"<unused_{n}>" for n in range(VOCAB_SIZE - len(tokenizer) + 5)]
    tokenizer.add_special_tokens({"additional_special_tokens": unused})
    tokenizer.save_pretrained(tmp_path)
    spec = BaseModelSpec(name="m", path=str(tmp_path), context_length=64)
    assert check_base_model(spec).verdict == "works"


def test_a_context_beyond_that_of_the_config_is_told_with_both_lengths(tmp_path: Path) -> None:
    spec = BaseModelSpec(name="m", path=str(save_tiny_model(tmp_path)), context_length=4096)
    report = check_base_model(spec)
    assert report.reasons == (
        (
            "the CPU engine cannot serve it: its context_length 4096 is beyond the 512 of "
            "config.json; use vLLM"
        ),
    )
    assert not report.cpu_engine


@pytest.mark.long
def test_a_refused_model_has_its_reason_and_fails_the_command(tmp_path: Path) -> None:
    save_family(tmp_path, NO_TOOLS)
    GPT2Config(n_layer=1, n_embd=8, n_head=1, vocab_size=20).save_pretrained(tmp_path)
    specs = (
        *shipped_models(),
        BaseModelSpec(name="old", path=str(tmp_path), context_length=64),
        BaseModelSpec(name="lost", path=str(tmp_path / "nothing"), context_length=64),
    )
    done = agent_rft("base-models", "--check", AGENT_RFT_BASE_MODELS=to_models_json(specs))
    shipped, lost = specs[0].name, str(tmp_path / "nothing")
    assert (done.returncode, done.stderr) == (9, "")
    *lines, why_lost = done.stdout.splitlines()
    assert lines == [
        f"{shipped}: works",
        "  tool_parser: hermes",
        "  reasoning: None",
        "  cpu_engine: True",
        "  vllm: True",
        "  packs: True",
        "  targets: all-linear",
        "old: refused",
        f"  old: {NO_LINEAR_LAYER}",
        "lost: refused",
    ]
    assert why_lost.startswith("  lost: ")
    assert lost in why_lost
    works = agent_rft("base-models", "--check", AGENT_RFT_BASE_MODELS=to_models_json(specs[:1]))
    assert (works.returncode, works.stdout.splitlines()) == (0, lines[:7])
