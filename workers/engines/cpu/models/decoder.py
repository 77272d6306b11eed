"""A fused forward pass: with small models the time between operations is most of a step."""

import copy
import itertools
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM

from app.kit.errors import InvalidRequest
from app.models.adapters import CONFIG_FILE, WEIGHTS_FILE
from workers.engines.cpu.models.attention import IMPLEMENTATION, KvPoolCache, Step, attend

Stamp = tuple[tuple[int, int, int], ...]
"""Inode, size and modification time of an adapter's files; changes if a file is replaced."""
_ALLOWED_FILES: Final = {CONFIG_FILE, WEIGHTS_FILE, "README.md", "manifest.json"}
_KEY: Final = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.weight")
# Settings of PEFT 0.21's LoraConfig that change the mathematics and are not implemented.
_UNSUPPORTED: Final = (
    "alora_invocation_tokens",
    "arrow_config",
    "exclude_modules",
    "fan_in_fan_out",
    "layer_replication",
    "layers_to_transform",
    "lora_bias",
    "modules_to_save",
    "target_parameters",
    "trainable_token_indices",
    "use_bdlora",
    "use_dora",
    "use_qalora",
)


@dataclass(frozen=True, slots=True)
class LoraDelta:
    """One layer's update: `weight_OI += scale * b_OR @ a_RI`."""

    a_RI: Tensor
    b_OR: Tensor
    scale: float

    @property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (self.a_RI, self.b_OR))

    def merged(self, weight_OI: Tensor) -> Tensor:
        return weight_OI + self.scale * (self.b_OR @ self.a_RI)


def read_adapter(path: Path, base: nn.Module) -> dict[str, LoraDelta]:
    if not path.is_dir():
        raise InvalidRequest(f"No adapter directory at '{path}'.", param="lora_path")
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        if not (path / name).is_file():
            raise InvalidRequest(f"The adapter has no {name}.", param="lora_path")
    unknown = sorted(p.name for p in path.iterdir() if p.name not in _ALLOWED_FILES)
    if unknown:
        raise InvalidRequest(f"The adapter has unknown files: {unknown}.", param="lora_path")
    config = read_config(path)
    try:
        tensors = load_file(path / WEIGHTS_FILE)
    except SafetensorError as error:
        raise InvalidRequest(f"The adapter cannot be read: {error}", param="lora_path") from error
    deltas = _pair_sides(config, tensors)
    _check_fit(config, deltas, base)
    return deltas


def stamp_of(path: Path) -> Stamp:
    try:
        stats = [(path / name).stat() for name in (CONFIG_FILE, WEIGHTS_FILE)]
    except OSError:
        return ()
    return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)


def read_config(path: Path) -> dict[str, Any]:
    """Returns `adapter_config.json` after checking that every setting in it is implemented."""
    try:
        config = json.loads((path / CONFIG_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"The adapter cannot be read: {error}", param="lora_path") from error
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        raise InvalidRequest("The adapter is not a LoRA.", param="lora_path")
    if not all(isinstance(config.get(name), int | float) for name in ("r", "lora_alpha")):
        raise InvalidRequest("The adapter has no rank or alpha.", param="lora_path")
    unsupported = [name for name in _UNSUPPORTED if config.get(name)]
    if config.get("bias", "none") != "none":
        unsupported.append("bias")
    if unsupported:
        raise InvalidRequest(f"The adapter uses {unsupported}; not supported.", param="lora_path")
    return config


def _pair_sides(config: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, LoraDelta]:
    sides: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        match = _KEY.fullmatch(key)
        if match is None:
            raise InvalidRequest(f"Unknown adapter tensor '{key}'.", param="lora_path")
        sides.setdefault(match["module"], {})[match["side"]] = tensor.float()
    deltas = {}
    for module, pair in sides.items():
        if set(pair) != {"A", "B"}:
            raise InvalidRequest(f"'{module}' lacks lora_A or lora_B.", param="lora_path")
        deltas[module] = LoraDelta(pair["A"], pair["B"], _scale(config, module))
    return deltas


def _scale(config: dict[str, Any], module: str) -> float:
    rank = _pattern_value(config.get("rank_pattern"), module, config["r"])
    alpha = _pattern_value(config.get("alpha_pattern"), module, config["lora_alpha"])
    return float(alpha / rank**0.5 if config.get("use_rslora") else alpha / rank)


def _pattern_value(patterns: dict[str, float] | None, module: str, default: float) -> float:
    for pattern, value in (patterns or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return value
    return default


def _check_fit(config: dict[str, Any], deltas: dict[str, LoraDelta], base: nn.Module) -> None:
    linears = {n: m for n, m in base.named_modules() if isinstance(m, nn.Linear)}
    for name, delta in deltas.items():
        linear = linears.get(name)
        if linear is None:
            raise InvalidRequest(f"The base has no linear layer '{name}'.", param="lora_path")
        rank = delta.a_RI.shape[0]
        fits = delta.a_RI.shape == (rank, linear.in_features) and delta.b_OR.shape == (
            linear.out_features,
            rank,
        )
        if not fits or rank != _pattern_value(config.get("rank_pattern"), name, config["r"]):
            raise InvalidRequest(f"The shapes of '{name}' do not fit.", param="lora_path")
        if not (torch.isfinite(delta.a_RI).all() and torch.isfinite(delta.b_OR).all()):
            raise InvalidRequest(f"'{name}' has values that are not finite.", param="lora_path")
    missing = [
        n for n in linears if _is_targeted(config.get("target_modules"), n) and n not in deltas
    ]
    if missing:
        raise InvalidRequest(f"Targeted modules without weights: {missing}.", param="lora_path")


def _is_targeted(targets: Any, module: str) -> bool:
    if isinstance(targets, str):
        return re.fullmatch(targets, module) is not None
    return any(module == t or module.endswith(f".{t}") for t in targets or ())


class PlainWeights:
    def __init__(self, model: nn.Module, *, query_heads: int, own_bytes: int = 0) -> None:
        self._model = model
        self.query_heads = query_heads
        self.own_bytes = own_bytes

    @classmethod
    def serving(cls, model: Any) -> "PlainWeights":
        """Switches to the KV pool's attention. Raises `ValueError` if it cannot be replaced."""
        model.set_attn_implementation(IMPLEMENTATION)
        config = model.config.get_text_config()
        heads = config.num_attention_heads
        groups = heads // (getattr(config, "num_key_value_heads", None) or heads)
        return cls(model, query_heads=groups)

    def logits(self, step: Step, ids_N: Tensor, output_tokens: list[int]) -> Tensor:
        """Returns logits_KV at the K tokens `output_tokens`; stores the keys and values of all."""
        padding = len(ids_N) - len(step.positions_N)
        output = self._model(
            input_ids=ids_N[None],
            position_ids=F.pad(step.positions_N, (0, padding))[None],
            past_key_values=KvPoolCache(step),
            use_cache=True,
            logits_to_keep=torch.tensor(output_tokens, dtype=torch.long),
            step=step,
        )
        logits_KV: Tensor = output.logits[0]
        return logits_KV

    def merged(self, deltas: dict[str, LoraDelta]) -> "PlainWeights":
        """Returns weights with an adapter added; they share all tensors that it does not change."""
        tensors = itertools.chain(self._model.parameters(), self._model.buffers())
        model = copy.deepcopy(self._model, memo={id(tensor): tensor for tensor in tensors})
        own_bytes = 0
        with torch.no_grad():
            for name, delta in deltas.items():
                linear: Any = model.get_submodule(name)
                weight = nn.Parameter(delta.merged(linear.weight), requires_grad=False)
                linear.weight = weight
                own_bytes += weight.numel() * weight.element_size()
        return PlainWeights(model, query_heads=self.query_heads, own_bytes=own_bytes)


_USUAL_ROWS: Final = 32
"""Number of rows for which the packed layout is optimised; it works for any number."""


class LinearLayer:
    __slots__ = ("_bias_O", "_multiplied_OI", "_packed", "bytes", "plain_OI")

    packs: ClassVar = True
    """False leaves weights plain that are loaded later. An engine sets it before it loads."""

    def __init__(
        self,
        weight_OI: Tensor,
        bias_O: Tensor | None,
        *,
        mergeable: bool,
        packs: bool | None = None,
    ) -> None:
        """`packs` is by default the attribute of the class."""
        self._bias_O = bias_O
        self._packed = (self.packs if packs is None else packs) and can_pack(weight_OI.dtype)
        self._multiplied_OI = _pack(weight_OI) if self._packed else weight_OI
        self.plain_OI = weight_OI if mergeable or not self._packed else None
        self.bytes = weight_OI.numel() * weight_OI.element_size()

    def __call__(self, x_NI: Tensor) -> Tensor:
        if self._packed:
            product: Tensor = _linear(x_NI, self._multiplied_OI, self._bias_O, "none", [], "")
            return product
        return F.linear(x_NI, self._multiplied_OI, self._bias_O)

    def added_to(self, hidden_NO: Tensor, x_NI: Tensor) -> Tensor:
        if self._packed:
            total: Tensor = _linear.binary(
                x_NI, hidden_NO, self._multiplied_OI, self._bias_O, "add"
            )
            return total
        summed_NO = torch.addmm(hidden_NO, x_NI, self._multiplied_OI.t())
        return summed_NO if self._bias_O is None else summed_NO + self._bias_O

    def with_weight(self, weight_OI: Tensor) -> "LinearLayer":
        return LinearLayer(weight_OI, self._bias_O, mergeable=False, packs=self._packed)


# Private by name, but torch.compile generates calls of both in its CPU programs.
_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
_packed: Any = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)


def _pack(weight_OI: Tensor) -> Tensor:
    packed: Tensor = _packed(weight_OI, _USUAL_ROWS)
    return packed


@cache
def can_pack(dtype: torch.dtype) -> bool:
    """Returns true if this build and machine multiply packed weights of a type correctly."""
    if _linear is None or _packed is None:
        return False
    x_NI, weight_OI = torch.eye(3, 16, dtype=dtype), torch.arange(128.0).to(dtype).view(8, 16)
    try:
        with torch.inference_mode():
            product_NO = _linear(x_NI, _pack(weight_OI), None, "none", [], "")
            sum_NO = _linear.binary(x_NI, product_NO, _pack(weight_OI), None, "add")
    except RuntimeError:
        return False
    expected_NO = weight_OI.t()[:3]
    return torch.equal(product_NO, expected_NO) and torch.equal(sum_NO, 2 * expected_NO)


_ARCHITECTURES: Final = (LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM)
# Other kinds of rotary embedding depend on the length of the sequence.
_FIXED_ROTATIONS: Final = {"default", "linear", "llama3", "yarn"}
_HEAD: Final = -1


@dataclass(frozen=True, slots=True)
class DecoderLayer:
    input_norm_C: Tensor
    qkv: LinearLayer
    head_norm_HD: Tensor | None
    output: LinearLayer
    post_norm_C: Tensor
    gate_up: LinearLayer
    down: LinearLayer
    scaling: float
    window: int | None


@dataclass(frozen=True, slots=True)
class BlockSlot:
    layer: int
    """Layer index; `_HEAD` for the language model's head."""
    product: str
    first: int


@dataclass(frozen=True, slots=True)
class DecoderShape:
    query_heads: int
    key_heads: int
    head_size: int
    epsilon: float


class Decoder:
    def __init__(
        self,
        layers: list[DecoderLayer],
        shape: DecoderShape,
        *,
        embedding_VC: Tensor,
        norm_C: Tensor,
        head: LinearLayer,
        rotation_TPD: Tensor,
        slots: dict[str, BlockSlot],
        own_bytes: int = 0,
    ) -> None:
        """`rotation_TPD`: P = cosine, sine; the first half of the sine is negated."""
        self._layers = layers
        self._shape = shape
        self._embedding_VC = embedding_VC
        self._norm_C = norm_C
        self._head = head
        self._rotation_TPD = rotation_TPD
        self._slots = slots
        self.own_bytes = own_bytes

    @property
    def query_heads(self) -> int:
        return self._shape.query_heads

    def logits(self, step: Step, ids_N: Tensor, output_tokens: list[int]) -> Tensor:
        hidden_NC = F.embedding(ids_N, self._embedding_VC)
        positions_N = F.pad(step.positions_N, (0, len(ids_N) - len(step.positions_N)))
        rotation_NPD = self._rotation_TPD[positions_N]
        cosine_N1D, sine_N1D = rotation_NPD[:, :1], rotation_NPD[:, 1:]
        for index, layer in enumerate(self._layers):
            heads_NHD = self._heads(layer, hidden_NC, cosine_N1D, sine_N1D)
            keys = self._shape.key_heads
            stored_NPHD = heads_NHD[:, -2 * keys :].view(len(heads_NHD), 2, keys, -1)
            step.kv_pool.store(index, step.rows_N, step.positions_N, stored_NPHD)
            query_NHD = heads_NHD[:, : -2 * keys]
            output_NHD = attend(query_NHD, step, index, scaling=layer.scaling, window=layer.window)
            hidden_NC = layer.output.added_to(hidden_NC, output_NHD.flatten(1))
            gate_up_NF = layer.gate_up(self._norm(hidden_NC, layer.post_norm_C))
            gate_NF, up_NF = gate_up_NF.chunk(2, dim=-1)
            hidden_NC = layer.down.added_to(hidden_NC, F.silu(gate_NF).mul_(up_NF))
        if output_tokens != list(range(len(hidden_NC))):
            hidden_NC = hidden_NC[torch.tensor(output_tokens, dtype=torch.long)]
        return self._head(self._norm(hidden_NC, self._norm_C))

    def merged(self, deltas: dict[str, LoraDelta]) -> "Decoder":
        layers, head = list(self._layers), self._head
        changed: dict[tuple[int, str], Tensor] = {}
        for name, delta in deltas.items():
            slot = self._slots[name]
            key = (slot.layer, slot.product)
            if key not in changed:
                changed[key] = _plain_weight(self._product(key)).clone()
            rows = changed[key][slot.first : slot.first + delta.b_OR.shape[0]]
            rows.copy_(delta.merged(rows))
        own_bytes = 0
        for key, weight_OI in changed.items():
            product = self._product(key).with_weight(weight_OI)
            own_bytes += product.bytes
            if key[0] == _HEAD:
                head = product
            else:
                changes: dict[str, Any] = {key[1]: product}
                layers[key[0]] = replace(layers[key[0]], **changes)
        return Decoder(
            layers,
            self._shape,
            embedding_VC=self._embedding_VC,
            norm_C=self._norm_C,
            head=head,
            rotation_TPD=self._rotation_TPD,
            slots=self._slots,
            own_bytes=own_bytes,
        )

    def _product(self, key: tuple[int, str]) -> LinearLayer:
        index, name = key
        product: LinearLayer = self._head if index == _HEAD else getattr(self._layers[index], name)
        return product

    def _norm(self, hidden_NC: Tensor, scale_C: Tensor | None) -> Tensor:
        return F.rms_norm(hidden_NC, hidden_NC.shape[-1:], scale_C, self._shape.epsilon)

    def _heads(
        self, layer: DecoderLayer, hidden_NC: Tensor, cosine_N1D: Tensor, sine_N1D: Tensor
    ) -> Tensor:
        shape = self._shape
        normed_NC = self._norm(hidden_NC, layer.input_norm_C)
        heads_NHD = layer.qkv(normed_NC).view(len(hidden_NC), -1, shape.head_size)
        queries_keys_NHD = heads_NHD[:, : -shape.key_heads]
        unrotated_NHD = queries_keys_NHD
        if layer.head_norm_HD is not None:
            unrotated_NHD = self._norm(queries_keys_NHD, None) * layer.head_norm_HD
        swapped_NHD = unrotated_NHD.roll(shape.head_size // 2, dims=-1)
        torch.addcmul(unrotated_NHD * cosine_N1D, swapped_NHD, sine_N1D, out=queries_keys_NHD)
        return heads_NHD


Weights = PlainWeights | Decoder


def _plain_weight(product: LinearLayer) -> Tensor:
    if product.plain_OI is None:
        raise RuntimeError("an adapter can be merged into a base model only")
    return product.plain_OI


def fuse_decoder(model: Any, *, context_length: int) -> Decoder | None:
    """`None` for an unsupported architecture. The model's layers become views of the fused."""
    config = model.config
    rotary = getattr(getattr(model, "model", None), "rotary_emb", None)
    if type(model) not in _ARCHITECTURES or config.hidden_act != "silu":
        return None
    if rotary is None or rotary.rope_type not in _FIXED_ROTATIONS:
        return None
    slots: dict[str, BlockSlot] = {}
    layers = [_layer(model, index, slots) for index in range(config.num_hidden_layers)]
    slots["lm_head"] = BlockSlot(_HEAD, "head", 0)
    attention = model.model.layers[0].self_attn
    embedding_VC = model.model.embed_tokens.weight.detach()
    cosine_1TD, sine_1TD = rotary(embedding_VC, torch.arange(context_length)[None])
    sine_1TD = sine_1TD.clone()
    sine_1TD[..., : sine_1TD.shape[-1] // 2].neg_()
    return Decoder(
        layers,
        DecoderShape(
            query_heads=config.num_attention_heads // config.num_key_value_heads,
            key_heads=config.num_key_value_heads,
            head_size=attention.head_dim,
            epsilon=config.rms_norm_eps,
        ),
        embedding_VC=embedding_VC,
        norm_C=model.model.norm.weight.detach(),
        head=LinearLayer(model.lm_head.weight.detach(), None, mergeable=True),
        rotation_TPD=torch.stack((cosine_1TD[0], sine_1TD[0]), dim=1),
        slots=slots,
    )


def _layer(model: Any, index: int, slots: dict[str, BlockSlot]) -> DecoderLayer:
    module = model.model.layers[index]
    attention, prefix = module.self_attn, f"model.layers.{index}"

    def joined(parent: str, names: tuple[str, ...], product: str) -> LinearLayer:
        owner, first = module.get_submodule(parent), 0
        linears = [owner.get_submodule(name) for name in names]
        for name, linear in zip(names, linears, strict=True):
            slots[f"{prefix}.{parent}.{name}"] = BlockSlot(index, product, first)
            first += linear.out_features
        return _join(linears)

    return DecoderLayer(
        input_norm_C=module.input_layernorm.weight.detach(),
        qkv=joined("self_attn", ("q_proj", "k_proj", "v_proj"), "qkv"),
        head_norm_HD=_head_norms(attention, model.config),
        output=joined("self_attn", ("o_proj",), "output"),
        post_norm_C=module.post_attention_layernorm.weight.detach(),
        gate_up=joined("mlp", ("gate_proj", "up_proj"), "gate_up"),
        down=joined("mlp", ("down_proj",), "down"),
        scaling=attention.scaling,
        window=getattr(attention, "sliding_window", None),
    )


def _join(linears: list[nn.Linear]) -> LinearLayer:
    """Fuses layers with the same input into one product; their weights become views of it."""
    weight_OI = torch.cat([linear.weight.detach() for linear in linears])
    first = 0
    for linear in linears:
        rows = weight_OI[first : first + linear.out_features]
        linear.weight = nn.Parameter(rows, requires_grad=False)
        first += linear.out_features
    biases: list[Tensor | None] = [linear.bias for linear in linears]
    present = [bias.detach() for bias in biases if bias is not None]
    return LinearLayer(weight_OI, torch.cat(present) if present else None, mergeable=True)


def _head_norms(attention: Any, config: Any) -> Tensor | None:
    if not hasattr(attention, "q_norm"):
        return None
    queries = attention.q_norm.weight.detach().expand(config.num_attention_heads, -1)
    keys = attention.k_norm.weight.detach().expand(config.num_key_value_heads, -1)
    return torch.cat((queries, keys))
