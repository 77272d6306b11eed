"""The tiny base model that tests of the CPU engine serve."""

import pytest
import torch

from app.models.models import BaseModelSpec
from tests.support.models.tiny_model import CONTEXT_LENGTH, save_tiny_model
from workers.engines.cpu.engine import load_served
from workers.engines.cpu.models.versions import BaseModel


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    path = save_tiny_model(tmp_path_factory.mktemp("model"))
    spec = BaseModelSpec(name="tiny", path=str(path), context_length=CONTEXT_LENGTH)
    return load_served(spec, torch.float32)[0]
