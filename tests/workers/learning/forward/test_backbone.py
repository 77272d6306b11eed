from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from tests.support.learning.random_model import windowed_model
from tests.support.learning.samples import VOCAB
from workers.learning.backbone import Backbone
from workers.learning.batches import Layout, PrefixTree, unshared_layout

ROUNDING = 1e-6
"""Largest difference of two hidden states that rounding can cause in a small fp64 model.

Transformers computes norms and rotary angles in fp32, whatever the model's type, and vectors of
another width round them differently. A wrong key or position changes a state by 1e-3 and more.
"""


@pytest.fixture
def base(model_dir: Path) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float64)
    return model


def expected(model: PreTrainedModel, ids_M: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Runs every row through the unmodified model; takes prefixes from their first row."""
    hidden_MD = torch.full((layout.tokens, model.config.hidden_size), torch.nan).double()
    for prefix, own in layout.spans():
        at = [*prefix, *own]
        hidden_MD[at] = model.base_model(input_ids=ids_M[at][None]).last_hidden_state[0]
    return hidden_MD


@torch.no_grad()
def test_packed_rows_with_shared_prefixes(base: PreTrainedModel, model_dir: Path) -> None:
    layout = Layout((PrefixTree(9, (5, 0, 12)), PrefixTree(0, (7,)), PrefixTree(3, (4, 4))))
    ids_M = torch.randint(0, VOCAB, (layout.tokens,))
    plain = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float64)
    backbone = Backbone(base)
    assert backbone.packs
    torch.testing.assert_close(
        backbone(ids_M, layout), expected(plain, ids_M, layout), rtol=0, atol=ROUNDING
    )


@torch.no_grad()
def test_a_model_with_a_window_is_padded() -> None:
    model = windowed_model(window=4).double()
    model.train(mode=False)
    layout = unshared_layout([9, 3, 12])
    ids_M = torch.randint(0, VOCAB, (layout.tokens,))
    backbone = Backbone(model)
    assert not backbone.packs
    torch.testing.assert_close(
        backbone(ids_M, layout), expected(model, ids_M, layout), rtol=0, atol=ROUNDING
    )
    with pytest.raises(ValueError, match="share"):
        backbone(ids_M, Layout((PrefixTree(12, (6, 6)),)))


def test_checkpointing_changes_no_gradient(base: PreTrainedModel) -> None:
    layout = Layout((PrefixTree(9, (5, 12)),))
    ids_M = torch.randint(0, VOCAB, (layout.tokens,))
    weight = base.get_parameter("model.layers.0.mlp.up_proj.weight")
    (plain,) = torch.autograd.grad(Backbone(base)(ids_M, layout).square().sum(), weight)
    kept = saved_bytes(Backbone(base), ids_M, layout)
    backbone = Backbone(base, checkpointing=True)
    (checkpointed,) = torch.autograd.grad(backbone(ids_M, layout).square().sum(), weight)
    assert torch.equal(plain, checkpointed)
    assert saved_bytes(backbone, ids_M, layout) < kept / 4


def saved_bytes(backbone: Backbone, ids_M: torch.Tensor, layout: Layout) -> int:
    """Returns the bytes of the tensors that autograd stores for backward."""
    storages: dict[int, int] = {}

    def seen(tensor: torch.Tensor) -> torch.Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(seen, lambda tensor: tensor):
        backbone(ids_M, layout)
    return sum(storages.values())
