"""A decoder's forward pass written out, for the architectures that are served most.

Owns Llama, Qwen2 and Qwen3 as few operations on few tensors: queries, keys and values in one
product, gate and up in another, rotations from a table, residuals added by the product itself. With
small models the time between operations is most of a step, and a transformers layer has four times
as many. Promises the same log-probs as the modules it was built from (the engine compares at
start), whose weights become views of its own. Must not know adapters' files, lanes or requests.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM

from workers.engines.cpu.adapters import LoraDelta
from workers.engines.cpu.attention import Step, attend

_ARCHITECTURES: Final = (LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM)
# Other kinds of rotation change with the length of the sequence that they are asked for.
_FIXED_ROTATIONS: Final = {"default", "linear", "llama3", "yarn"}
_HEAD: Final = -1


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one decoder layer, outputs first."""

    input_norm_C: Tensor
    qkv_OC: Tensor
    qkv_bias_O: Tensor | None
    turned_norm_HD: Tensor | None
    """Scales of the query and key heads' norms, one line per head."""
    output_CO: Tensor
    output_bias_C: Tensor | None
    post_norm_C: Tensor
    gate_up_FC: Tensor
    gate_up_bias_F: Tensor | None
    down_CF: Tensor
    down_bias_C: Tensor | None
    scaling: float
    window: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a linear layer of the model went: rows `first …` of one tensor of one layer."""

    layer: int
    """`_HEAD` for the language model's head."""
    tensor: str
    first: int


@dataclass(frozen=True, slots=True)
class Shape:
    query_heads: int
    """Per key head."""
    key_heads: int
    head_size: int
    epsilon: float


class Decoder:
    def __init__(
        self,
        layers: list[Layer],
        shape: Shape,
        *,
        embedding_VC: Tensor,
        norm_C: Tensor,
        head_VC: Tensor,
        rotation_TPD: Tensor,
        places: dict[str, Place],
        own_bytes: int = 0,
    ) -> None:
        """`rotation_TPD`: P = cosine, sine; the sine's first half has its sign turned."""
        self._layers = layers
        self._shape = shape
        self._embedding_VC = embedding_VC
        self._norm_C = norm_C
        self._head_VC = head_VC
        self._rotation_TPD = rotation_TPD
        self._places = places
        self.own_bytes = own_bytes

    @property
    def query_heads(self) -> int:
        return self._shape.query_heads

    def logits(self, step: Step, ids_N: Tensor, kept: list[int]) -> Tensor:
        """logits_KV at the kept tokens of a packed step; stores its keys and values."""
        hidden_NC = F.embedding(ids_N, self._embedding_VC)
        positions_N = F.pad(step.positions_N, (0, len(ids_N) - len(step.positions_N)))
        rotation_NPD = self._rotation_TPD[positions_N]
        cosine_N1D, sine_N1D = rotation_NPD[:, :1], rotation_NPD[:, 1:]
        for index, layer in enumerate(self._layers):
            heads_NHD = self._heads(layer, hidden_NC, cosine_N1D, sine_N1D)
            query_NHD = self._store(step, index, heads_NHD)
            found_NHD = attend(query_NHD, step, index, scaling=layer.scaling, window=layer.window)
            hidden_NC = _add(hidden_NC, found_NHD.flatten(1), layer.output_CO, layer.output_bias_C)
            normed_NC = self._norm(hidden_NC, layer.post_norm_C)
            gate_up_NF = F.linear(normed_NC, layer.gate_up_FC, layer.gate_up_bias_F)
            gate_NF, up_NF = gate_up_NF.chunk(2, dim=-1)
            hidden_NC = _add(
                hidden_NC, F.silu(gate_NF).mul_(up_NF), layer.down_CF, layer.down_bias_C
            )
        if kept != list(range(len(hidden_NC))):
            hidden_NC = hidden_NC[torch.tensor(kept, dtype=torch.long)]
        return F.linear(self._norm(hidden_NC, self._norm_C), self._head_VC)

    def merged(self, deltas: dict[str, LoraDelta]) -> "Decoder":
        """New weights with an adapter added, sharing every tensor it leaves alone."""
        layers, head_VC = list(self._layers), self._head_VC
        own: dict[tuple[int, str], Tensor] = {}
        for name, delta in deltas.items():
            place = self._places[name]
            key = (place.layer, place.tensor)
            if key not in own:
                shared = head_VC if place.layer == _HEAD else getattr(layers[place.layer], key[1])
                own[key] = shared.clone()
            rows = own[key][place.first : place.first + delta.b_OR.shape[0]]
            rows.copy_(delta.merged(rows))
        for (index, tensor), weight in own.items():
            if index == _HEAD:
                head_VC = weight
            else:
                changes: dict[str, Any] = {tensor: weight}
                layers[index] = replace(layers[index], **changes)
        return Decoder(
            layers,
            self._shape,
            embedding_VC=self._embedding_VC,
            norm_C=self._norm_C,
            head_VC=head_VC,
            rotation_TPD=self._rotation_TPD,
            places=self._places,
            own_bytes=sum(weight.numel() * weight.element_size() for weight in own.values()),
        )

    def _norm(self, hidden_NC: Tensor, scale_C: Tensor | None) -> Tensor:
        return F.rms_norm(hidden_NC, hidden_NC.shape[-1:], scale_C, self._shape.epsilon)

    def _heads(
        self, layer: Layer, hidden_NC: Tensor, cosine_N1D: Tensor, sine_N1D: Tensor
    ) -> Tensor:
        """heads_NHD: queries, keys (both turned to their positions), values."""
        shape = self._shape
        normed_NC = self._norm(hidden_NC, layer.input_norm_C)
        heads_NHD = F.linear(normed_NC, layer.qkv_OC, layer.qkv_bias_O).view(
            len(hidden_NC), -1, shape.head_size
        )
        turned_NHD = heads_NHD[:, : -shape.key_heads]
        straight_NHD = turned_NHD
        if layer.turned_norm_HD is not None:
            straight_NHD = self._norm(turned_NHD, None) * layer.turned_norm_HD
        across_NHD = straight_NHD.roll(shape.head_size // 2, dims=-1)
        torch.addcmul(straight_NHD * cosine_N1D, across_NHD, sine_N1D, out=turned_NHD)
        return heads_NHD

    def _store(self, step: Step, index: int, heads_NHD: Tensor) -> Tensor:
        """Put keys and values into the arena; returns the queries."""
        keys = self._shape.key_heads
        stored_NPHD = heads_NHD[:, -2 * keys :].view(len(heads_NHD), 2, keys, -1)
        step.arena.store(index, step.rows_N, step.positions_N, stored_NPHD)
        return heads_NHD[:, : -2 * keys]


def _add(hidden_NC: Tensor, inner_NO: Tensor, weight_CO: Tensor, bias_C: Tensor | None) -> Tensor:
    summed_NC = torch.addmm(hidden_NC, inner_NO, weight_CO.t())
    return summed_NC if bias_C is None else summed_NC + bias_C


def decoder_of(model: Any, *, context_length: int) -> Decoder | None:
    """The model's weights written together, or `None` for what is not written out here.

    The model's own layers become views of these tensors and stay usable.
    """
    config = model.config
    rotary = getattr(getattr(model, "model", None), "rotary_emb", None)
    if type(model) not in _ARCHITECTURES or config.hidden_act != "silu":
        return None
    if rotary is None or rotary.rope_type not in _FIXED_ROTATIONS:
        return None
    places: dict[str, Place] = {}
    layers = [_layer(model, index, places) for index in range(config.num_hidden_layers)]
    places["lm_head"] = Place(_HEAD, "head", 0)
    attention = model.model.layers[0].self_attn
    embedding_VC = model.model.embed_tokens.weight.detach()
    cosine_1TD, sine_1TD = rotary(embedding_VC, torch.arange(context_length)[None])
    sine_1TD = sine_1TD.clone()
    sine_1TD[..., : sine_1TD.shape[-1] // 2].neg_()
    return Decoder(
        layers,
        Shape(
            query_heads=config.num_attention_heads // config.num_key_value_heads,
            key_heads=config.num_key_value_heads,
            head_size=attention.head_dim,
            epsilon=config.rms_norm_eps,
        ),
        embedding_VC=embedding_VC,
        norm_C=model.model.norm.weight.detach(),
        head_VC=model.lm_head.weight.detach(),
        rotation_TPD=torch.stack((cosine_1TD[0], sine_1TD[0]), dim=1),
        places=places,
    )


def _layer(model: Any, index: int, places: dict[str, Place]) -> Layer:
    module = model.model.layers[index]
    attention, prefix = module.self_attn, f"model.layers.{index}"

    def joined(parent: str, names: tuple[str, ...], tensor: str) -> tuple[Tensor, Tensor | None]:
        owner, first = module.get_submodule(parent), 0
        linears = [owner.get_submodule(name) for name in names]
        for name, linear in zip(names, linears, strict=True):
            places[f"{prefix}.{parent}.{name}"] = Place(index, tensor, first)
            first += linear.out_features
        return _join(linears)

    qkv_OC, qkv_bias_O = joined("self_attn", ("q_proj", "k_proj", "v_proj"), "qkv_OC")
    output_CO, output_bias_C = joined("self_attn", ("o_proj",), "output_CO")
    gate_up_FC, gate_up_bias_F = joined("mlp", ("gate_proj", "up_proj"), "gate_up_FC")
    down_CF, down_bias_C = joined("mlp", ("down_proj",), "down_CF")
    return Layer(
        input_norm_C=module.input_layernorm.weight.detach(),
        qkv_OC=qkv_OC,
        qkv_bias_O=qkv_bias_O,
        turned_norm_HD=_head_norms(attention, model.config),
        output_CO=output_CO,
        output_bias_C=output_bias_C,
        post_norm_C=module.post_attention_layernorm.weight.detach(),
        gate_up_FC=gate_up_FC,
        gate_up_bias_F=gate_up_bias_F,
        down_CF=down_CF,
        down_bias_C=down_bias_C,
        scaling=attention.scaling,
        window=getattr(attention, "sliding_window", None),
    )


def _join(linears: list[nn.Linear]) -> tuple[Tensor, Tensor | None]:
    """One weight (and bias) of several layers with the same input; theirs become views of it."""
    weight_OI = torch.cat([linear.weight.detach() for linear in linears])
    first = 0
    for linear in linears:
        rows = weight_OI[first : first + linear.out_features]
        linear.weight = nn.Parameter(rows, requires_grad=False)
        first += linear.out_features
    biases: list[Tensor | None] = [linear.bias for linear in linears]
    found = [bias.detach() for bias in biases if bias is not None]
    return weight_OI, torch.cat(found) if found else None


def _head_norms(attention: Any, config: Any) -> Tensor | None:
    if not hasattr(attention, "q_norm"):
        return None
    queries = attention.q_norm.weight.detach().expand(config.num_attention_heads, -1)
    keys = attention.k_norm.weight.detach().expand(config.num_key_value_heads, -1)
    return torch.cat((queries, keys))
