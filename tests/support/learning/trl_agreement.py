"""The same samples, sampler log-probs and weights through our trainer and through TRL's: loss and
LoRA gradients, side by side.

Both get one adapter with random weights over one fp32 base. TRL's own `compute_loss` is called with
the padded batch that its trainers would build. Reductions are reconciled by TRL's token mean
(`bnpo`, and `cispo` with the batch's token count) and its mean over pairs.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from workers.learning.adapters import adapter_parameters
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample

RANK, ALPHA = 8, 16
EPSILON, EPSILON_HIGH = 0.2, 0.28
CISPO_HIGH = 5.0
DPO_BETA = 0.1


@dataclass(frozen=True, slots=True)
class TrlAgreement:
    ours: float
    """The loss."""
    theirs: float
    gradient: float
    """The largest difference of any gradient's entry, over the largest entry of all."""
    clipped: float = 0.0
    """The share of tokens that our loss switched off, so that a test can see that it was tried."""


@dataclass(frozen=True, slots=True)
class _Row:
    prompt: list[int]
    answer: list[int]
    mask: list[int]
    """1 for the tokens of the answer."""


def policy_gradient(model_dir: Path, loss: str) -> TrlAgreement:
    """`ppo` or `cispo` over four groups with stretches of tool text, off-policy enough to clip."""
    from trl import GRPOConfig, GRPOTrainer  # noqa: PLC0415 - there only after `make peers`

    options = (
        {"epsilon": EPSILON, "epsilon_high": EPSILON_HIGH}
        if loss == "ppo"
        else {"low": 0.0, "high": CISPO_HIGH}
    )
    trainer = _our_trainer(model_dir, TrainerOptions(loss=loss, loss_options=options, device="cpu"))
    rows = _rows(trainer, groups=4, size=4)
    rng = random.Random(2)
    samples = [
        TrainingSample(
            row.prompt + row.answer,
            [0] * len(row.prompt) + row.mask,
            [0.0, *(lp + rng.gauss(0, 0.3) for lp in trainer.logprobs(row.prompt + row.answer))],
            rng.choice((-1.0, -0.25, 0.0, 0.5, 1.0)),
        )
        for row in rows
    ]
    config = {
        "loss_type": "bnpo" if loss == "ppo" else loss,
        "beta": 0.0,
        "epsilon": EPSILON,
        "epsilon_high": EPSILON_HIGH if loss == "ppo" else CISPO_HIGH,
        "num_generations": 4,
        "per_device_train_batch_size": 16,
    }
    theirs = GRPOTrainer(
        model=_base(model_dir),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=GRPOConfig(**_arguments(model_dir), **config),
        train_dataset=_dataset([{"prompt": "a"}] * 16),
        processing_class=AutoTokenizer.from_pretrained(model_dir),
        peft_config=_lora(),
    )
    theirs.current_gradient_accumulation_steps = 1
    batch = _grpo_batch(rows, samples)
    return _compare(trainer, samples, theirs, lambda: theirs._compute_loss(theirs.model, batch))


def supervised(model_dir: Path) -> TrlAgreement:
    """Cross-entropy on answers against `SFTTrainer`."""
    from trl import SFTConfig, SFTTrainer  # noqa: PLC0415 - trl is there only after `make peers`

    options = TrainerOptions(loss="cross_entropy", device="cpu")
    trainer = _our_trainer(model_dir, options)
    rows = _rows(trainer, groups=6, size=1)
    samples = [_text_sample(row, [0.0] * len(row.prompt + row.answer)) for row in rows]
    theirs = SFTTrainer(
        model=_base(model_dir),
        args=SFTConfig(**_arguments(model_dir), max_length=None),
        train_dataset=_dataset([{"text": "a"}]),
        processing_class=AutoTokenizer.from_pretrained(model_dir),
        peft_config=_lora(),
    )
    ids, seen = _padded([row.prompt + row.answer for row in rows])
    trained, _ = _padded([[0] * len(row.prompt) + row.mask for row in rows])
    batch = {
        "input_ids": ids,
        "attention_mask": seen,
        "labels": ids.masked_fill(trained == 0, -100),
    }
    return _compare(trainer, samples, theirs, lambda: theirs.compute_loss(theirs.model, batch))


def preference(model_dir: Path, variant: str) -> TrlAgreement:
    """DPO (`sigmoid` or `ipo`) on pairs against `DPOTrainer`."""
    from trl import DPOConfig, DPOTrainer  # noqa: PLC0415 - trl is there only after `make peers`

    settings = {"beta": DPO_BETA, "variant": variant}
    options = TrainerOptions(loss="dpo", loss_options=settings, device="cpu")
    trainer = _our_trainer(model_dir, options)
    rows = _rows(trainer, groups=4, size=2, whole=True)
    samples = [
        _text_sample(row, [0.0, *trainer.logprobs(row.prompt + row.answer, adapter=False)])
        for row in rows
    ]
    theirs = DPOTrainer(
        model=_base(model_dir),
        args=DPOConfig(
            **_arguments(model_dir), max_length=None, beta=DPO_BETA, loss_type=[variant]
        ),
        train_dataset=_dataset([{"prompt": "a", "chosen": "b", "rejected": "c"}]),
        processing_class=AutoTokenizer.from_pretrained(model_dir),
        peft_config=_lora(),
    )
    ordered = [*rows[0::2], *rows[1::2]]
    ids, seen = _padded([row.prompt + row.answer for row in ordered])
    trained, _ = _padded([[0] * len(row.prompt) + row.mask for row in ordered])
    batch = {"input_ids": ids, "attention_mask": seen, "completion_mask": trained}
    return _compare(trainer, samples, theirs, lambda: theirs.compute_loss(theirs.model, batch))


def _compare(
    trainer: LoraTrainer, samples: list[TrainingSample], theirs: Any, loss: Callable[[], Tensor]
) -> TrlAgreement:
    mine = adapter_parameters(trainer._adapted.peft)
    others = adapter_parameters(theirs.model)
    if mine.keys() != others.keys():
        raise ValueError("the two adapters have other parameters")
    for name, parameter in mine.items():
        others[name].data.copy_(parameter.data)
    their_loss = loss()
    their_loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    trainer.accumulate(samples)
    pending = trainer._pending
    gradient = _difference(mine, others, pending.denominator)
    clipped = float(trainer._tally.values().get("train/clipped_share", 0.0))
    return TrlAgreement(
        pending.loss / pending.denominator, float(their_loss.detach()), gradient, clipped
    )


def _difference(
    mine: Mapping[str, Tensor], others: Mapping[str, Tensor], denominator: float
) -> float:
    largest = difference = 0.0
    for name, parameter in mine.items():
        ours, theirs = parameter.grad, others[name].grad
        if ours is None or theirs is None:
            raise ValueError(f"{name} has no gradient")
        largest = max(largest, float(theirs.abs().max()))
        difference = max(difference, float((ours / denominator - theirs).abs().max()))
    return difference / largest


def _our_trainer(model_dir: Path, options: TrainerOptions) -> LoraTrainer:
    """Builds a trainer whose B is not 0: A has a gradient, references differ from the policy."""
    trainer = LoraTrainer(
        str(model_dir),
        base_name="agreement",
        rank=RANK,
        alpha=ALPHA,
        learning_rate=1e-4,
        seed=0,
        options=options,
    )
    generator = torch.Generator().manual_seed(1)
    for parameter in adapter_parameters(trainer._adapted.peft).values():
        parameter.data.add_(torch.randn(parameter.shape, generator=generator) * 0.02)
    return trainer


def _rows(trainer: LoraTrainer, *, groups: int, size: int, whole: bool = False) -> list[_Row]:
    """Prompts and answers of mixed lengths; unless `whole`, answers have untrained stretches."""
    rng = random.Random(3)
    vocabulary = trainer._adapted.peft.config.vocab_size

    def text(length: int) -> list[int]:
        return [rng.randrange(8, vocabulary) for _ in range(length)]

    rows = []
    for _ in range(groups):
        prompt = text(rng.randint(5, 30))
        for _ in range(size):
            answer = text(rng.randint(12, 40))
            start = rng.randint(3, 8)
            gap = range(start, start + (0 if whole else 3))
            mask = [int(index not in gap) for index in range(len(answer))]
            rows.append(_Row(prompt, answer, mask))
    return rows


def _text_sample(row: _Row, logprobs: list[float]) -> TrainingSample:
    return TrainingSample(row.prompt + row.answer, [0] * len(row.prompt) + row.mask, logprobs, 1.0)


def _grpo_batch(rows: list[_Row], samples: list[TrainingSample]) -> dict[str, Tensor]:
    """Prompts padded on the left, answers on the right, as TRL's generation leaves them."""
    flipped, flipped_seen = _padded([row.prompt[::-1] for row in rows])
    answers, answers_seen = _padded([row.answer for row in rows])
    tool_mask, _ = _padded([row.mask for row in rows])
    width = answers.shape[1]
    old = torch.zeros(answers.shape)
    for number, (row, sample) in enumerate(zip(rows, samples, strict=True)):
        own = sample.logprobs[len(row.prompt) :]
        old[number, : len(own)] = torch.tensor(own)
    return {
        "prompt_ids": flipped.flip(1),
        "prompt_mask": flipped_seen.flip(1),
        "completion_ids": answers,
        "completion_mask": answers_seen,
        "tool_mask": tool_mask[:, :width],
        "old_per_token_logps": old,
        "advantages": torch.tensor([float(sample.advantage) for sample in samples]),
        "num_items_in_batch": torch.tensor(sum(sum(row.mask) for row in rows)),
    }


def _padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    seen = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, seen


def _base(model_dir: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)


def _lora() -> Any:
    from peft import LoraConfig  # noqa: PLC0415 - beside its only use

    return LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")


def _dataset(rows: list[dict[str, str]]) -> Any:
    from datasets import Dataset  # noqa: PLC0415 - there only after `make peers`

    return Dataset.from_list(rows)


def _arguments(model_dir: Path) -> dict[str, Any]:
    """Returns the arguments of every TRL configuration: CPU, fp32, no files, no reports."""
    return {
        "output_dir": str(model_dir.parent / "trl"),
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
    }
