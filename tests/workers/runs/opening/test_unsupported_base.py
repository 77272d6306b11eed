"""A run on a base model that the trainer cannot train ends before its first rollout."""

from dataclasses import replace
from pathlib import Path

from transformers import GPT2Config, GPT2LMHeadModel

from app.jobs.jobs import JobStatus
from tests.support.models.tiny_model import save_tiny_model
from tests.support.runs.real_run import RealRuns, Script, TinyEngine
from tests.support.runs.world import World


async def test_it_is_tried_once_and_samples_nothing(
    world: World, engine: TinyEngine, tmp_path: Path
) -> None:
    save_tiny_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=8, n_head=1, vocab_size=640)).save_pretrained(
        tmp_path
    )
    spec = engine.spec.model_copy(update={"path": str(tmp_path)})
    runs, script = RealRuns(world, replace(engine, spec=spec)), Script()
    ended = await runs.run(await runs.job(), script)
    assert ended.error is not None
    assert (ended.status, ended.step, ended.attempts) == (JobStatus.FAILED, 0, 1)
    assert (ended.error.code, ended.error.param) == ("base_model_unsupported", "model")
    assert ended.error.message is not None
    assert "none of its layers is a linear layer that LoRA can adapt" in ended.error.message
    for split in ("train", "valid", "valid_base"):
        assert await runs.rollouts(ended, split) == []
