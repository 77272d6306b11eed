"""Prints the memory plan of a model: `python -m workers.learning.memory --model DIR …`. The command
`agent-rft plan` runs this module in a process of its own, because the control plane imports no
torch. Exit codes: 0 everything fits, 1 crash, 2 wrong arguments, 8 no such model, 10 something does
not fit, 12 the model cannot be counted.
"""

import argparse
import math
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

import torch
from transformers import AutoConfig, PretrainedConfig

from app.kit.processes import DOES_NOT_FIT, MODEL_NOT_FOUND, UNCOUNTABLE
from workers.learning.head import LOADING_ERRORS, in_one_line
from workers.learning.memory.plan import (
    GIB,
    MemoryPlan,
    PlanInputs,
    UncountableModel,
    count,
    plan_memory,
)

DTYPES: Final = {"bfloat16": torch.bfloat16, "float32": torch.float32}
_UNITS: Final = {"": 1, "GB": 10**9, "GIB": 2**30, "MB": 10**6, "MIB": 2**20}


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        config = AutoConfig.from_pretrained(given.model)
    except LOADING_ERRORS as error:
        _print_lines(
            f"{given.model} has no config of a causal language model: {in_one_line(error)}"
        )
        return MODEL_NOT_FOUND
    try:
        plan = _planned(config, given)
    except UncountableModel as error:
        _print_lines(f"The memory of {given.model} cannot be counted from its config: {error}")
        return UNCOUNTABLE
    except (OSError, ValueError) as error:
        _print_lines(f"{given.model} has no config of a causal language model: {error}")
        return MODEL_NOT_FOUND
    _print_lines(*lines(plan, given.gpu_memory, memory="GPU"))
    return 0 if plan.fits else DOES_NOT_FIT


def lines(plan: MemoryPlan, total_bytes: int, *, memory: str) -> list[str]:
    problems = (f"DOES NOT FIT: {problem}" for problem in plan.problems)
    return [*table(plan, total_bytes, memory=memory), *problems]


def table(plan: MemoryPlan, total_bytes: int, *, memory: str) -> list[str]:
    rows = [
        *((f"{part.owner}: {part.name}", part.bytes) for part in plan.parts),
        ("left", plan.free_bytes),
        (memory, total_bytes),
    ]
    width = max(len(name) for name, _ in rows)
    shown = [f"{name:<{width}}  {size / GIB:8.2f} GiB" for name, size in rows]
    if plan.kv_tokens is not None:
        shown.append(f"The KV cache holds {plan.kv_tokens:,} tokens.")
    return shown


def _print_lines(*texts: str) -> None:
    sys.stdout.write("\n".join([*texts, ""]))


def _planned(config: PretrainedConfig, given: argparse.Namespace) -> MemoryPlan:
    dtype = DTYPES[given.dtype]
    checkpointing = given.checkpointing == "on"
    context = given.context_length or config.get_text_config().max_position_embeddings
    counted = partial(count, config, dtype=dtype, rank=given.rank, longest=context)
    return plan_memory(
        PlanInputs(
            gpu_bytes=given.gpu_memory,
            context_length=context,
            engine_share=given.engine_share,
            micro_batch_tokens=given.micro_batch,
        ),
        counted(checkpointing=checkpointing),
        checkpointed=None if checkpointing else counted(checkpointing=True),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-rft plan",
        description="Says what each part of training a model takes of a GPU's memory, what does "
        "not fit, and which setting helps. Exit code 10: something does not fit.",
    )
    parser.add_argument("--model", required=True, help="directory or hub id; its config is read")
    parser.add_argument(
        "--gpu-memory", type=_size, required=True, metavar="SIZE", help="80GB, or 79.6GiB"
    )
    parser.add_argument(
        "--engine-share",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="share of the GPU for the engine, 0 to 1 (default: the engine runs elsewhere)",
    )
    parser.add_argument(
        "--context-length",
        type=_count,
        metavar="TOKENS",
        help="longest rollout (default: the model's longest)",
    )
    parser.add_argument(
        "--micro-batch",
        type=_count,
        metavar="TOKENS",
        help="tokens that the trainer computes at a time (default: what fits)",
    )
    parser.add_argument("--rank", type=_count, default=16, help="rank of the adapter (16)")
    parser.add_argument(
        "--dtype",
        choices=list(DTYPES),
        default="bfloat16",
        help="precision of the trainer's frozen weights (bfloat16); the engine's have 16 bits",
    )
    parser.add_argument("--checkpointing", choices=["on", "off"], default="on")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1")
    return share


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", text)
    if match is None or match[2].upper() not in _UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 80GB or 79.6GiB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


if __name__ == "__main__":
    sys.exit(main())
