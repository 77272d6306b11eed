import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from app.models.engine_http import HttpInference
from app.rollouts.renderer import Renderer
from app.settings import shipped_models
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.e2e.main_job import EVAL_INTERVAL, STEPS, FinishedJob
from tests.support.embedded.installation import Installation, cli
from tests.support.engines.engine_server import running_engine

SEQUENCES = 64
TOP = 20


def download(live: Installation, model: str, directory: Path, *, command: str = "download") -> Path:
    """Downloads an adapter, or exports merged weights, as a user does."""
    done = subprocess.run(
        cli("models", command, model, "--out", str(directory)),
        env={**os.environ, "AGENT_RFT_BASE_URL": live.base_url, "AGENT_RFT_API_KEY": live.api_key},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def adapter(
    live: Installation, finished: FinishedJob, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The published adapter, downloaded."""
    directory = tmp_path_factory.mktemp("download") / "adapter"
    return download(live, finished.job.fine_tuned_model, directory)


def held_out_sequences(live: Installation, job_id: str) -> list[list[int]]:
    """Whole held-out conversations of the tuned policy, as token ids."""
    spec = shipped_models()[0]
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=None)
    rows = live.rollouts(job_id, split="valid", step=STEPS) + live.rollouts(
        job_id, split="valid", step=EVAL_INTERVAL
    )
    return [renderer.prompt_ids(row["trace"]["messages"], None) for row in rows[:SEQUENCES]]


def test_the_downloaded_files_are_stock_peft_and_name_no_path(
    live: Installation, finished: FinishedJob, adapter: Path
) -> None:
    assert sorted(file.name for file in adapter.iterdir()) == [
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "manifest.json",
    ]
    config = json.loads((adapter / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "tiny-agent-2026-11-23"
    assert config["peft_type"] == "LORA"
    assert str(live.data_dir) not in "".join(
        file.read_text() for file in adapter.iterdir() if file.suffix != ".safetensors"
    )
    manifest = json.loads((adapter / "manifest.json").read_text())
    assert manifest["model"] == finished.job.fine_tuned_model
    weights = hashlib.sha256((adapter / "adapter_model.safetensors").read_bytes()).hexdigest()
    assert weights == live.adapters(finished.job.id)[manifest["step"]]


def test_a_checkpoint_is_downloaded_by_its_name(
    live: Installation, finished: FinishedJob, tmp_path: Path
) -> None:
    (stored,) = live.data_dir.glob(f"objects/projects/*/jobs/{finished.job.id}/step-*{STEPS}-f1")
    assert not [file for file in stored.rglob("*") if file.suffix in {".bin", ".pt", ".pkl"}]
    name = f"{finished.job.fine_tuned_model}:ckpt-step-{STEPS}"
    found = download(live, name, tmp_path / "checkpoint")
    for file in ("adapter_config.json", "adapter_model.safetensors"):
        assert (found / file).read_bytes() == (stored / "adapter" / file).read_bytes()


def load_stock(adapter: Path) -> Any:
    base = AutoModelForCausalLM.from_pretrained(shipped_models()[0].path, dtype=torch.float32)
    untuned = base.state_dict()["lm_head.weight"].clone()
    model = PeftModel.from_pretrained(base, str(adapter)).eval()
    assert torch.equal(untuned, base.state_dict()["lm_head.weight"])
    return model


@pytest.mark.parametrize("command", ["download", pytest.param("export", marks=pytest.mark.long)])
def test_downloaded_weights_in_stock_libraries_are_the_served_model(
    live: Installation, finished: FinishedJob, tmp_path: Path, command: str
) -> None:
    name = str(finished.job.fine_tuned_model)
    files = download(live, name, tmp_path / "weights", command=command)
    merged = command == "export"
    model = AutoModelForCausalLM.from_pretrained(files) if merged else load_stock(files)
    client = live.client()
    worst, compared = 0.0, 0
    for row in make_rows(build_catalogue(), "validation", 5, seed=3):
        reply = client.chat.completions.create(
            model=finished.job.fine_tuned_model,
            messages=row["messages"],
            temperature=1,
            seed=5,
            max_completion_tokens=24,
            logprobs=True,
            top_logprobs=TOP,
            extra_body={"return_token_ids": True},
        ).model_dump()
        choice, prompt = reply["choices"][0], reply["prompt_token_ids"]
        ids = [*prompt, *choice["token_ids"]]
        with torch.no_grad():
            logits_TV = model(torch.tensor([ids])).logits[0, len(prompt) - 1 : -1]
        stock_TV = logits_TV.log_softmax(-1)
        served = choice["logprobs"]["content"]
        assert len(served) == len(stock_TV) == len(choice["token_ids"])
        for index, token in enumerate(served):
            sampled = stock_TV[index, choice["token_ids"][index]]
            worst = max(worst, abs(float(sampled) - token["logprob"]))
            top = torch.tensor([other["logprob"] for other in token["top_logprobs"]])
            worst = max(worst, float((stock_TV[index].topk(TOP).values - top).abs().max()))
            compared += 1 + TOP
    assert compared > 1000
    assert worst < 1e-4


async def test_stock_peft_and_the_engine_agree_on_held_out_sequences(
    live: Installation, finished: FinishedJob, adapter: Path
) -> None:
    spec = shipped_models()[0]
    model = load_stock(adapter)
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
