"""Checks from its small files whether a base model can be trained, served and given tools. No
weights are read: the model is built on the meta device.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch
from pydantic import TypeAdapter
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from app.kit.processes import MODEL_REFUSED
from app.models.models import BaseModelSpec
from app.rollouts.renderer import Renderer
from workers.engines.cpu.models.versions import engine_fault
from workers.engines.model_files import file_faults
from workers.learning.adapters import lora_targets
from workers.learning.backbone import can_share
from workers.learning.head import LOADING_ERRORS, in_one_line

RECORDED: Final = Path(__file__).with_name("vllm_architectures.json")


def is_served_by_vllm(model: PreTrainedModel) -> bool:
    named = model.config.architectures or [type(model).__name__]
    return bool(_listed() & set(named))


@cache
def _listed() -> frozenset[str]:
    return frozenset(json.loads(RECORDED.read_text(encoding="utf-8"))["architectures"])


@dataclass(frozen=True, slots=True)
class BaseModelReport:
    model: str
    verdict: str
    """`works`, `works without tools` or `refused`."""
    reasons: tuple[str, ...] = ()
    targets: str | list[str] | None = None
    packs: bool = False
    cpu_engine: bool = False
    vllm: bool = False
    """True if vLLM lists its architecture and takes adapters of it."""
    tool_parser: str | None = None
    reasoning: str | None = None
    """vLLM's name of the parser for the model's reasoning; `None` for a model without any."""


def check_base_model(spec: BaseModelSpec) -> BaseModelReport:
    try:
        renderer = Renderer(
            spec.path, tool_parser=spec.tool_parser, chat_template=spec.chat_template
        )
        model = _on_meta(spec.path)
        targets = lora_targets(model)
        faults = file_faults(spec.path, model, renderer)
    except LOADING_ERRORS as error:
        return BaseModelReport(spec.name, "refused", (f"{spec.name}: {in_one_line(error)}",))
    if faults:
        return BaseModelReport(spec.name, "refused", tuple(f"{spec.name}: {f}" for f in faults))
    length = min(spec.context_length, renderer.context_length)
    fault = engine_fault(model, context_length=length)
    if length < spec.context_length:
        fault = f"its context_length {spec.context_length} is beyond the {length} of config.json"
    reasons = [] if fault is None else [f"the CPU engine cannot serve it: {fault}; use vLLM"]
    if renderer.tools_fault is not None:
        reasons.append(f"it {renderer.tools_fault}")
    return BaseModelReport(
        spec.name,
        "works" if renderer.tools_fault is None else "works without tools",
        tuple(reasons),
        targets=targets,
        packs=can_share(model),
        cpu_engine=fault is None,
        vllm=is_served_by_vllm(model),
        tool_parser=renderer.tool_parser if renderer.tools_fault is None else None,
        reasoning=renderer.reasoning,
    )


def _on_meta(path: str) -> Any:
    config = AutoConfig.from_pretrained(path)
    with torch.device("meta"):
        # Products of experts are defined for bf16 only on the meta device.
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    return model.eval()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m workers.engines.base_model_check", description=__doc__
    )
    parser.add_argument("--models-json", type=Path, required=True, help="'-' reads standard input")
    path = parser.parse_args(argv).models_json
    text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    reports = [
        check_base_model(spec) for spec in TypeAdapter(list[BaseModelSpec]).validate_json(text)
    ]
    for report in reports:
        print(json.dumps(asdict(report)))  # noqa: T201 - the output of a command
    refused = any(report.verdict == "refused" for report in reports)
    sys.exit(MODEL_REFUSED if refused else 0)


if __name__ == "__main__":
    main()
