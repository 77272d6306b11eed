"""Row-by-row computation for a base that appears to support packed rows but does not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from app.kit.errors import RunFailed
from tests.support.learning.samples import VOCAB
from workers.learning.adapters import load_base
from workers.learning.batches import FittingBatches
from workers.learning.token_scores import TokenScorer
from workers.learning.trainer import TrainingSample

Forward = Callable[..., Any]


def loaded(model_dir: Path) -> PreTrainedModel:
    return load_base(str(model_dir), device=torch.device("cpu"), dtype=torch.float64)


def losing(forward: Forward) -> Forward:
    """Makes a base drop the layout before attention."""

    def lost(*args: Any, **kwargs: Any) -> Any:
        return forward(*args, **{k: v for k, v in kwargs.items() if k != "layout"})

    return lost


def refusing(forward: Forward) -> Forward:
    def refused(*args: Any, **kwargs: Any) -> Any:
        if "layout" in kwargs:
            raise TypeError("forward() got an unexpected keyword argument 'layout'")
        return forward(*args, **kwargs)

    return refused


@pytest.mark.parametrize("odd", [losing, refusing])
def test_a_base_that_looks_as_if_it_packed_is_run_by_row(
    model_dir: Path, odd: Callable[[Forward], Forward]
) -> None:
    base = loaded(model_dir)
    for layer in base.model.layers:
        layer.self_attn.forward = odd(layer.self_attn.forward)
    scorer, plain = (
        TokenScorer(base, temperature=1.0),
        TokenScorer(loaded(model_dir), temperature=1),
    )
    assert (scorer.shares, plain.shares) == (False, True)
    prompt = torch.randint(0, VOCAB, (9,)).tolist()
    samples = [
        TrainingSample([*prompt, *own], [0] * 9 + [1] * len(own), [0.0] * (9 + len(own)), 1.0)
        for own in ([5, 3, 8], [7], [1, 2, 3, 4])
    ]
    batches = FittingBatches(max_tokens=64, device=torch.device("cpu"))
    mine = scorer.of_samples(samples, batches)
    for score, other in zip(mine, plain.of_samples(samples, batches), strict=True):
        assert score == pytest.approx(other, abs=1e-9)


def test_a_base_that_computes_more_than_its_output_layer_is_still_refused(model_dir: Path) -> None:
    base = loaded(model_dir)
    forward = base.forward

    def scaled(*args: Any, **kwargs: Any) -> Any:
        out = forward(*args, **kwargs)
        out.logits = out.logits * 0.5
        return out

    base.forward = scaled
    with pytest.raises(RunFailed, match="differ from those of its output layer") as refused:
        TokenScorer(base, temperature=1.0)
    assert (refused.value.code, refused.value.param) == ("base_model_unsupported", "model")
