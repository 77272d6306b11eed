"""A frozen base model with the adapter that is trained on it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import torch
import torch.nn.functional as F
from peft import PeftModel
from torch import nn
from transformers import PreTrainedModel

from app.kit.errors import OUT_OF_MEMORY, RunFailed
from app.models.compute import ComputeChoice, Products
from app.models.models import BaseModelSpec
from app.settings import ComputeSettings
from workers.autotuning import Autotuning, ForcedCompute, Work, choose, rows_of_work, ways
from workers.compute import default_device, model_widths
from workers.learning.adapters import (
    StartingWeights,
    adapter_parameters,
    attach_lora,
    install_fast_lora_forward,
    load_base,
    save_adapter,
)
from workers.learning.batches import FittingBatches
from workers.learning.head import TrainerProducts, has_onednn_product, linear
from workers.learning.token_scores import CudaMemory, TokenScorer, measured_batch_tokens
from workers.learning.trainer import CPU_BATCH_TOKENS, Precision, TrainerOptions, TrainingSample

_DTYPES: Final[Mapping[Precision, torch.dtype]] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
}
_DIGEST_VALUES: Final = 4096
"""A few values of each matrix are enough, because any training changes all of them."""


class AdaptedModel:
    def __init__(
        self,
        base_path: str,
        *,
        base_name: str,
        rank: int,
        alpha: float,
        seed: int,
        temperature: float,
        options: TrainerOptions,
    ) -> None:
        self.device = torch.device(options.device) if options.device else default_device()
        self._options = options
        with _naming_the_model(base_name, self.device):
            base = load_base(base_path, device=self.device, dtype=self._dtype)
            self.base_digest = weights_digest(base)
            self.scorer = TokenScorer(
                base, temperature=temperature, checkpointing=self._checkpointing
            )
            self.peft = attach_lora(base, rank=rank, alpha=alpha, base_name=base_name, seed=seed)
            install_fast_lora_forward(self.peft)
            self.parameters: Mapping[str, nn.Parameter] = adapter_parameters(self.peft)
            self._start = StartingWeights(self.peft, options.start)
            self.batches = FittingBatches(max_tokens=self._max_tokens(), device=self.device)

    @property
    def on_cpu(self) -> bool:
        return self.device.type == "cpu"

    @property
    def _dtype(self) -> torch.dtype:
        return _DTYPES[self._options.dtype_on(cpu=self.on_cpu)]

    @property
    def _checkpointing(self) -> bool:
        return self._options.checkpointing_on(cpu=self.on_cpu)

    def _max_tokens(self) -> int:
        if self._options.max_batch_tokens is not None:
            return self._options.max_batch_tokens
        if self.on_cpu:
            return CPU_BATCH_TOKENS
        memory = CudaMemory(self.device)
        return measured_batch_tokens(memory, self.scorer, list(self.parameters.values()))

    @contextmanager
    def with_adapter(self, wanted: bool) -> Iterator[None]:
        if wanted:
            yield
            return
        with self.peft.disable_adapter():
            yield

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool) -> list[float]:
        with self.with_adapter(adapter):
            return self.scorer.of_row(token_ids)

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        with self._start.active():
            return self.scorer.of_samples(samples, self.batches)

    def save_adapter(self, directory: Path) -> None:
        save_adapter(self.peft, directory)


def weights_digest(base: PreTrainedModel | PeftModel) -> str:
    """Of names, shapes and values; independent of the precision in which they were loaded."""
    digest = hashlib.sha256()
    for name, weight in sorted(base.named_parameters()):
        flat = weight.detach().flatten()
        picked = flat[:: max(1, flat.numel() // _DIGEST_VALUES)]
        values = picked.to(torch.bfloat16).cpu().view(torch.int16).numpy().tobytes()
        digest.update(f"{name}{tuple(weight.shape)}".encode())
        digest.update(values)
    return digest.hexdigest()


@contextmanager
def _naming_the_model(base_name: str, device: torch.device) -> Iterator[None]:
    """Converts a failed allocation into `RunFailed` with the name of the model."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise RunFailed(
            f"The memory of {device.type} does not suffice for the weights of {base_name} and its "
            "adapter. Give the engine on this GPU a smaller share of the memory, or set `dtype` of "
            "the base model to bfloat16; `agent-rft plan` says what fits.",
            code=OUT_OF_MEMORY,
        ) from error


def trainer_way(spec: BaseModelSpec, settings: ComputeSettings, directory: Path) -> ComputeChoice:
    """`directory` has the measured ways."""
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
        "trainer", widths, ways(products, (threads, threads // 2)), lambda way: _work(way, widths)
    )


def _work(way: ComputeChoice, widths: tuple[int, int]) -> Work:
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
