"""Measures how the trainer scales: with tokens of a batch, with vocabulary, with shared prompts.

1. Time per token from 1x to 16x tokens in one update: flat means within 15 % of the smallest.
2. Peak memory of one update with a vocabulary of 151,936, above what is held before it, beside the
   naive head (all logits at once, `log_softmax`, autograd); each in a process of its own.
3. Groups of 8: rows of one prompt, the same rows when no two prompts are equal, and a plain
   implementation (unmodified transformers and peft, padded rows, all logits); per update,
   alternating.

    python benchmarks/trainer_scale.py [--repeats 5] [--quick]

CPU seconds are compared, since wall time on a busy machine depends on other load.
"""

import argparse
import ctypes
import importlib.metadata
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from benchmarks.tiny_models import NAME, VOCAB_SIZE, build_m1, save_m1
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample

LARGE_VOCABULARY = 151_936
SCALES = (1, 2, 4, 8, 16)
GROUP = 8
PROMPTS = ((64, 128), (256, 64), (1024, 64))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small shapes: does it run?")
    parser.add_argument("--peak-of", choices=("ours", "naive"), help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(given.threads)
    if given.peak_of:
        print(peak_mib(given.peak_of, given.model, rows=2 if given.quick else 8))
        return
    with tempfile.TemporaryDirectory() as directory:
        model = str(save_m1(Path(directory) / "m1"))
        large = Path(directory) / "large"
        build_m1(vocab_size=LARGE_VOCABULARY).save_pretrained(large)
        result = {
            "benchmark": "trainer_scale",
            "scale": scale(model, given),
            "peak_mib": {way: child_peak(way, str(large), given) for way in ("ours", "naive")},
            "groups": [groups(model, shape, given) for shape in PROMPTS],
            "settings": vars(given),
            "load_average": round(os.getloadavg()[0], 2),
            "versions": {
                n: importlib.metadata.version(n) for n in ("torch", "transformers", "peft")
            },
        }
    report(result)


def build(model: str) -> LoraTrainer:
    return LoraTrainer(
        model,
        base_name=NAME,
        rank=8,
        alpha=16,
        learning_rate=1e-4,
        seed=0,
        options=TrainerOptions(device="cpu"),
    )


def rollouts(
    prompts: int, group: int, shape: tuple[int, int], *, shared: bool = True, seed: int = 0
) -> list[TrainingSample]:
    """Returns groups of rollouts of (prompt, answer) tokens; unless `shared`, all prompts
    differ.
    """
    rng = random.Random(seed)
    length, answer = shape
    made = []
    for _ in range(prompts):
        prompt = [rng.randrange(8, VOCAB_SIZE) for _ in range(length)]
        for number in range(group):
            head = prompt if shared else [8 + number, *prompt[1:]]
            tokens = head + [rng.randrange(8, VOCAB_SIZE) for _ in range(answer)]
            mask = [0] * length + [1] * answer
            advantage = 1.0 if number % 2 else -1.0
            made.append(TrainingSample(tokens, mask, [-9.0 * m for m in mask], advantage))
    return made


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Returns CPU and wall seconds of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def scale(model: str, given: argparse.Namespace) -> list[dict[str, float]]:
    """Alternates the scales, so that a busy minute affects all of them."""
    trainer = build(model)
    answer = 32 if given.quick else 128
    batches = {by: rollouts(by, GROUP, (64, answer), seed=by) for by in SCALES}
    taken: dict[int, list[tuple[float, float]]] = {by: [] for by in SCALES}
    trainer.update(batches[1])
    for _ in range(given.repeats):
        for by, samples in batches.items():
            taken[by].append(timed(lambda samples=samples: trainer.update(samples)))  # type: ignore[misc]  # bound now
    found = []
    for by, times in taken.items():
        tokens = sum(sample.trained_tokens for sample in batches[by])
        cpu, wall = (median(column) / tokens * 1e6 for column in zip(*times, strict=True))
        found.append({"times": by, "tokens": tokens, "cpu_us": cpu, "wall_us": wall})
    return found


def child_peak(way: str, model: str, given: argparse.Namespace) -> float:
    command = [sys.executable, __file__, "--peak-of", way, "--model", model]
    command += ["--threads", str(given.threads), *(["--quick"] if given.quick else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


def peak_mib(way: str, model: str, *, rows: int) -> float:
    """Returns the peak memory of one update above the memory before it, in this process."""
    samples = rollouts(1, rows, (64, 128))
    if way == "ours":
        trainer = build(model)
        work: Callable[[], object] = lambda: trainer.update(samples)  # noqa: E731 - one of two
    else:
        step = plain(model)
        work = lambda: step(samples)  # noqa: E731 - one of two bodies for the same call
    ctypes.CDLL(None).malloc_trim(0)
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before / 2**20


def plain(model: str) -> Callable[[Sequence[TrainingSample]], None]:
    """Runs one optimizer step with transformers and peft as they are."""
    base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    config: Any = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    wrapped: Any = get_peft_model(base, config)
    trained = [p for p in wrapped.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)

    def step(samples: Sequence[TrainingSample]) -> None:
        width = max(len(sample.tokens) for sample in samples)
        ids_BT = torch.tensor([[*s.tokens, *[0] * (width - len(s.tokens))] for s in samples])
        mask_BT = torch.tensor([[*s.mask, *[0] * (width - len(s.mask))] for s in samples])
        sampler_BT = torch.tensor([[*s.logprobs, *[0.0] * (width - len(s.mask))] for s in samples])
        advantages_B1 = torch.tensor([[float(s.advantage)] for s in samples])
        logits_BTV = wrapped(input_ids=ids_BT, use_cache=False).logits[:, :-1]
        logp_BTV = logits_BTV.float().log_softmax(-1)
        logp_BT = logp_BTV.gather(-1, ids_BT[:, 1:, None]).squeeze(-1)
        entropy_BT = -(logp_BTV.detach().exp() * logp_BTV.detach()).sum(-1)
        ratio_BT = (logp_BT - sampler_BT[:, 1:]).clamp(-20, 20).exp()
        clipped_BT = ratio_BT.clamp(0.8, 1.2)
        gain_BT = torch.minimum(ratio_BT * advantages_B1, clipped_BT * advantages_B1)
        optimizer.zero_grad()
        loss = -(gain_BT * mask_BT[:, 1:]).sum() / mask_BT.sum()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        entropy_BT.mean().item()

    return step


def groups(model: str, shape: tuple[int, int], given: argparse.Namespace) -> dict[str, Any]:
    if given.quick:
        shape = (shape[0] // 4, shape[1] // 4)
    ours = build(model)
    theirs = plain(model)
    together, apart = rollouts(2, GROUP, shape), rollouts(2, GROUP, shape, shared=False)
    ways: dict[str, Callable[[], object]] = {
        "shared": lambda: ours.update(together),
        "packed": lambda: ours.update(apart),
        "plain": lambda: theirs(together),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for repeat in range(given.repeats + 1):  # the first one warms up
        for way, work in ways.items():
            cpu, _ = timed(work)
            if repeat:
                taken[way].append(cpu)
    seconds = {way: median(times) for way, times in taken.items()}
    return {"prompt": shape[0], "answer": shape[1], "cpu_s": seconds}


def report(result: dict[str, Any]) -> None:
    smallest = result["scale"][0]["cpu_us"]
    print("| tokens trained | CPU µs a token | against 1x |\n|---:|---:|---:|")
    for row in result["scale"]:
        print(f"| {row['tokens']:,} | {row['cpu_us']:.0f} | {row['cpu_us'] / smallest:.2f} |")
    peak = result["peak_mib"]
    print("\n| peak MiB of an update, vocabulary 151,936 | ours | naive head | × |")
    print("|---|---:|---:|---:|")
    print(f"| | {peak['ours']:.0f} | {peak['naive']:.0f} | {peak['naive'] / peak['ours']:.1f} |")
    print("\n| CPU s, 2 groups of 8 | shared prompt | packed only | plain | × plain | × packed |")
    print("|---|---:|---:|---:|---:|---:|")
    for row in result["groups"]:
        cpu = row["cpu_s"]
        print(
            f"| {row['prompt']} + {row['answer']} | {cpu['shared']:.2f} | {cpu['packed']:.2f} "
            f"| {cpu['plain']:.2f} | {cpu['plain'] / cpu['shared']:.2f} "
            f"| {cpu['packed'] / cpu['shared']:.2f} |"
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
