from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.base_models import SHIPPED
from workers.base_models.pretrain import Recipe, build_model, save, train

SHORT = dataclasses.replace(Recipe(), steps=4, clean_steps=2, batch=4)


def test_the_shipped_files_are_small_and_bf16() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 3_000_000
    with safe_open(SHIPPED / "model.safetensors", framework="pt") as weights:
        assert {weights.get_tensor(name).dtype for name in weights.keys()} == {torch.bfloat16}  # noqa: SIM118  # not a mapping


def test_the_shipped_model_has_room_for_an_episode(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    assert model.config.max_position_embeddings >= 1024
    assert model.config.vocab_size == len(tokenizer)
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert model.num_parameters() < 1_000_000


def greedy(model: Qwen3ForCausalLM, ids: list[int], *, stop: int) -> list[int]:
    new: list[int] = []
    with torch.inference_mode():
        while len(new) < 60 and new[-1:] != [stop]:
            logits_BTV = model(input_ids=torch.tensor([ids + new])).logits
            new.append(int(logits_BTV[0, -1].argmax()))
    return new


def test_the_shipped_model_calls_tools_or_answers(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    """Greedy first turns are finished and well formed; both ways to begin occur."""
    first_turns = []
    for row in make_rows(build_catalogue(), "validation", 24, seed=1):
        prompt = tokenizer.apply_chat_template(
            row["messages"], tools=row["tools"], add_generation_prompt=True, tokenize=False
        )
        new = greedy(model, tokenizer.encode(str(prompt)), stop=tokenizer.eos_token_id)
        assert new[-1] == tokenizer.eos_token_id
        first_turns.append(str(tokenizer.decode(new[:-1])))
    bodies = [
        body
        for turn in first_turns
        for body in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", turn)
    ]
    for body in bodies:
        call = json.loads(body)
        assert call["name"] in {"lookup", "calculator"}
        assert isinstance(call["arguments"], dict)
    assert 0 < sum("<tool_call>" in turn for turn in first_turns) < 24


def test_training_is_a_function_of_the_recipe(tokenizer: PreTrainedTokenizerFast) -> None:
    made = [build_model(tokenizer, SHORT.seed) for _ in range(2)]
    untrained = build_model(tokenizer, SHORT.seed)
    for model in made:
        train(model, tokenizer, SHORT)
    first, second = (dict(m.named_parameters()) for m in made)
    assert all(torch.equal(first[name], second[name]) for name in first)
    moved = [not torch.equal(first[n], p) for n, p in untrained.named_parameters()]
    assert all(moved)


def test_saved_files_open_again(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    model = build_model(tokenizer, seed=1)
    save(model, tokenizer, tmp_path)
    opened = Qwen3ForCausalLM.from_pretrained(tmp_path)
    assert opened.dtype == torch.bfloat16
    for name, weight in opened.named_parameters():
        assert torch.equal(weight, model.get_parameter(name))
    assert PreTrainedTokenizerFast.from_pretrained(tmp_path).encode("P1") == tokenizer.encode("P1")
    assert (tmp_path / "chat_template.jinja").exists()
