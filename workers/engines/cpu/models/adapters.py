"""Reads a stock PEFT LoRA directory and merges it into weights."""

import copy
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from app.kit.errors import InvalidRequest
from app.models.adapters import CONFIG_FILE, WEIGHTS_FILE
from workers.engines.cpu.models.attention import IMPLEMENTATION, KvPoolCache, Step

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
    """Returns deltas by module name. Raises `InvalidRequest` naming the first misfit."""
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
    """Returns the stamp of an adapter directory; empty if it contains none."""
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
    """Returns a module's value. As in peft's `get_pattern_key`, a regex matches a name's end."""
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


class Weights(Protocol):
    @property
    def query_heads(self) -> int: ...

    @property
    def own_bytes(self) -> int: ...

    def logits(self, step: Step, ids_N: Tensor, output_tokens: list[int]) -> Tensor:
        """Returns logits_KV at the K tokens `output_tokens`; stores the keys and values of all."""
        ...

    def merged(self, deltas: dict[str, LoraDelta]) -> "Weights":
        """Returns weights with an adapter added; they share all tensors that it does not change."""
        ...


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
