"""The ways in which a trainer can compute on a CPU, and the work by which they are compared."""

from pathlib import Path

import torch
import torch.nn.functional as F

from app.domain.models.compute_choices import ComputeChoice, Products
from app.domain.models.models import BaseModelSpec
from app.settings.compute import ComputeSettings
from workers.compute.autotuning import (
    Autotuning,
    ForcedCompute,
    choose,
    rows_of_work,
    ways,
)
from workers.compute.measurement import Work
from workers.compute.model_widths import model_widths
from workers.learning.forward.matrix_product import TrainerProducts, has_onednn_product, linear


def trainer_way(spec: BaseModelSpec, settings: ComputeSettings, directory: Path) -> ComputeChoice:
    """Returns the way in which a trainer of this thread computes. `directory` has the measured
    ones.
    """
    return choose(
        trainer_autotuning(spec, threads=torch.get_num_threads()),
        directory if settings.measure else None,
        ForcedCompute(settings.trainer_products, settings.trainer_threads),
    )


def trainer_autotuning(spec: BaseModelSpec, *, threads: int) -> Autotuning:
    """Returns the autotuning for a model. `threads` are those that a trainer has by default."""
    known: tuple[Products, ...] = ("onednn", "torch")
    products = known if has_onednn_product(torch.empty(0)) else known[1:]
    widths = model_widths(spec)
    return Autotuning(
        "trainer",
        widths,
        ways(products, (threads, threads // 2)),
        lambda way: _work(way, widths),
    )


def _work(way: ComputeChoice, widths: tuple[int, int]) -> Work:
    """Returns the products of a feed-forward block with frozen weights, there and back."""
    generator = torch.Generator().manual_seed(0)
    model, inner = widths
    up_OI = torch.randn(inner, model, generator=generator)
    down_OI = torch.randn(model, inner, generator=generator)
    hidden_MI = torch.randn(rows_of_work(widths), model, generator=generator)

    def work() -> None:
        before = TrainerProducts.chosen
        TrainerProducts.chosen = way.products
        try:
            with torch.inference_mode():
                inner_MO = F.silu(linear(F.rms_norm(hidden_MI, (model,)), up_OI))
                out_MO = hidden_MI + linear(inner_MO, down_OI)
                slope_MO = linear(out_MO, down_OI.T) * inner_MO
                linear(slope_MO, up_OI.T)
        finally:
            TrainerProducts.chosen = before

    return work
