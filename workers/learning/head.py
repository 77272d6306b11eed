"""Computes target log-probs without storing the full logits.

The head is frozen, so the gradient of a token's log-prob with respect to its hidden state,

∂lp_n/∂h_n = (W[y_n] - softmax(z_n)·W) / temperature,

is computed with the chunk and stored (N x D numbers); backward only scales it per token. A chunk
takes two matrix products instead of the three that recomputation would take.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import torch
import torch.nn.functional as F
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import PreTrainedModel
from typing_extensions import override

from app.kit.errors import RunFailed
from app.models.compute import Products
from app.models.models import BASE_MODEL_UNSUPPORTED
from workers.learning.batches import MicroBatch, micro_batches
from workers.learning.trainer import TrainingSample


class UnsupportedBase(RunFailed, ValueError):
    """A base model that the trainer cannot train; it ends the run before anything is sampled."""


TOLERANCE: Final = {torch.float64: 1e-6, torch.float32: 1e-3}
LOW_PRECISION_TOLERANCE: Final = 0.25


@torch.no_grad()
def check_model(
    base: PreTrainedModel,
    logprobs: Callable[[MicroBatch], Tensor],
    *,
    temperature: float,
    share: bool,
) -> None:
    """Compares the log-probs of two rows of one prompt with the model's full forward pass.
    `logprobs` computes the log-probs of a micro-batch's targets. Raises `UnsupportedBase` if they
    differ.
    """
    rows_BT = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 7, 6, 5, 4]])
    mask = [0] * 4 + [1] * 4
    samples = [TrainingSample(row, mask, [0.0] * 8, 1.0) for row in rows_BT.tolist()]
    (batch,) = micro_batches(samples, max_tokens=16, share=share)
    packed_N = logprobs(batch.to(base.device))
    rows_BT = rows_BT.to(base.device)
    logits_BTV = base(input_ids=rows_BT, use_cache=False).logits[:, 3:-1]
    reference_BTV = (logits_BTV.float() / temperature).log_softmax(-1)
    reference_N = reference_BTV.gather(-1, rows_BT[:, 4:, None]).flatten().to(packed_N.dtype)
    tolerance = TOLERANCE.get(logits_BTV.dtype, LOW_PRECISION_TOLERANCE)
    if not torch.allclose(reference_N, packed_N, rtol=0, atol=tolerance):
        raise UnsupportedBase(
            "The trainer cannot train this base model: its log-probs differ from those of its "
            "output layer, so it changes its logits in a way that is not known here.",
            code=BASE_MODEL_UNSUPPORTED,
            param="model",
        )


class Rotations:
    """The rotary embeddings of a base model. A model without such ones has one band."""

    def __init__(self, base: PreTrainedModel) -> None:
        self._dynamic: list[Any] = []
        self._limits: list[int] = []
        for module in base.modules():
            kind = getattr(module, "rope_type", None)
            if not isinstance(kind, str):
                continue
            if "dynamic" in kind:
                self._dynamic.append(module)
                self._limits.append(int(module.original_max_seq_len))  # type: ignore[arg-type]  # torch types attributes of modules as tensors
            elif kind == "longrope":
                parameters: Any = module.config.rope_parameters  # type: ignore[union-attr]  # torch types attributes of modules as tensors
                self._limits.append(int(parameters["original_max_position_embeddings"]))

    @property
    def limit(self) -> int | None:
        return min(self._limits, default=None)

    def band(self, length: int) -> int:
        """Returns a number that rows have in common which may be computed together."""
        if not self._limits or length <= min(self._limits):
            return 0
        return length if self._dynamic else 1

    def reset(self) -> None:
        for module in self._dynamic:
            original = module.original_inv_freq.to(module.inv_freq.device)
            module.register_buffer("inv_freq", original, persistent=False)
            module.max_seq_len_cached = module.original_max_seq_len


@dataclass(frozen=True, slots=True)
class OutputScaling:
    """`logits = cap · tanh(scale · z / cap)` for the output z of the layer; without a cap
    `logits = scale · z`.
    """

    scale: float = 1.0
    cap: float | None = None


def output_scaling(base: PreTrainedModel) -> OutputScaling:
    """Returns the scaling of Cohere (`logit_scale`), Granite (`logits_scaling`, a divisor) and
    Gemma 2 (`final_logit_softcapping`); the check of a base finds any other.
    """
    config = base.config.get_text_config()
    scale = getattr(config, "logit_scale", None) or 1.0
    divisor = getattr(config, "logits_scaling", None) or 1.0
    return OutputScaling(scale / divisor, getattr(config, "final_logit_softcapping", None) or None)


LOADING_ERRORS: Final = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    AssertionError,
    StrictDataclassError,
)
"""Of a configuration that cannot be built; the last one derives from `Exception` alone."""


def in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


LOGITS_PER_CHUNK: Final = {"cpu": 1 << 20, "cuda": 1 << 26}
"""Logits per chunk: 4 MiB in fp32 on a CPU, which fit its caches; 256 MiB on CUDA."""
MIN_CHUNK: Final = 64
"""Smallest chunk in tokens: matrix products of fewer are slow for every vocabulary size."""


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Scores of N target tokens. `logprobs_N` and `mean_logprobs_N` carry gradient into the hidden
    states; `entropy_N` (nats) and `top_N` (true if the target is the likeliest token) do not. The
    mean over the vocabulary is present only if requested.
    """

    logprobs_N: Tensor
    entropy_N: Tensor
    mean_logprobs_N: Tensor | None
    top_N: Tensor


class LogProbHead:
    def __init__(
        self,
        output_layer: nn.Module,
        *,
        temperature: float = 1.0,
        scaling: OutputScaling | None = None,
        chunk: int | None = None,
    ) -> None:
        weight_VD = getattr(output_layer, "weight", None)
        if not isinstance(weight_VD, Tensor) or weight_VD.ndim != 2:  # noqa: PLR2004 - a matrix
            raise TypeError(f"an output layer needs a weight matrix, got {type(output_layer)}")
        if weight_VD.requires_grad:
            raise ValueError("the output layer must be frozen")
        if temperature <= 0:
            raise ValueError("temperature must be positive")
        self._weight_VD = weight_VD
        self._bias_V: Tensor | None = getattr(output_layer, "bias", None)
        scaling = scaling or OutputScaling()
        # A constant scale is a reciprocal temperature, of what is capped as well:
        # cap · tanh(scale · z / cap) / T = c · tanh(z / c) / (T / scale) with c = cap / scale.
        self._temperature = temperature / scaling.scale
        self._cap = None if scaling.cap is None else scaling.cap / scaling.scale
        logits = LOGITS_PER_CHUNK.get(weight_VD.device.type, LOGITS_PER_CHUNK["cuda"])
        self._chunk = chunk or max(MIN_CHUNK, logits // weight_VD.shape[0])

    @property
    def vocabulary(self) -> int:
        return int(self._weight_VD.shape[0])

    def rehearse(self) -> None:
        """Scores one full chunk and drops the result, so that its memory can be measured."""
        hidden_ND = self._weight_VD.new_zeros(self._chunk, self._weight_VD.shape[1])
        targets_N = torch.zeros(self._chunk, dtype=torch.long, device=hidden_ND.device)
        self(hidden_ND.requires_grad_(), targets_N)

    def __call__(self, hidden_ND: Tensor, targets_N: Tensor, *, mean: bool = False) -> TokenScores:
        return TokenScores(
            *_ChunkedLogProbs.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
                hidden_ND,
                self._weight_VD,
                self._bias_V,
                targets_N,
                self._temperature,
                self._cap,
                self._chunk,
                mean,
            )
        )


def _softmax(logits_CV: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the largest logit, the softmax and the log-sum-exp, which is derived from the
    softmax's largest entry: that is at least 1/V and never rounds to 0.
    """
    largest_C1 = logits_CV.amax(dim=-1, keepdim=True)
    probs_CV = logits_CV.softmax(dim=-1)
    return largest_C1, probs_CV, largest_C1 - probs_CV.amax(dim=-1, keepdim=True).log_()


def _slope(
    probs_CV: Tensor, targets_C1: Tensor, weight_VD: Tensor, capping_CV: Tensor | None
) -> Tensor:
    """Returns (softmax - onehot) · capping · W, subtracted before rounding to a lower precision.
    `capping_CV` is the derivative of the cap. Overwrites the softmax.
    """
    probs_CV.scatter_add_(1, targets_C1, probs_CV.new_full(targets_C1.shape, -1.0))
    if capping_CV is not None:
        probs_CV.mul_(capping_CV)
    return linear(probs_CV.to(weight_VD.dtype), weight_VD.T)


def _exchange(targets_C1: Tensor, weight_VD: Tensor, capping_CV: Tensor) -> Tensor:
    """∂(mean logit - target's logit)/∂hidden under a cap: mean_v c_v W_v - c_y W_y."""
    weights_CV = capping_CV / capping_CV.shape[1]
    weights_CV.scatter_add_(1, targets_C1, -capping_CV.gather(1, targets_C1))
    return linear(weights_CV.to(weight_VD.dtype), weight_VD.T)


class _ChunkedLogProbs(torch.autograd.Function):
    @staticmethod
    @override
    def forward(
        ctx: Any,
        hidden_ND: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        targets_N: Tensor,
        temperature: float,
        cap: float | None,
        chunk: int,
        mean: bool,
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        precision = torch.promote_types(hidden_ND.dtype, torch.float32)
        count = hidden_ND.shape[0]
        logprobs_N = hidden_ND.new_empty(count, dtype=precision)
        entropy_N = torch.empty_like(logprobs_N)
        mean_N = torch.empty_like(logprobs_N) if mean else None
        top_N = torch.empty(count, dtype=torch.bool, device=hidden_ND.device)
        slope_ND = torch.empty_like(hidden_ND) if ctx.needs_input_grad[0] else None
        exchange_ND = torch.empty_like(hidden_ND) if mean and cap and slope_ND is not None else None
        for start in range(0, count, chunk):
            part = slice(start, start + chunk)
            logits_CV = wide_linear(hidden_ND[part], weight_VD, bias_V, precision)
            capping_CV = None
            if cap is not None:
                capping_CV = 1 - logits_CV.div_(cap).tanh_().square()
                logits_CV.mul_(cap)
            if temperature != 1.0:
                logits_CV.div_(temperature)
            targets_C1 = targets_N[part, None]
            largest_C1, probs_CV, lse_C1 = _softmax(logits_CV)
            picked_C1 = logits_CV.gather(1, targets_C1)
            logprobs_N[part] = (picked_C1 - lse_C1).squeeze(1)
            entropy_N[part] = lse_C1.squeeze(1) - torch.linalg.vecdot(probs_CV, logits_CV)
            top_N[part] = (picked_C1 >= largest_C1).squeeze(1)
            if mean_N is not None:
                mean_N[part] = logits_CV.mean(dim=-1) - lse_C1.squeeze(1)
            if slope_ND is not None:
                slope_CD = _slope(probs_CV, targets_C1, weight_VD, capping_CV)
                slope_ND[part] = slope_CD.div_(-temperature)
            if exchange_ND is not None and capping_CV is not None:
                exchange_CD = _exchange(targets_C1, weight_VD, capping_CV)
                exchange_ND[part] = exchange_CD.div_(temperature)
        ctx.save_for_backward(slope_ND, weight_VD, targets_N, exchange_ND)
        ctx.temperature = temperature
        ctx.mark_non_differentiable(entropy_N, top_N)
        # The gradient of an unused output is then `None` instead of zeros and costs no computation.
        ctx.set_materialize_grads(False)
        return logprobs_N, entropy_N, mean_N, top_N

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        """Uses ∂mean_v lp/∂h = (mean_v W - softmax·W) / temperature: the stored slope with the
        target's row of W replaced by the mean row. Under a cap the difference is stored too.
        """
        slope_ND, weight_VD, targets_N, exchange_ND = ctx.saved_tensors
        target_N, _, mean_N, _ = grads
        total_N1 = sum(g for g in (target_N, mean_N) if g is not None)
        if isinstance(total_N1, int):
            return (None,) * 8
        grad_ND = slope_ND * total_N1.unsqueeze(1).to(slope_ND.dtype)
        if mean_N is not None:
            if exchange_ND is None:
                exchange_ND = (weight_VD.mean(dim=0) - weight_VD[targets_N]) / ctx.temperature
            grad_ND += exchange_ND * mean_N.unsqueeze(1).to(slope_ND.dtype)
        return grad_ND, *(None,) * 7


# Private by name, but torch.compile generates calls of it in its CPU programs.
_onednn_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def wide_linear(
    x_MI: Tensor, weight_OI: Tensor, bias_O: Tensor | None, precision: torch.dtype
) -> Tensor:
    """Returns `x_MI @ weight_OI.T + bias_O` in `precision`, not rounded to the operands' own."""
    if x_MI.dtype == precision:
        return linear(x_MI, weight_OI, bias_O)
    if x_MI.device.type == "cuda":
        product_MO = torch.mm(x_MI, weight_OI.T, out_dtype=precision)
    elif x_MI.device.type == "meta":
        product_MO = x_MI.new_empty(x_MI.shape[0], weight_OI.shape[0], dtype=precision)
    else:
        product_MO = linear(x_MI.to(precision), weight_OI.to(precision))
    return product_MO if bias_O is None else product_MO.add_(bias_O)


def has_onednn_product(x_MI: Tensor) -> bool:
    return x_MI.dtype == torch.float32 and x_MI.device.type == "cpu" and _onednn_linear is not None


class TrainerProducts:
    """The library of this process's products, which a trainer sets before it computes."""

    chosen: Products = "onednn"


def linear(x_MI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    if has_onednn_product(x_MI) and TrainerProducts.chosen == "onednn":
        product_MO: Tensor = _onednn_linear(x_MI, weight_OI, bias_O, "none", [], "")
        return product_MO
    return F.linear(x_MI, weight_OI, bias_O)
