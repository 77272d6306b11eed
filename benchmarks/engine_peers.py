"""The compared samplers: the service's engine, vLLM, and transformers in this process."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, GenerationConfig

from app.local.state import free_port
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.settings import to_models_json

ROOT: Final = Path(__file__).parents[1]
VLLM_PYTHON: Final = ROOT / ".venv-vllm" / "bin" / "python"
BASE, ADAPTER = "base", "adapter@v1"
_START_TIMEOUT_S: Final = 180.0
_OWN_SPINS: Final = "300000"
"""Environment that restores libgomp's default spinning, as in this process: engines run one at a
time, without other work.
"""


class Peer(Protocol):
    """`free` says that sequences may join and leave whenever they like; the others take whole
    batches, one after another.
    """

    name: str
    free: bool
    lacks: str
    pid: int

    async def sample(self, prompts: list[list[int]], new_tokens: int, seed: int) -> list[list[int]]:
        """Returns continuations of exactly `new_tokens` tokens."""
        ...


class Server(NamedTuple):
    url: str
    pid: int


def cpu_seconds(pid: int) -> float:
    """Returns user and system time of a process and its running descendants."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return 0.0  # gone
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(child)) for found in lists for child in found.split())


class HttpPeer:
    free = True

    def __init__(self, name: str, server: Server, lacks: str) -> None:
        self.name = name
        self.lacks = lacks
        self.pid = server.pid
        self.inference = HttpInference(server.url)

    async def sample(self, prompts: list[list[int]], new_tokens: int, seed: int) -> list[list[int]]:
        async def complete(index: int, prompt: list[int]) -> list[int]:
            done = await self.inference.complete(
                ADAPTER,
                prompt,
                max_tokens=new_tokens,
                temperature=1.0,
                seed=seed * 4096 + index,
                stop_token_ids=(),
            )
            if len(done.token_ids) != new_tokens:
                raise RuntimeError(f"{self.name} ended early: {done.finish_reason}")
            return list(done.token_ids)

        return await asyncio.gather(*(complete(i, prompt) for i, prompt in enumerate(prompts)))


class Generate:
    """`generate` of transformers with peft attached, a static batch."""

    name = "HF generate + peft"
    free = False
    pid = os.getpid()
    lacks = (
        "no HTTP, no log-probs unless scores are kept, no joining or leaving, a new turn computes "
        "its whole context again, one adapter at a time"
    )

    def __init__(self, model_dir: Path, adapter: Path) -> None:
        self.model = _peft_model(model_dir, adapter, "sdpa")

    async def sample(self, prompts: list[list[int]], new_tokens: int, seed: int) -> list[list[int]]:
        torch.manual_seed(seed)
        longest = max(map(len, prompts))
        ids_BT = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
        lengths_B1 = torch.tensor([len(p) for p in prompts])[:, None]
        mask_BT = (torch.arange(longest) >= longest - lengths_B1).long()
        with torch.inference_mode():
            done_BT = self.model.generate(
                input_ids=ids_BT,
                attention_mask=mask_BT,
                do_sample=True,
                temperature=1.0,
                top_k=0,
                pad_token_id=0,
                max_new_tokens=new_tokens,
            )
        found: list[list[int]] = done_BT[:, longest:].tolist()
        return found


class GenerateBatch:
    """Continuous batching of transformers with peft attached and a small cache."""

    name = "HF generate_batch + peft"
    free = False
    pid = os.getpid()
    lacks = "no HTTP, blocks until all its requests end, one adapter at a time, no seed per request"

    def __init__(self, model_dir: Path, adapter: Path) -> None:
        self.model = _peft_model(model_dir, adapter, "sdpa")

    async def sample(self, prompts: list[list[int]], new_tokens: int, seed: int) -> list[list[int]]:
        torch.manual_seed(seed)
        generation = GenerationConfig(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
            do_sample=True,
            temperature=1.0,
            top_k=0,
            pad_token_id=0,
            eos_token_id=-1,
            max_new_tokens=new_tokens,
        )
        page = 32
        blocks = sum(-(-(len(p) + new_tokens) // page) + 1 for p in prompts)
        sizes = ContinuousBatchingConfig(
            page_size=page,
            num_blocks=max(280, blocks),
            max_batch_tokens=512,
            allow_block_sharing=True,
            return_logprobs=True,
        )
        done = self.model.generate_batch(
            inputs=prompts,
            generation_config=generation,
            continuous_batching_config=sizes,
            progress_bar=False,
        )
        return [list(reply.generated_tokens) for reply in done.values()]


def _peft_model(model_dir: Path, adapter: Path, attention: str) -> Any:
    model = AutoModelForCausalLM.from_pretrained(
        model_dir, dtype=torch.float32, attn_implementation=attention
    )
    model.generation_config.eos_token_id = None
    tuned: Any = PeftModel.from_pretrained(model, str(adapter))
    tuned.train(mode=False)
    return tuned


@contextmanager
def running_cpu_engine(
    spec: BaseModelSpec, directory: Path, threads: int, arguments: tuple[str, ...] = ()
) -> Iterator[Server]:
    models = directory / "models.json"
    models.write_text(json.dumps([{**spec.model_dump(mode="json"), "name": BASE}]))
    port = free_port()
    command = (
        *(sys.executable, "-m", "workers.engines.cpu", "--port", str(port)),
        *("--models-json", str(models), "--threads", str(threads), *arguments),
    )
    with _running(command, port, directory / f"engine-{port}.log", {}) as server:
        yield server


@contextmanager
def running_vllm(spec: BaseModelSpec, directory: Path, threads: int) -> Iterator[Server]:
    """Runs vLLM in its fastest form over HTTP on a CPU: the engine in a process of its own."""
    models = directory / "vllm-models.json"
    models.write_text(to_models_json((spec.model_copy(update={"name": BASE}),)))
    port = free_port()
    command = (
        *(sys.executable, "-m", "workers.engines.vllm", "--python", str(VLLM_PYTHON)),
        *("--models-json", str(models), "--cache-dir", str(directory / "vllm-cache")),
        *("--port", str(port), "--dtype", "float32", "--kv-cache-mib", "512", "--max-loras", "1"),
    )
    environment = {"OMP_NUM_THREADS": str(threads)}
    with _running(command, port, directory / "vllm.log", environment) as server:
        yield server


@contextmanager
def _running(
    command: tuple[str, ...], port: int, log: Path, environment: dict[str, str]
) -> Iterator[Server]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "GOMP_SPINCOUNT": _OWN_SPINS, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_wait_healthy(process, url, log))
        yield Server(url, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        gc.collect()


async def _wait_healthy(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    client = HttpInference(url)
    give_up_at = time.monotonic() + _START_TIMEOUT_S
    while not await client.healthy():
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise RuntimeError(f"no answer from the server: {log}")
        await asyncio.sleep(0.1)
    await client.aclose()
