"""One GRPO step end to end, beside TRL's `GRPOTrainer`, both on this CPU in fp32.

Same model (M1), prompts, group size, new tokens, LoRA (r 8, alpha 16, all linear layers), AdamW,
temperature 1, centred advantages, PPO clip 0.2, deterministic reward, torch threads. First the two
are shown to compute one loss and one gradient; then they alternate, step by step, in one run, and
the first steps are not counted. This project samples from its engine, a process of its own over
HTTP, and a step ends when the engine serves the new adapter and agrees with the trainer on a probe;
TRL samples with `generate` in its own process, with the peft adapter attached, and has nothing to
publish.

    make peers && python benchmarks/vs_trl.py [--cells short long tools] [--steps 8]

What TRL does not do on a CPU: share a group's prompt when it trains, skip rows without advantage,
keep keys and values between the turns of a rollout, run the tools of different rollouts at the same
time (also when they are async functions), or sample while a tool runs.
"""

import argparse
import asyncio
import importlib.metadata
import json
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from app.files.datasets import DatasetRow
from benchmarks.latent_tools import MAX_ANSWER, QUESTIONS, TOOL_TURNS, LatentTools, teach
from benchmarks.our_loop import OurLoop, StepTimes, engine_process, even_share, no_tools
from benchmarks.tiny_models import NAME, prompt_texts, save_m1
from benchmarks.trl_side import GrpoShape, GrpoStep, train_grpo
from tests.support.learning import trl_agreement
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions
from workers.rollout.environment import EpisodeLimits

RANK, ALPHA, LEARNING_RATE = 8, 16, 1e-4
GROUP_SIZE, PROMPTS = 8, 4
PEERS = ("torch", "transformers", "peft", "trl")


@dataclass(frozen=True, slots=True)
class Cell:
    name: str
    prompt_tokens: int
    new_tokens: int
    target: float
    tools: bool = False


CELLS = {
    "short": Cell("64 prompt + 128 new", 64, 128, 1.5),
    "long": Cell("256 prompt + 64 new", 256, 64, 2.0),
    "tools": Cell(f"{TOOL_TURNS} tool calls", 0, MAX_ANSWER, 3.0, tools=True),
}


@dataclass(slots=True)
class LoopMeasurements:
    ours: list[StepTimes]
    theirs: list[GrpoStep]
    calls: tuple[float, float] = (0.0, 0.0)
    """Tool calls per rollout, on either side."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=list(CELLS))
    parser.add_argument("--steps", type=int, default=8, help="measured steps of each side")
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--models", type=Path, help="where to keep the models between runs")
    parser.add_argument("--engine-threads", type=int, default=2)
    given = parser.parse_args()
    quieten()
    torch.set_num_threads(given.threads)
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        models: Path = given.models or root
        model = models / "m1" if (models / "m1").exists() else save_m1(models / "m1")
        agreement = agree(model)
        for name in given.cells:
            cell = CELLS[name]
            taught = models / "taught"
            path = model if not cell.tools else taught if taught.exists() else teach(model, taught)
            results.append(summary(cell, run_cell(cell, path, root / name, given)))
    report(given, agreement, results)


def quieten() -> None:
    warnings.filterwarnings("ignore")
    logging.getLogger("transformers").setLevel(logging.ERROR)


def agree(model: Path) -> dict[str, Any]:
    found = {
        "ppo": trl_agreement.policy_gradient(model, "ppo"),
        "cispo": trl_agreement.policy_gradient(model, "cispo"),
        "sft": trl_agreement.supervised(model),
        "dpo": trl_agreement.preference(model, "sigmoid"),
    }
    for name, agreement in found.items():
        close = abs(agreement.ours - agreement.theirs) <= 1e-5 * max(1.0, abs(agreement.theirs))
        if not close or agreement.gradient > 1e-5:
            sys.exit(f"{name}: ours and TRL's differ, so no time is comparable: {agreement}")
    return {name: asdict(agreement) for name, agreement in found.items()}


def run_cell(cell: Cell, model: Path, root: Path, given: argparse.Namespace) -> LoopMeasurements:
    """Alternates TRL's step and this project's on the same prompts."""
    root.mkdir()
    measured = LoopMeasurements([], [])
    if cell.tools:
        with (
            LatentTools() as tools,
            engine_process(model, NAME, root=root, threads=given.engine_threads) as (url, pid),
        ):
            loop = our_loop(cell, model, root, url=url, pid=pid, tools=tools)
            alternate(cell, model, root, given, loop=loop, measured=measured, tools=tools)
            rollouts = (given.warm_up + given.steps) * PROMPTS * GROUP_SIZE
            measured.calls = (tools.http_calls / rollouts, tools.function_calls / rollouts)
        return measured
    with engine_process(model, NAME, root=root, threads=given.engine_threads) as (url, pid):
        loop = our_loop(cell, model, root, url=url, pid=pid, tools=None)
        alternate(cell, model, root, given, loop=loop, measured=measured, tools=None)
    return measured


def our_loop(
    cell: Cell, model: Path, root: Path, *, url: str, pid: int, tools: LatentTools | None
) -> OurLoop:
    trainer = LoraTrainer(
        str(model),
        base_name=NAME,
        rank=RANK,
        alpha=ALPHA,
        learning_rate=LEARNING_RATE,
        seed=0,
        options=TrainerOptions(device="cpu"),
    )
    return OurLoop(
        url,
        pid,
        name=NAME,
        model_dir=model,
        trainer=trainer,
        adapters=root / "adapters",
        tools=no_tools() if tools is None else tools.caller(),
        limits=EpisodeLimits(
            max_episode_steps=64, context_length=2048, max_turn_tokens=cell.new_tokens
        ),
        group_size=GROUP_SIZE,
        full_length=not cell.tools,
    )


def alternate(
    cell: Cell,
    model: Path,
    root: Path,
    given: argparse.Namespace,
    *,
    loop: OurLoop,
    measured: LoopMeasurements,
    tools: LatentTools | None,
) -> None:
    steps = given.warm_up + given.steps
    if cell.tools:
        texts = [question for question, _ in QUESTIONS] * steps
    else:
        texts = prompt_texts(model, steps * PROMPTS, cell.prompt_tokens)
    prompts = [[{"role": "user", "content": text}] for text in texts]
    schemas = [] if tools is None else [tools.schema()]
    rows = [DatasetRow(i, messages, schemas, {}) for i, messages in enumerate(prompts)]
    shape = GrpoShape(
        prompts=PROMPTS,
        group_size=GROUP_SIZE,
        completion_tokens=cell.new_tokens,
        full_length=not cell.tools,
        steps=steps,
        learning_rate=LEARNING_RATE,
        rank=RANK,
        alpha=ALPHA,
    )
    with asyncio.Runner() as runner:

        def ours(theirs: GrpoStep) -> None:
            start = len(measured.theirs) * PROMPTS
            measured.theirs.append(theirs)
            measured.ours.append(runner.run(loop.step(rows[start : start + PROMPTS])))

        train_grpo(
            model,
            prompts,
            even_share,
            shape=shape,
            output=root / "trl",
            between=ours,
            tools=[] if tools is None else [tools.function()],
        )
        runner.run(loop.aclose())
        if tools is not None:
            runner.run(tools.aclose())
    del measured.ours[: given.warm_up], measured.theirs[: given.warm_up]


def spread(values: list[float]) -> dict[str, float]:
    cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else values * 19
    return {"median": median(values), "p5": cuts[0], "p95": cuts[-1]}


def summary(cell: Cell, measured: LoopMeasurements) -> dict[str, Any]:
    ours = spread([step.total_s for step in measured.ours])
    theirs = spread([step.seconds for step in measured.theirs])
    parts: dict[str, Callable[[StepTimes], float]] = {
        "rollout_s": lambda step: step.rollout_s,
        "train_s": lambda step: step.train_s,
        "publish_s": lambda step: step.publish_s,
        "tokens": lambda step: step.sampled_tokens,
        "cpu_s": lambda step: step.cpu_s,
    }
    detail = {name: median([part(step) for step in measured.ours]) for name, part in parts.items()}
    cpu = median([step.cpu_s for step in measured.theirs])
    return {
        "cell": cell.name,
        "target": cell.target,
        "ours": ours | detail,
        "trl": theirs
        | {
            "tokens": median([step.sampled_tokens for step in measured.theirs]),
            "cpu_s": cpu,
        },
        "ratio": theirs["median"] / ours["median"],
        "tool_calls_a_rollout": measured.calls,
        "rollout_tokens_a_s": {
            "ours": median([step.sampled_tokens / step.rollout_s for step in measured.ours]),
            "trl": median([step.sampled_tokens / step.rollout_s for step in measured.theirs]),
        },
        "pairwise": spread(
            [t.seconds / o.total_s for t, o in zip(measured.theirs, measured.ours, strict=True)]
        ),
        "cpu_ratio": cpu / detail["cpu_s"],
    }


def report(
    given: argparse.Namespace, agreement: dict[str, Any], results: list[dict[str, Any]]
) -> None:
    print("| same loss and LoRA gradients | ours | TRL | largest gradient difference |")
    print("|---|---:|---:|---:|")
    for name, result in agreement.items():
        print(
            f"| {name} | {result['ours']:.6f} | {result['theirs']:.6f} | {result['gradient']:.1e} |"
        )
    print()
    print(
        "| s a step: median (p5 - p95) | ours | rollout + train + publish "
        "| TRL | × | target | CPU × |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for result in results:
        ours, theirs = result["ours"], result["trl"]
        detail = " + ".join(f"{ours[part]:.2f}" for part in ("rollout_s", "train_s", "publish_s"))
        print(
            f"| {result['cell']} | {ours['median']:.2f} ({ours['p5']:.2f} - {ours['p95']:.2f}) "
            f"| {detail} | {theirs['median']:.2f} ({theirs['p5']:.2f} - {theirs['p95']:.2f}) "
            f"| {result['ratio']:.2f} | {result['target']} | {result['cpu_ratio']:.2f} |"
        )
    print("\n| rollout tokens/s | ours, over HTTP | generate with peft | × |\n|---|---:|---:|---:|")
    for result in results:
        if any(result["tool_calls_a_rollout"]):  # TRL counts the tools' text as sampled
            mine, other = result["tool_calls_a_rollout"]
            print(f"| {result['cell']} | ({mine:.1f} calls a rollout) | ({other:.1f} calls) | |")
            continue
        mine, other = result["rollout_tokens_a_s"].values()
        print(f"| {result['cell']} | {mine:,.0f} | {other:,.0f} | {mine / other:.2f} |")
    print(
        json.dumps(
            {
                "benchmark": "vs_trl",
                "agreement": agreement,
                "cells": results,
                "settings": vars(given) | {"models": None},
                "load_average": round(os.getloadavg()[0], 2),
                "versions": {name: importlib.metadata.version(name) for name in PEERS},
            }
        )
    )


if __name__ == "__main__":
    main()
