"""The random model, and a device that must be there."""

from pathlib import Path

import pytest
import torch

from tests.support.learning.random_model import save_random_model


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def _gpu_is_there(request: pytest.FixtureRequest) -> None:
    """Fails instead of skipping: a run on a machine without a GPU has tested nothing."""
    if request.node.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.fail("no GPU here: torch.cuda.is_available() is False", pytrace=False)
