"""Plans the memory of one GPU that a trainer has, alone or beside an engine. Pure."""

import math
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    AutoModelForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.integrations.sdpa_attention import repeat_kv, use_gqa_in_sdpa
from transformers.masking_utils import sdpa_mask
from typing_extensions import override

from workers.learning.adapters import (
    adapter_parameters,
    attach_lora,
    install_fast_lora_forward,
    output_layer,
)
from workers.learning.backbone import Backbone
from workers.learning.batches import unshared_layout
from workers.learning.head import LogProbHead
from workers.learning.token_scores import ADAPTER_COPIES, MOST_TOKENS, USED_SHARE

_LENGTHS: Final = (256, 640, 1024)
"""Lengths, in tokens, of the rows for which a pass is counted."""
_KV_ITEM: Final = 2
_ENGINE_ITEM: Final = 2
_ROUNDING: Final = 0.01
"""Share of a pass below which quadratic growth is taken for rounding to blocks."""


class UncountableModel(Exception):
    """The model's forward pass depends on values, as the routing of experts does in some models."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Bytes that a model needs in the trainer, and in the cache of an engine."""

    weights: int
    engine_weights: int
    adapter: int
    a_token: float
    a_batch: int
    a_pair: float = field(default=0.0, kw_only=True)
    """Bytes for each pair of tokens of one row: scores or masks that attention keeps."""
    head: int
    kv_a_token: int

    def batch_bytes(self, tokens: int, *, longest: int) -> int:
        if not tokens:
            return 0
        pairs = tokens * min(tokens, longest)
        return self.a_batch + int(self.a_token * tokens + self.a_pair * pairs)

    def batch_tokens(self, room: int, *, longest: int) -> int:
        usable = USED_SHARE * room - self.a_batch
        if usable <= 0:
            return 0
        tokens = usable / (self.a_token + self.a_pair * longest)
        if tokens < longest and self.a_pair:  # one row: a_pair n² + a_token n = usable
            slope = self.a_token
            tokens = (math.sqrt(slope**2 + 4 * self.a_pair * usable) - slope) / (2 * self.a_pair)
        return min(MOST_TOKENS, int(tokens))


def count(
    config: PretrainedConfig,
    *,
    dtype: torch.dtype,
    rank: int,
    checkpointing: bool,
    longest: int | None = None,
) -> Counts:
    """For rows of up to `longest` tokens. Raises `UncountableModel`, `ValueError` if not causal."""
    # Longer than a sliding window if rows exceed it: masks begin there.
    text: Any = config.get_text_config()
    window = getattr(text, "sliding_window", None) or 0
    beyond = window if window < (longest or text.max_position_embeddings) else 0
    lengths = [beyond + length for length in _LENGTHS]
    try:
        return _count(config, dtype, rank=rank, checkpointing=checkpointing, lengths=lengths)
    except (NotImplementedError, RuntimeError) as error:
        if dtype != torch.float32:
            raise UncountableModel(str(error)) from error
    try:  # products of experts are defined for bf16 only on the meta device
        halves = _count(
            config, torch.bfloat16, rank=rank, checkpointing=checkpointing, lengths=lengths
        )
    except (NotImplementedError, RuntimeError) as error:
        raise UncountableModel(str(error)) from error
    return replace(
        halves,
        weights=2 * halves.weights,
        a_token=2 * halves.a_token,
        a_batch=2 * halves.a_batch,
        a_pair=2 * halves.a_pair,
        head=2 * halves.head,
    )


def _count(
    config: PretrainedConfig,
    dtype: torch.dtype,
    *,
    rank: int,
    checkpointing: bool,
    lengths: list[int],
) -> Counts:
    with torch.device("meta"), PlainRows():
        base = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        base.requires_grad_(requires_grad=False).eval()
        weights = _nbytes(base)
        backbone = Backbone(base, checkpointing=checkpointing)
        count_fused_attention(base)
        head = LogProbHead(output_layer(base))
        model = attach_lora(base, rank=rank, alpha=rank, base_name="counted", seed=0)
        install_fast_lora_forward(model)
        parameters = list(adapter_parameters(model).values())

        def layers(tokens: int) -> int:
            def run() -> None:
                hidden_MD = backbone(
                    torch.zeros(tokens, dtype=torch.long), unshared_layout([tokens])
                )
                torch.autograd.grad(hidden_MD.sum(), parameters, allow_unused=True)

            return peak_bytes(run)

        adapter = sum(parameter.nbytes for parameter in parameters)
        growth = _Growth.through({tokens: layers(tokens) for tokens in lengths})
        return Counts(
            weights=weights,
            engine_weights=weights * _ENGINE_ITEM // dtype.itemsize,
            adapter=adapter,
            # The head keeps less for a token than a layer does, and at another time.
            a_token=growth.a_token,
            # The gradient of the adapter is among the tensors of the pass and counted apart.
            a_batch=max(0, round(growth.fixed) - adapter),
            a_pair=growth.a_pair,
            head=peak_bytes(head.rehearse),
            kv_a_token=kv_bytes_a_token(config),
        )


@dataclass(frozen=True, slots=True)
class _Growth:
    """The peak of a pass over one row: `fixed` + `a_token` n + `a_pair` n²."""

    fixed: float
    a_token: float
    a_pair: float

    @classmethod
    def through(cls, peaks: dict[int, int]) -> Self:
        (few, low), (some, middle), (many, high) = sorted(peaks.items())
        first, second = (middle - low) / (some - few), (high - middle) / (many - some)
        a_pair = (second - first) / (many - few)
        if a_pair * many**2 < _ROUNDING * high:
            slope = (high - low) / (many - few)
            return cls(low - slope * few, slope, 0.0)
        slope = first - a_pair * (some + few)
        return cls(low - slope * few - a_pair * few**2, slope, a_pair)


def kv_bytes_a_token(config: PretrainedConfig) -> int:
    text: Any = config.get_text_config()
    kinds = getattr(text, "layer_types", None) or ["full_attention"] * text.num_hidden_layers
    layers = sum(kind != "linear_attention" for kind in kinds)
    latent = getattr(text, "kv_lora_rank", None)
    if latent:
        return int(layers * (latent + text.qk_rope_head_dim) * _KV_ITEM)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(2 * layers * heads * width * _KV_ITEM)


def _nbytes(model: nn.Module) -> int:
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return sum(tensor.nbytes for tensor in tensors.values())


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Counts tensors made in its block; `peak` is the most that were alive at a time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.now = 0
        self.peak = 0
        self._storages: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

    @override
    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = {id(x.untyped_storage()) for x in tree_iter((args, kwargs)) if _has_storage(x)}
        out = func(*args, **kwargs)
        for tensor in tree_iter(out):
            if _has_storage(tensor):
                storage = tensor.untyped_storage()
                if id(storage) not in given and storage not in self._storages:
                    self._add(storage)
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()
        self._storages.add(storage)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._remove, size)

    def _remove(self, size: int) -> None:
        self.now -= size


def _has_storage(value: object) -> bool:
    return isinstance(value, Tensor) and value.layout == torch.strided


def peak_bytes(work: Callable[[], object]) -> int:
    counted = LiveBytes()
    with counted:
        work()
    return counted.peak


_NAME: Final = "counted"


class PlainRows(TorchFunctionMode):
    """Makes a model's check for plain input true: tensors on the meta device have no values."""

    @override
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is torch.Tensor.__bool__ and args[0].device.type == "meta":
            return True
        return func(*args, **(kwargs or {}))


def count_fused_attention(base: PreTrainedModel) -> None:
    """Replaces torch's attention by the tensors that a fused kernel allocates."""
    if base.config._attn_implementation == "sdpa":  # noqa: SLF001 - no public name
        base.set_attn_implementation(_NAME)


def _attend(
    module: nn.Module,
    query_BHTK: Tensor,
    key_BJTK: Tensor,
    value_BJTV: Tensor,
    attention_mask: Tensor | None,
    **_: Any,
) -> tuple[Tensor, None]:
    del module
    groups = query_BHTK.shape[1] // key_BJTK.shape[1]
    if groups > 1 and not use_gqa_in_sdpa(attention_mask, key_BJTK, value_BJTV):
        key_BJTK, value_BJTV = (repeat_kv(x, groups) for x in (key_BJTK, value_BJTV))
    out_BHTV = _FusedAttention.apply(query_BHTK, key_BJTK, value_BJTV, attention_mask)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return out_BHTV.transpose(1, 2).contiguous(), None


AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, sdpa_mask)


class _FusedAttention(torch.autograd.Function):
    @staticmethod
    @override
    def forward(
        ctx: Any, query_BHTK: Tensor, key_BJTK: Tensor, value_BJTV: Tensor, mask: Tensor | None
    ) -> Tensor:
        out_BHTV = query_BHTK.new_empty((*query_BHTK.shape[:-1], value_BJTV.shape[-1]))
        sums_BHT = query_BHTK.new_empty(query_BHTK.shape[:-1], dtype=torch.float32)
        bias = None if mask is None else mask.to(query_BHTK.dtype)
        ctx.save_for_backward(query_BHTK, key_BJTK, value_BJTV, bias, out_BHTV, sums_BHT)
        return out_BHTV

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_BHTV: Tensor) -> tuple[Tensor | None, ...]:
        del grad_BHTV
        query_BHTK, key_BJTK, value_BJTV, *_ = ctx.saved_tensors
        return (*(torch.empty_like(x) for x in (query_BHTK, key_BJTK, value_BJTV)), None)


GIB: Final = 2**30
PROCESS_BYTES: Final = 600 * 2**20
ENGINE_WORK_BYTES: Final = 2 * GIB
"""Activations and captured graphs of an engine; an estimate for batches of 8,192 tokens."""


@dataclass(frozen=True, slots=True)
class PlanInputs:
    gpu_bytes: int
    context_length: int
    engine_share: float = 0.0
    micro_batch_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryPart:
    owner: str
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    parts: tuple[MemoryPart, ...]
    micro_batch_tokens: int
    kv_tokens: int | None
    free_bytes: int
    problems: tuple[str, ...] = field(default=())

    @property
    def fits(self) -> bool:
        return not self.problems


def plan_memory(
    given: PlanInputs, counts: Counts, *, checkpointed: Counts | None = None
) -> MemoryPlan:
    """`checkpointed`: the counts with checkpointing where it is off, for the advice."""
    engine = _engine(given, counts) if given.engine_share else ()
    kv_tokens = engine[-1].bytes // counts.kv_a_token if engine else None
    fixed = (
        MemoryPart("trainer", "process", PROCESS_BYTES),
        MemoryPart("trainer", "weights", counts.weights),
        MemoryPart("trainer", "adapter, gradients, moments", (1 + ADAPTER_COPIES) * counts.adapter),
        MemoryPart("trainer", "chunk of logits", counts.head),
    )
    room = given.gpu_bytes - total_bytes((*engine, *fixed))
    longest = given.context_length
    tokens = given.micro_batch_tokens or counts.batch_tokens(room, longest=longest)
    batch_bytes = counts.batch_bytes(tokens, longest=longest)
    batch = MemoryPart("trainer", f"micro-batch of {tokens:,} tokens", batch_bytes)
    parts = (*engine, *fixed, batch)
    problems = [
        *_engine_problems(given, engine, kv_tokens),
        *_trainer_problems(given, counts, checkpointed, room=room, tokens=tokens),
    ]
    return MemoryPlan(
        parts, tokens, kv_tokens, given.gpu_bytes - total_bytes(parts), problems=tuple(problems)
    )


def _engine(given: PlanInputs, counts: Counts) -> tuple[MemoryPart, ...]:
    share = int(given.engine_share * given.gpu_bytes)
    work = PROCESS_BYTES + ENGINE_WORK_BYTES
    return (
        MemoryPart("engine", "process, activations, graphs", work),
        MemoryPart("engine", "weights, 16 bits", counts.engine_weights),
        MemoryPart("engine", "KV cache", max(0, share - work - counts.engine_weights)),
    )


def total_bytes(parts: tuple[MemoryPart, ...]) -> int:
    return sum(part.bytes for part in parts)


def _engine_problems(
    given: PlanInputs, engine: tuple[MemoryPart, ...], kv_tokens: int | None
) -> Iterator[str]:
    if kv_tokens is not None and kv_tokens < given.context_length:
        needed = total_bytes(engine[:-1]) / given.gpu_bytes
        yield (
            f"The engine's share of {given.engine_share:.0%} leaves {kv_tokens:,} tokens of KV "
            f"cache, less than one context of {given.context_length:,}. Its process and weights "
            f"take {needed:.0%} of the GPU: raise --engine-share, lower --context-length, or run "
            "the engine on a GPU of its own."
        )


def _trainer_problems(
    given: PlanInputs, counts: Counts, checkpointed: Counts | None, *, room: int, tokens: int
) -> Iterator[str]:
    if room <= 0:
        yield (
            f"The trainer's weights and adapter need {-room / GIB:.1f} GiB more than the GPU has: "
            "lower --engine-share, run the engine on a GPU of its own, or take a smaller model."
        )
        return
    context = given.context_length
    longest = counts.batch_tokens(room, longest=context)
    needed = counts.batch_bytes(tokens, longest=context)
    if given.micro_batch_tokens is not None and needed > room:
        yield (
            f"A micro-batch of {tokens:,} tokens needs {needed / GIB:.1f} GiB and {room / GIB:.1f} "
            f"GiB are free: lower --micro-batch to {longest:,}, or leave it out. An "
            "installation has AGENT_RFT_RUNS__MICRO_BATCH_TOKENS."
        )
    if longest >= context:
        return
    if checkpointed is not None and checkpointed.batch_tokens(room, longest=context) >= context:
        cure = "turn on checkpointing, with which it fits"
    else:
        cure = f"lower --engine-share, or lower --context-length to {longest:,}"
    yield (
        f"A rollout of {context:,} tokens, which no micro-batch can divide, needs "
        f"{counts.batch_bytes(context, longest=context) / GIB:.1f} GiB, and {room / GIB:.1f} GiB "
        f"are free: {cure}."
    )
