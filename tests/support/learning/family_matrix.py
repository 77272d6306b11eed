"""Measures what each model family can do, on random weights, and writes the table of the docs.

`python -m tests.support.learning.family_matrix` prints the table of `docs/models.md`.
"""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from app.kit.errors import AgentRftError
from app.models.models import BaseModelSpec
from tests.support.learning.architectures import ARCHITECTURES, build_architecture
from tests.support.models.tiny_model import DROPS_THINKING
from tests.support.rendering.family_templates import FAMILIES, NO_TOOLS, save_family
from workers.engines.base_model_check import check_base_model
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.batching.sequence import Sampling
from workers.engines.cpu.engine import Engine
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample

TEMPLATES: Final = {
    "Qwen2.5": "hermes",
    "Qwen3": "hermes",
    "Qwen3 MoE": "hermes",
    "Qwen3.5": "qwen3_coder",
    "Llama 3": "llama3_json",
    "Mistral": "mistral",
    "Phi-3 and 4": "phi4_mini_json",
    "OLMo 3": "olmo3",
    "GLM-4.5": "glm45",
    "SmolLM3": "hermes",
    "Granite": "granite",
    "gpt-oss": "openai",
    "DeepSeek-V3": "deepseek_v3",
}
"""The format of tool calls of a family's published template; the others print no calls."""
THINKING: Final = ("Qwen3", "Qwen3 MoE", "SmolLM3")
"""Families whose hermes template removes the reasoning of earlier turns."""
ROW: Final = [3, 5, 7, 9, 11, 13, 15, 17]
AGREEMENT: Final = 2e-3


@dataclass(frozen=True, slots=True)
class FamilyRow:
    family: str
    trainer: str
    packs: bool
    cpu_engine: str
    vllm: str
    tools: str
    reasoning: str

    def line(self) -> str:
        packing = "shared prefixes" if self.packs else "by row"
        cells = (self.family, self.trainer, packing, self.cpu_engine, self.vllm)
        return "| " + " | ".join((*cells, self.tools, self.reasoning)) + " |"


HEADER: Final = (
    "| family | trainer | packing | CPU engine | vLLM | tool calls | reasoning |",
    "|---|---|---|---|---|---|---|",
)


def save_architecture(directory: Path, family: str) -> BaseModelSpec:
    """Writes a family's tiny model with its tokenizer and template."""
    name = TEMPLATES.get(family)
    written = NO_TOOLS if name is None else FAMILIES[name]
    if family in THINKING:
        written = written._replace(template=DROPS_THINKING)
    save_family(directory, written)
    declared = (directory / "generation_config.json").read_text()
    build_architecture(family).save_pretrained(directory)
    (directory / "generation_config.json").write_text(declared)
    return BaseModelSpec(name=family, path=str(directory), context_length=128)


def measure(family: str, directory: Path) -> FamilyRow:
    """Trains a step, serves the result, and compares the log-probs of both."""
    spec = save_architecture(directory / "model", family)
    report = check_base_model(spec)
    try:
        trainer = _trained(spec, directory / "adapter")
    except (AgentRftError, ValueError) as error:
        return FamilyRow(family, f"no: {error}", False, "no", "no", "no", "no")
    engine = "no: " + "; ".join(r for r in report.reasons if "CPU engine" in r)
    if report.cpu_engine:
        served = asyncio.run(_served(spec, directory / "adapter"))
        own = trainer.logprobs(ROW)
        worst = max(abs(a - b) for a, b in zip(served, own, strict=True))
        engine = "yes" if worst < AGREEMENT else f"no: log-probs differ by {worst:.1g}"
    return FamilyRow(
        family,
        "yes" if isinstance(report.targets, str) else "yes, attention only",
        trainer.packs,
        engine.replace("no: the CPU engine cannot serve it: ", "no: ").replace("; use vLLM", ""),
        "listed" if report.vllm else "not listed",
        "none" if report.tool_parser is None else f"`{report.tool_parser}`",
        "none" if report.reasoning is None else f"`{report.reasoning}`",
    )


def _trained(spec: BaseModelSpec, adapter: Path) -> LoraTrainer:
    trainer = LoraTrainer(
        spec.path,
        base_name=spec.name,
        rank=4,
        alpha=64,
        learning_rate=0.01,
        seed=0,
        options=TrainerOptions(device="cpu", threads=1),
    )
    before = trainer.logprobs(ROW)
    samples = [
        TrainingSample(ROW, [0] * 4 + [1] * 4, [0.0] * 4 + before[3:], 1.0),
        TrainingSample([*ROW[:4], 20, 21, 22, 23], [0] * 4 + [1] * 4, [-5.0] * 8, -1.0),
    ]
    trainer.update(samples)
    after = trainer.logprobs(ROW)
    if max(abs(a - b) for a, b in zip(before, after, strict=True)) < AGREEMENT:
        raise ValueError("a step changes nothing")
    trainer.save_adapter(adapter)
    return trainer


async def _served(spec: BaseModelSpec, adapter: Path) -> list[float]:
    engine = Engine([spec], Limits(threads=1, invariant=False))
    await engine.start()
    try:
        version = await engine.load_adapter("tuned", adapter)
        sampling = Sampling(max_tokens=1, temperature=0, seed=0, prompt_logprobs=True)
        sequence = engine.sequence(version, ROW, sampling)
        await engine.finish([sequence])
    finally:
        await engine.stop()
    return [value for value in sequence.prompt_logprobs or [] if value is not None]


def main() -> None:
    torch.set_num_threads(1)
    print(*HEADER, sep="\n")  # noqa: T201 - the output of a command
    for family in ARCHITECTURES:
        with tempfile.TemporaryDirectory() as directory:
            print(measure(family, Path(directory)).line(), flush=True)  # noqa: T201 - the output of a command


if __name__ == "__main__":
    main()
