import json
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from app.gateways.inference.http import HttpInference
from app.rendering.renderer import Renderer
from app.settings import shipped_models
from tests.support.e2e.main_job import BATCH, TRAIN_ROWS, FinishedJob
from tests.support.engine_server import running_engine
from tests.support.installation import Installation

STEPS = TRAIN_ROWS // BATCH
SEQUENCES = 64


@pytest.fixture
def adapter(live: Installation, finished: FinishedJob) -> Path:
    (path,) = live.data_dir.glob(f"objects/projects/*/jobs/{finished.job.id}/step-*{STEPS}-f1")
    return path / "adapter"


def held_out_sequences(live: Installation, job_id: str) -> list[list[int]]:
    """Whole held-out conversations of the tuned policy, as token ids."""
    spec = shipped_models()[0]
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=None)
    rows = live.rollouts(job_id, split="valid", step=STEPS) + live.rollouts(
        job_id, split="valid", step=10
    )
    return [renderer.prompt_ids(row["trace"]["messages"], None) for row in rows[:SEQUENCES]]


def test_the_published_files_are_stock_peft_and_name_no_path(adapter: Path) -> None:
    assert {file.name for file in adapter.iterdir()} >= {
        "adapter_config.json",
        "adapter_model.safetensors",
    }
    assert not [
        file for file in adapter.parent.rglob("*") if file.suffix in {".bin", ".pt", ".pkl"}
    ]
    config = json.loads((adapter / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "tiny-agent-2026-11-21"
    assert config["peft_type"] == "LORA"


async def test_stock_peft_and_the_engine_agree_on_held_out_sequences(
    live: Installation, finished: FinishedJob, adapter: Path
) -> None:
    spec = shipped_models()[0]
    base = AutoModelForCausalLM.from_pretrained(spec.path, dtype=torch.float32)
    untuned = base.state_dict()["lm_head.weight"].clone()
    model = PeftModel.from_pretrained(base, str(adapter)).eval()
    assert torch.equal(untuned, base.state_dict()["lm_head.weight"])
    sequences = held_out_sequences(live, finished.job.id)
    assert len(sequences) == SEQUENCES
    worst = moved = 0.0
    with running_engine([spec]) as url:
        inference = HttpInference(url)
        await inference.load_adapter("the-adapter", adapter)
        for ids in sequences:
            with torch.no_grad():
                logits_TV = model(torch.tensor([ids])).logits[0, :-1]
                with model.disable_adapter():
                    base_TV = model(torch.tensor([ids])).logits[0, :-1]
            targets_T1 = torch.tensor(ids[1:])[:, None]
            stock_T = logits_TV.log_softmax(-1).gather(-1, targets_T1)[:, 0]
            base_T = base_TV.log_softmax(-1).gather(-1, targets_T1)[:, 0]
            completion = await inference.complete(
                "the-adapter",
                ids,
                max_tokens=1,
                temperature=0,
                seed=0,
                stop_token_ids=(),
                prompt_logprobs=True,
            )
            engine_T = torch.tensor(list(completion.prompt_logprobs or ())[1:])
            worst = max(worst, float((engine_T - stock_T).abs().max()))
            moved = max(moved, float((base_T - stock_T).abs().max()))
        await inference.aclose()
    assert worst < 1e-4
    assert moved > 1.0, "the adapter must do something"
