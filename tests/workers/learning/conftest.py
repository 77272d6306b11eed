"""Trainers on a random model, and samples for them."""

from functools import partial
from pathlib import Path

import pytest

from tests.support.learning.random_model import save_random_model, trainer_on
from tests.support.learning.samples import MakeTrainer, random_samples
from workers.learning.trainer import TrainingSample


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def make_trainer(model_dir: Path) -> MakeTrainer:
    return partial(trainer_on, model_dir)


@pytest.fixture
def samples() -> list[TrainingSample]:
    return random_samples(0, count=12)
