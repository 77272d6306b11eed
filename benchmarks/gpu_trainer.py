"""The trainer alone on one GPU: tokens per second, MFU and peak memory at Qwen3 shapes.

Random weights at the shapes of Qwen3-0.6B and Qwen3-4B, LoRA rank 16 on all linear layers, bf16,
one 16,384-token sequence a micro-batch of which all but the first token are trained, with and
without checkpointing of layers. The numbers to beat are a peer's published ones on one H100
(prime-rl): 13.3k tokens/s and 5.1 GiB for 0.6B, 6.23k tokens/s, 21.7 % MFU and
23.3 GiB for 4B.

    python benchmarks/gpu_trainer.py
    python benchmarks/gpu_trainer.py --device cpu --tiny     # does it run? no numbers

MFU counts 6 FLOPs a token and parameter of the layers and the head, plus causal attention, over
the GPU's dense bf16 peak: the convention that the peer's numbers follow. LoRA needs no gradient of
the frozen weights, so what is really computed is about two thirds of it.
"""

import argparse
import importlib.metadata
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample

PEAK_FLOPS = {"H100": 989e12, "H200": 989e12, "A100": 312e12}


@dataclass(frozen=True, slots=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    mlp: int
    vocabulary: int = 151_936
    reference: str = ""

    def config(self, context: int) -> Qwen3Config:
        return Qwen3Config(
            vocab_size=self.vocabulary,
            hidden_size=self.hidden,
            intermediate_size=self.mlp,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.key_heads,
            head_dim=self.head_dim,
            max_position_embeddings=context,
            tie_word_embeddings=True,
        )

    def flops_a_token(self, context: int) -> float:
        """Forward and backward, as MFU counts them."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.key_heads)
        weights = self.layers * (attention + 3 * self.hidden * self.mlp)
        weights += self.vocabulary * self.hidden
        scores = self.layers * self.heads * self.head_dim * context  # causal: half of 2 products
        return 6.0 * (weights + scores)


SHAPES = {
    "Qwen3-0.6B": Shape(1024, 28, 16, 8, 128, 3072, reference="13.3k tokens/s, 5.1 GiB"),
    "Qwen3-4B": Shape(2560, 36, 32, 8, 128, 9728, reference="6.23k tokens/s, 21.7 %, 23.3 GiB"),
}
TINY = {"tiny": Shape(64, 2, 4, 2, 16, 128, vocabulary=4096)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a shape for any machine")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--tokens", type=int, default=16_384)
    parser.add_argument("--steps", type=int, default=5)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    shapes = TINY if given.tiny else {name: SHAPES[name] for name in given.shapes}
    tokens = min(given.tokens, 256) if given.tiny else given.tokens
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for name, shape in shapes.items():
            path = Path(directory) / name
            save(shape, path, context=tokens + 1, device=given.device)
            for checkpointing in (False, True):
                row = measure(path, shape, tokens, given, checkpointing=checkpointing)
                rows.append({"model": name, **row})
                print(line(rows[-1]), flush=True)
    report(rows, given)


def save(shape: Shape, path: Path, *, context: int, device: str) -> None:
    torch.manual_seed(0)
    with torch.device(device):
        model = Qwen3ForCausalLM(shape.config(context)).bfloat16()
    model.save_pretrained(path)


def sequences(count: int, tokens: int, vocabulary: int) -> list[TrainingSample]:
    rng = random.Random(0)
    return [
        TrainingSample(
            [rng.randrange(vocabulary) for _ in range(tokens + 1)],
            [0, *[1] * tokens],
            [0.0, *[-12.0] * tokens],
            1.0 if number % 2 else -1.0,
        )
        for number in range(count)
    ]


def measure(
    path: Path, shape: Shape, tokens: int, given: argparse.Namespace, *, checkpointing: bool
) -> dict[str, Any]:
    trainer = LoraTrainer(
        str(path),
        base_name=path.name,
        rank=16,
        alpha=32,
        learning_rate=1e-4,
        seed=0,
        options=TrainerOptions(
            device=given.device,
            dtype="bfloat16",
            max_batch_tokens=tokens,
            checkpointing=checkpointing,
        ),
    )
    samples = sequences(2, tokens, shape.vocabulary)
    on_gpu = given.device.startswith("cuda")
    trainer.update(samples[:1])  # warms up
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    seconds = [timed(trainer, samples, on_gpu=on_gpu) for _ in range(given.steps)]
    speed = sum(sample.trained_tokens for sample in samples) / median(seconds)
    peak = next(
        (v for k, v in PEAK_FLOPS.items() if on_gpu and k in device_name(given.device)), None
    )
    return {
        "checkpointing": checkpointing,
        "tokens_a_s": speed,
        "mfu": None if peak is None else speed * shape.flops_a_token(tokens) / peak,
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30 if on_gpu else process_gib(),
        "reference": shape.reference,
    }


def timed(trainer: LoraTrainer, samples: Sequence[TrainingSample], *, on_gpu: bool) -> float:
    started = time.perf_counter()
    trainer.update(samples)
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - started


def process_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"


def line(row: dict[str, Any]) -> str:
    mfu = "not measured" if row["mfu"] is None else f"{row['mfu']:.1%}"
    kept = "layers' inputs" if row["checkpointing"] else "all activations"
    return (
        f"| {row['model']} | {kept} | {row['tokens_a_s']:,.0f} | {mfu} "
        f"| {row['peak_gib']:.1f} | {row['reference'] or 'none'} |"
    )


def report(rows: list[dict[str, Any]], given: argparse.Namespace) -> None:
    print(
        f"\n| model on {device_name(given.device)} | kept for backward "
        "| tokens/s | MFU | GiB | reference |"
    )
    print("|---|---|---:|---:|---:|---|")
    for row in rows:
        print(line(row))
    versions = {
        name: importlib.metadata.version(name) for name in ("torch", "transformers", "peft")
    }
    print(
        json.dumps(
            {
                "benchmark": "gpu_trainer",
                "device": device_name(given.device),
                "rows": rows,
                "settings": vars(given),
                "versions": versions,
            }
        )
    )


if __name__ == "__main__":
    main()
