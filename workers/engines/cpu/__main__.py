"""Runs the CPU engine as a process: `python -m workers.engines.cpu`. Reads the models from a JSON
file (a list of `BaseModelSpec`) and serves until SIGTERM or SIGINT.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, get_args

import structlog
import torch
from aiohttp import web
from pydantic import TypeAdapter

from app.kit.logs import log_to_stderr
from app.models.compute import ComputeChoice, Products
from app.models.models import BaseModelSpec
from app.settings import ConfiguredCompute, HostSettings
from workers.autotuning import ForcedCompute, choose
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.engine import Engine, engine_autotuning
from workers.engines.cpu.http.server import build_app
from workers.engines.cpu.models.attention import KV_POOL_BYTES
from workers.engines.cpu.models.versions import ADAPTER_BYTES, MERGED_BYTES

log = structlog.get_logger()

# The compute thread releases the GIL at every tensor operation; with an interval shorter than the
# default 5 ms it gets the GIL back sooner while requests are parsed.
SWITCH_INTERVAL_S: Final = 0.0002
_SHUTDOWN_S: Final = 1.0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers.engines.cpu", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8300)
    parser.add_argument("--models-json", type=Path, required=True)
    parser.add_argument("--threads", type=int, help="chosen by default, see --compute-dir")
    parser.add_argument("--products", choices=get_args(Products), help="the same")
    parser.add_argument(
        "--compute-dir",
        type=Path,
        help="directory of measured ways to compute; without one nothing is measured: oneDNN's "
        "products, and half of the cores",
    )
    parser.add_argument("--max-rows", type=int, default=128)
    parser.add_argument("--kv-pool-mib", type=int, default=KV_POOL_BYTES >> 20)
    parser.add_argument("--prefix-cache-mib", type=int, default=256)
    parser.add_argument("--merged-mib", type=int, default=MERGED_BYTES >> 20)
    parser.add_argument("--adapter-mib", type=int, default=ADAPTER_BYTES >> 20)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument(
        "--batch-invariant",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="results do not depend on the rest of the batch; single sequences are slower",
    )
    return parser.parse_args(argv)


def _way(specs: list[BaseModelSpec], arguments: argparse.Namespace) -> ComputeChoice:
    autotuning = engine_autotuning(
        specs, dtype=getattr(torch, arguments.dtype), invariant=arguments.batch_invariant
    )
    settings = ConfiguredCompute().compute
    forced = ForcedCompute(
        arguments.products or settings.engine_products, arguments.threads or settings.engine_threads
    )
    directory = arguments.compute_dir if settings.measure else None
    # A thread of its own: its OpenMP threads end with it, and slow down no thread of the engine.
    with ThreadPoolExecutor(1, "autotuning") as thread:
        return thread.submit(choose, autotuning, directory, forced).result()


async def _serve(arguments: argparse.Namespace, api_key: str) -> None:
    content = arguments.models_json.read_bytes()
    specs = TypeAdapter(list[BaseModelSpec]).validate_json(content)
    way = _way(specs, arguments)
    log.info("the engine computes", products=way.products, threads=way.threads)
    limits = Limits(
        threads=way.threads,
        products=way.products,
        max_rows=arguments.max_rows,
        kv_pool_bytes=arguments.kv_pool_mib << 20,
        prefix_bytes=arguments.prefix_cache_mib << 20,
        merged_bytes=arguments.merged_mib << 20,
        adapter_bytes=arguments.adapter_mib << 20,
        invariant=arguments.batch_invariant,
        dtype=getattr(torch, arguments.dtype),
    )
    engine = Engine(specs, limits)
    await engine.start()
    runner = web.AppRunner(
        build_app(engine, api_key=api_key),
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=_SHUTDOWN_S,
    )
    await runner.setup()
    await web.TCPSite(runner, arguments.host, arguments.port, backlog=1024).start()
    log.info("engine ready", host=arguments.host, port=arguments.port, models=len(specs))
    stopping = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stopping.set)
    await stopping.wait()
    await runner.cleanup()
    await engine.stop()


def main(argv: Sequence[str] | None = None) -> None:
    arguments = _arguments(argv)
    log_to_stderr()
    # The engine starts with few environment variables, too few for the complete settings.
    key = HostSettings().engine_api_key
    api_key = "" if key is None else key.get_secret_value()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    torch.set_num_threads(1)  # affects this thread only; see `Engine`
    asyncio.run(_serve(arguments, api_key))


if __name__ == "__main__":
    main()
