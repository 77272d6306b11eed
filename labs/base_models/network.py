"""The network of a shipped model, and the optimizers of its pre-training."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from typing_extensions import override

LAYERS: Final = 4
HEAD_DIM: Final = 32


def build_network(
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    *,
    hidden_size: int,
    intermediate_size: int,
    heads: int,
    key_value_heads: int,
) -> Qwen3ForCausalLM:
    """Builds a randomly initialised model in fp32, whose output layer is that of its tokens."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        num_hidden_layers=LAYERS,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        head_dim=HEAD_DIM,
        max_position_embeddings=MAX_LENGTH,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        use_cache=True,
    )
    return Qwen3ForCausalLM(config)


def build_optimizers(
    model: Qwen3ForCausalLM, *, matrix_lr: float, other_lr: float
) -> tuple[torch.optim.Optimizer, torch.optim.Optimizer]:
    """Returns Muon for the matrices of the layers, and AdamW for all other weights."""
    named = list(model.named_parameters())
    matrices = [p for name, p in named if "_proj" in name]
    others = [p for name, p in named if "_proj" not in name]
    return (
        Muon(matrices, lr=matrix_lr, weight_decay=0.01),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.95), weight_decay=0.01),
    )


def take_step(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Takes a step at a rate, and clears the gradient."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


TEMPLATE: Final = Path(__file__).parent / "chat_template.jinja"
END_OF_TEXT: Final = "<|endoftext|>"
TURN_START: Final = "<|im_start|>"
TURN_END: Final = "<|im_end|>"
HIDDEN_MARKS: Final = (END_OF_TEXT, TURN_START, TURN_END)
# Marks that decoded text retains, because tool-call parsers read them there.
VISIBLE_MARKS: Final = ("<tool_call>", "</tool_call>", "<think>", "</think>")
MAX_LENGTH: Final = 2048
# A word never merges with a quote or another word, so that a name has the same tokens in a schema
# and in a call and can be copied; the scaffold of a call costs one token a piece.
SPLIT: Final = (
    r"\n\{\"name\": \"|\", \"arguments\": \{\"?|\"\}\}\n?"
    r"|\p{N}|\n|\p{Lu}(?=\p{N})| ?\p{Lu}?\p{Ll}+|\p{Lu}| (?=\p{L})"
    r"|[^\n\p{N}\p{Lu}\p{Ll}]+?(?= ?\p{L}|[\n\p{N}]|$)"
)


def train_tokenizer(texts: Iterable[str], *, vocab_size: int) -> PreTrainedTokenizerFast:
    """Trains a tokenizer of at most `vocab_size` tokens on rendered transcripts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    marks = [*HIDDEN_MARKS, *VISIBLE_MARKS]
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=marks,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    # The trainer does not split at special tokens, so letters would merge with their brackets.
    cut = re.compile("|".join(map(re.escape, marks)))
    tokenizer.train_from_iterator((piece for t in texts for piece in cut.split(t)), trainer)
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # untyped upstream
        tokenizer_object=_with_visible_marks(tokenizer),
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        model_max_length=MAX_LENGTH,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return fast


def _with_visible_marks(tokenizer: Tokenizer) -> Tokenizer:
    """Clears the `special` flag of visible marks, so that decoding retains them: the trainer flags
    every added token.
    """
    state = json.loads(tokenizer.to_str())
    for token in state["added_tokens"]:
        token["special"] = token["content"] in HIDDEN_MARKS
    return Tokenizer.from_str(json.dumps(state))


# Coefficients of the quintic Newton-Schulz iteration, as in torch.optim.Muon.
QUINTIC: Final = (3.4445, -4.7750, 2.0315)
ITERATIONS: Final = 5


def orthogonalise(batch_BMN: Tensor) -> Tensor:
    """Returns matrices with the same singular vectors and singular values near 1."""
    a, b, c = QUINTIC
    tall = batch_BMN.shape[-2] > batch_BMN.shape[-1]
    x: Tensor = batch_BMN.mT if tall else batch_BMN
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised for all matrices of one shape at once."""

    def __init__(
        self, params: Iterable[Tensor], *, lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @override
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]  # no closure is ever given
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                self._step_shape(group, parameters, scale=max(1.0, shape[0] / shape[1]) ** 0.5)

    def _step_shape(self, group: dict[str, Any], parameters: list[Tensor], *, scale: float) -> None:
        updates = []
        for parameter in parameters:
            gradient = parameter.grad
            if gradient is None:
                raise ValueError("every parameter needs a gradient")
            momentum = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
            momentum.lerp_(gradient, 1 - group["momentum"])
            updates.append(gradient.lerp(momentum, group["momentum"]))
        for parameter, update in zip(parameters, orthogonalise(torch.stack(updates)), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(update, alpha=-group["lr"] * scale)
