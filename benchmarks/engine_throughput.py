"""Tokens per second of the CPU engine over HTTP, beside `generate` of transformers, in one run.

Both sides: the same random-weight Qwen3 (128 wide, 4 layers, 0.9 M parameters, fp32), the same
prompts, temperature 1, no stop token, equal new tokens, the same number of threads. The engine runs
in its own process, and one client calls it over loopback; `generate` runs in this process without
HTTP and, unlike the engine, returns no log-probs. CPU seconds are printed too, because they are
more reliable than wall time on a busy machine. With `--adapter` both serve a LoRA: merged in the
engine, attached through peft for `generate`.
"""

import argparse
import asyncio
import importlib.metadata
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from peft import PeftModel
from transformers import Qwen3ForCausalLM

from app.local.state import free_port
from app.models.engine import Completion
from app.models.engine_http import HttpInference
from tests.support.models.tiny_model import (
    CONTEXT_LENGTH,
    VOCAB_SIZE,
    save_adapter,
    save_tiny_model,
)


class Speed(NamedTuple):
    """Tokens per second of wall time and of CPU time."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, tokens: int, wall_s: float, cpu_s: float) -> "Speed":
        return cls(round(tokens / wall_s, 1), round(tokens / max(cpu_s, 0.01), 1))


def cpu_seconds(pid: int) -> float:
    """User and system time a process has used; Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32, 64])
    parser.add_argument("--prompt-tokens", type=int, default=128)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--adapter", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        model_dir = save_tiny_model(root / "model")
        adapter = save_adapter(model_dir, root / "adapter", seed=1) if arguments.adapter else None
        with running_engine(model_dir, root, arguments.threads) as (url, start_s, pid):
            engine = asyncio.run(measure_engine(url, pid, adapter, arguments))
            resident = resident_mib(pid)
        generate = measure_generate(model_dir, adapter, arguments)
    report(arguments, engine, generate, {"start_s": start_s, "rss_mib": resident})


@contextmanager
def running_engine(model_dir: Path, root: Path, threads: int) -> Iterator[tuple[str, float, int]]:
    """Base URL, seconds from spawn to /health, and process id."""
    port = free_port()
    models = root / "models.json"
    spec = {"name": "tiny", "path": str(model_dir), "context_length": CONTEXT_LENGTH}
    models.write_text(json.dumps([spec]))
    command = [sys.executable, "-m", "workers.engines.cpu", "--port", str(port)]
    command += ["--models-json", str(models), "--threads", str(threads)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(wait_healthy(url))
        yield url, time.perf_counter() - started, process.pid
    finally:
        process.terminate()
        process.wait()


async def wait_healthy(url: str) -> None:
    client = HttpInference(url)
    while not await client.healthy():  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.05)
    await client.aclose()


def prompts(count: int, length: int, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(VOCAB_SIZE) for _ in range(length)] for _ in range(count)]


async def measure_engine(
    url: str, pid: int, adapter: Path | None, arguments: argparse.Namespace
) -> dict[int, Speed]:
    client = HttpInference(url)
    model = "tiny"
    if adapter is not None:
        model = "v1"
        await client.load_adapter(model, adapter)

    async def complete(prompt: list[int], seed: int) -> Completion:
        return await client.complete(
            model,
            prompt,
            max_tokens=arguments.new_tokens,
            temperature=1.0,
            seed=seed,
            stop_token_ids=(),
        )

    best: dict[int, Speed] = {}
    for count in arguments.concurrency:
        for repeat in range(arguments.repeats + 1):  # the first one warms up
            batch = prompts(count, arguments.prompt_tokens, seed=1000 * count + repeat)
            started, cpu = time.perf_counter(), cpu_seconds(pid)
            done = await asyncio.gather(*(complete(p, i) for i, p in enumerate(batch)))
            seconds, cpu = time.perf_counter() - started, cpu_seconds(pid) - cpu
            assert all(len(c.token_ids) == arguments.new_tokens for c in done)
            best[count] = max(
                best.get(count, Speed(0, 0)), Speed.of(count * arguments.new_tokens, seconds, cpu)
            )
    await client.aclose()
    return best


def measure_generate(
    model_dir: Path, adapter: Path | None, arguments: argparse.Namespace
) -> dict[int, Speed]:
    model: Any = Qwen3ForCausalLM.from_pretrained(model_dir)
    if adapter is not None:
        model = PeftModel.from_pretrained(model, str(adapter))
    model.train(mode=False)
    model.generation_config.eos_token_id = None
    best: dict[int, Speed] = {}
    for count in arguments.concurrency:
        for repeat in range(arguments.repeats + 1):
            ids = torch.tensor(prompts(count, arguments.prompt_tokens, seed=repeat))
            started, cpu = time.perf_counter(), cpu_seconds(os.getpid())
            with torch.inference_mode():
                model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    do_sample=True,
                    temperature=1.0,
                    top_k=0,
                    pad_token_id=0,
                    max_new_tokens=arguments.new_tokens,
                )
            seconds, cpu = time.perf_counter() - started, cpu_seconds(os.getpid()) - cpu
            best[count] = max(
                best.get(count, Speed(0, 0)), Speed.of(count * arguments.new_tokens, seconds, cpu)
            )
    return best


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    line = next(x for x in status.read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def report(
    arguments: argparse.Namespace,
    engine: dict[int, Speed],
    generate: dict[int, Speed],
    process: dict[str, float],
) -> None:
    kind = "LoRA" if arguments.adapter else "base"
    print(f"| concurrent ({kind}) | engine over HTTP | per CPU s | generate | per CPU s | wall × |")
    print("|---:|---:|---:|---:|---:|---:|")
    for count, speed in engine.items():
        other = generate[count]
        cells = [speed.wall, speed.cpu, other.wall, other.cpu]
        numbers = " | ".join(f"{cell:,.0f} tok/s" for cell in cells)
        print(f"| {count} | {numbers} | {speed.wall / other.wall:.2f} |")
    versions = {p: importlib.metadata.version(p) for p in ("torch", "transformers", "peft")}
    settings = {
        **vars(arguments),
        "load_average": round(os.getloadavg()[0], 2),
        "versions": versions,
    }
    result = {
        "engine": {count: speed._asdict() for count, speed in engine.items()},
        "generate": {count: speed._asdict() for count, speed in generate.items()},
        **process,
        "settings": settings,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
