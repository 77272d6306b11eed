"""Measures how fast this machine reads, samples and trains with a base model."""

import asyncio
import hashlib
import json
import os
import random
import time
from pathlib import Path
from typing import Final

import structlog
import torch
from pydantic import ValidationError

from app.models.compute import GROUP_SIZE, PROMPT_TOKENS, SAMPLED_TOKENS, StepPace
from app.models.models import BaseModelSpec, TrainerMemory
from app.settings import cache_directory
from workers.compute import describe_processor, is_accelerated
from workers.engines.cpu.autotuning import ASSUMED_THREADS
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.batching.sequence import Sampling
from workers.engines.cpu.engine import Engine
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import (
    CPU_BATCH_TOKENS,
    TrainerOptions,
    TrainingSample,
    machine_options,
)

log = structlog.get_logger()

VERSION: Final = 1
"""Rises with every change of engine or trainer that makes older results wrong."""
ENOUGH_S: Final = 2.0
"""Seconds after which a measurement is long enough; a shorter one is repeated with more rows."""
ROWS: Final = (2, 16, 64)
NEW_TOKENS: Final = 8
_FEW_IDS: Final = 50
"""Token ids that every vocabulary has."""
_LOGPROB: Final = -5.0


async def pace_of(spec: BaseModelSpec, memory: TrainerMemory) -> StepPace:
    """Returns the stored pace, or measures it, which takes ten seconds to a few minutes."""
    options = machine_options(TrainerOptions(threads=os.cpu_count()), spec, memory)
    kept = pace_file(spec, options)
    try:
        return StepPace.model_validate_json(kept.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        log.info("speed is measured", model=spec.name)
    read, sampled = await _engine_speeds(spec)
    trained, shares = await asyncio.to_thread(_trainer_speed, spec, options)
    pace = StepPace(read=read, sampled=sampled, trained=trained, shares_prompts=shares)
    _keep(kept, pace)
    return pace


def pace_file(spec: BaseModelSpec, options: TrainerOptions) -> Path:
    """Returns the file of a result. Its name is a digest of all inputs of the speed."""
    cpu = not is_accelerated()
    caches = cache_directory()
    facts = {
        "version": VERSION,
        "processor": describe_processor(),
        "cores": os.cpu_count(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "config": (Path(spec.path) / "config.json").read_text(encoding="utf-8"),
        "rank": spec.lora_rank,
        "context_length": spec.context_length,
        "dtype": options.dtype_on(cpu=cpu),
        "checkpointing": options.checkpointing_on(cpu=cpu),
        "micro_batch_tokens": options.max_batch_tokens or (CPU_BATCH_TOKENS if cpu else None),
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return caches / "agent-rft" / "pace" / f"{digest[:32]}.json"


def _keep(file: Path, pace: StepPace) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_text(pace.model_dump_json(), encoding="utf-8")
        scratch.replace(file)
    except OSError as error:  # the measurement is good for this start all the same
        log.warning("the speed is not kept", reason=str(error))


async def _engine_speeds(spec: BaseModelSpec) -> tuple[float, float]:
    engine = Engine([spec], Limits(threads=ASSUMED_THREADS))
    await engine.start()
    try:
        read = sampled = 0.0
        for rows in ROWS:
            started = time.perf_counter()
            read = await _tokens_per_s(engine, spec, rows=rows, new=1)
            sampled = await _tokens_per_s(engine, spec, rows=rows, new=NEW_TOKENS)
            if time.perf_counter() - started > ENOUGH_S:
                break
        return read, sampled
    finally:
        await engine.stop()


async def _tokens_per_s(engine: Engine, spec: BaseModelSpec, *, rows: int, new: int) -> float:
    """Tokens per second on prompts when one new token is requested, otherwise of sampling."""
    version = engine.versions.get(spec.name)
    generator = random.Random(rows)
    length = min(PROMPT_TOKENS, spec.context_length - NEW_TOKENS) // (1 if new == 1 else 16)
    prompts = [_tokens(generator, version.base.vocab_size, max(2, length)) for _ in range(rows)]
    sequences = [
        engine.sequence(version, prompt, Sampling(max_tokens=new, temperature=1, seed=number))
        for number, prompt in enumerate(prompts)
    ]
    started = time.perf_counter()
    await engine.finish(sequences)
    seconds = time.perf_counter() - started
    tokens = sum(map(len, prompts)) if new == 1 else rows * new
    return tokens / seconds


def _trainer_speed(spec: BaseModelSpec, options: TrainerOptions) -> tuple[float, bool]:
    """Tokens per second of a whole update, and whether rows share their prompt's computation."""
    trainer = LoraTrainer(
        spec.path,
        base_name=spec.name,
        rank=spec.lora_rank,
        alpha=spec.lora_alpha,
        learning_rate=spec.learning_rate,
        seed=0,
        options=options,
    )
    speed = 0.0
    for rows in (1, GROUP_SIZE):
        samples = _group(spec, rows)
        length = len(samples[0].tokens)
        prompt = length * PROMPT_TOKENS // (PROMPT_TOKENS + SAMPLED_TOKENS)
        tokens = rows * length - (rows - 1) * prompt * trainer.packs
        started = time.perf_counter()
        trainer.update(samples)
        seconds = time.perf_counter() - started
        speed = tokens / seconds
        if seconds > ENOUGH_S:
            break
    return speed, trainer.packs


def _group(spec: BaseModelSpec, rows: int) -> list[TrainingSample]:
    generator = random.Random(rows)
    length = min(PROMPT_TOKENS + SAMPLED_TOKENS, spec.context_length)
    prompt = length * PROMPT_TOKENS // (PROMPT_TOKENS + SAMPLED_TOKENS)
    start = _tokens(generator, _FEW_IDS, prompt)
    own = length - prompt
    return [
        TrainingSample(
            [*start, *_tokens(generator, _FEW_IDS, own)],
            [0] * prompt + [1] * own,
            [_LOGPROB] * length,
            1.0 - 2 * (row % 2),
            group=0,
        )
        for row in range(rows)
    ]


def _tokens(generator: random.Random, vocabulary: int, count: int) -> list[int]:
    return [generator.randrange(vocabulary) for _ in range(count)]
