"""TRL's side of a benchmark: `GRPOTrainer` on the CPU with peft and its own generation.

Its training loop runs as it is; a callback marks where a step begins and ends, and may do other
work between two steps.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from typing_extensions import override


@dataclass(frozen=True, slots=True)
class GrpoShape:
    """`completion_tokens` bounds a whole rollout's answer, tool text included."""

    prompts: int
    group_size: int
    completion_tokens: int
    full_length: bool
    """True prevents generation from ending early."""
    steps: int
    learning_rate: float
    rank: int
    alpha: int
    max_tool_turns: int | None = None
    continuous_batching: bool = False


@dataclass(frozen=True, slots=True)
class GrpoStep:
    seconds: float
    rollout_s: float
    """Part of the seconds spent in generation and tools."""
    cpu_s: float
    sampled_tokens: int


@dataclass(slots=True)
class _StepCounters:
    """Counters of the current step."""

    rollout_s: float = 0.0
    sampled_tokens: int = 0


class _TimedTrainer(GRPOTrainer):  # type: ignore[misc]  # untyped on purpose, see pyproject.toml
    seen: _StepCounters

    def _generate(self, *arguments: Any) -> Any:
        started = time.perf_counter()
        found = super()._generate(*arguments)
        self.seen.rollout_s = time.perf_counter() - started
        return found


class _StepCallback(TrainerCallback):
    def __init__(self, between: Callable[[GrpoStep], None], seen: _StepCounters) -> None:
        self._between = between
        self._seen = seen
        self._started = self._cpu = 0.0

    @override
    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._started, self._cpu = time.perf_counter(), time.process_time()

    @override
    def on_step_end(self, *_: Any, **__: Any) -> None:
        seconds = time.perf_counter() - self._started
        cpu_s = time.process_time() - self._cpu
        seen = self._seen
        self._between(GrpoStep(seconds, seen.rollout_s, cpu_s, seen.sampled_tokens))


def train_grpo(
    model_dir: Path,
    prompts: Sequence[Any],
    reward: Callable[[Sequence[int]], float],
    *,
    shape: GrpoShape,
    output: Path,
    between: Callable[[GrpoStep], None],
    tools: Sequence[Callable[..., Any]] = (),
) -> None:
    """Runs the trainer; `between` is called after every step with its times. `reward` gets the
    sampled ids of one rollout.
    """
    seen = _StepCounters()

    def scored(completion_ids: list[list[int]], **_: Any) -> list[float]:
        seen.sampled_tokens = sum(map(len, completion_ids))
        return [reward(ids) for ids in completion_ids]

    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    if tools:
        from trl.chat_template_utils import qwen3_template  # noqa: PLC0415 - with tools only

        tokenizer.response_template = qwen3_template
    trainer = _TimedTrainer(
        model=AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32),
        reward_funcs=scored,
        args=_config(shape, output),
        train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in prompts]),
        processing_class=tokenizer,
        peft_config=LoraConfig(
            r=shape.rank,
            lora_alpha=shape.alpha,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
        callbacks=[_StepCallback(between, seen)],
        tools=list(tools) or None,
    )
    trainer.seen = seen
    trainer.train()


def _config(shape: GrpoShape, output: Path) -> Any:
    extra: dict[str, Any] = {}
    if shape.full_length:
        extra["generation_kwargs"] = {"min_new_tokens": shape.completion_tokens}
    if shape.max_tool_turns is not None:
        extra["max_tool_calling_iterations"] = shape.max_tool_turns
    return GRPOConfig(
        output_dir=str(output),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        use_vllm=False,
        use_transformers_continuous_batching=shape.continuous_batching,
        beta=0.0,
        scale_rewards="none",
        loss_type="bnpo",
        num_generations=shape.group_size,
        per_device_train_batch_size=shape.prompts * shape.group_size,
        max_completion_length=shape.completion_tokens,
        temperature=1.0,
        learning_rate=shape.learning_rate,
        lr_scheduler_type="constant",
        adam_beta2=0.95,
        max_grad_norm=1.0,
        max_steps=shape.steps,
        shuffle_dataset=False,
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        **extra,
    )
