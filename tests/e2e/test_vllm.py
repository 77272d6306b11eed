"""The whole product with a real vLLM as its engine: training, publishing, chat."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.settings import ModelSettings
from tests.support.e2e.main_job import BATCH, Endpoints
from tests.support.embedded.installation import Installation, installation, wait_until_final
from tests.support.embedded.jobs import create_job, upload_dataset
from tests.support.engines.engine_proxy import EngineProxy, engine_proxy
from tests.support.engines.vllm_server import running_vllm

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(3600)]
KEY = "sk-engine"
TRAIN_ROWS, VALID_ROWS = 48, 24
STEPS = TRAIN_ROWS // BATCH


@dataclass(frozen=True, slots=True)
class Scene:
    live: Installation
    proxy: EngineProxy
    files: tuple[str, str]

    def served(self) -> list[str]:
        reply = httpx.get(
            f"{self.proxy.engine_url}/v1/models", headers={"Authorization": f"Bearer {KEY}"}
        )
        return [model["id"] for model in reply.json()["data"]]


@pytest.fixture(scope="module")
def scene(endpoints: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    spec = ModelSettings().base_models[0]
    with (
        running_vllm(spec, tmp_path_factory.mktemp("vllm"), api_key=KEY) as url,
        engine_proxy(url) as proxy,
        installation(
            tmp_path_factory.mktemp("installation") / "data",
            allow=[endpoints.good.removeprefix("http://")],
            ENGINE_URL=proxy.url,
            ENGINE_API_KEY=KEY,
        ) as live,
    ):
        files = upload_dataset(
            live.client(), tmp_path_factory.mktemp("rows"), train=TRAIN_ROWS, valid=VALID_ROWS
        )
        yield Scene(live, proxy, files)


@pytest.fixture(scope="module")
def job(scene: Scene, endpoints: Endpoints) -> Any:
    client = scene.live.client()
    created = create_job(client, endpoints.good, scene.files, learning_rate_multiplier=3)
    done = wait_until_final(client, created.id, timeout_s=1500)
    assert done.status == "succeeded", done.error
    return done


def test_it_learned_by_what_vllm_sampled(scene: Scene, job: Any) -> None:
    assert "engine" not in scene.live.pids()
    reward = scene.live.get(f"/fine_tuning/jobs/{job.id}/report")["reward"]
    assert reward["base_mean"] <= 0.45
    assert reward["tuned_mean"] >= reward["base_mean"] + 0.2


def test_each_version_had_a_name_and_a_directory_of_its_own(scene: Scene, job: Any) -> None:
    loaded = [body for body in scene.proxy.loaded if job.id in body["lora_path"]]
    assert len(loaded) >= STEPS
    for field in ("lora_name", "lora_path"):
        assert len({body[field] for body in loaded}) == len(loaded)


def test_an_engine_that_serves_stale_weights_ends_the_job(
    scene: Scene, endpoints: Endpoints
) -> None:
    """Each load succeeds, and is of the first step's adapter: at step 2 that is one too old."""
    scene.proxy.stale = True
    client = scene.live.client()
    created = create_job(client, endpoints.good, scene.files)
    failed = wait_until_final(client, created.id, timeout_s=300)
    scene.proxy.stale = False
    assert (failed.status, failed.error.code) == ("failed", "publish_mismatch")
    assert "does not serve the adapter that was trained at step 2" in failed.error.message
