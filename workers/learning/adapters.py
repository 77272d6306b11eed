"""LoRA adapters through peft, as stock files: made, saved, loaded, computed fast, and merged."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from peft.tuners.lora.layer import Linear
from peft.utils import set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as transformers_logging
from typing_extensions import override

from app.kit.directories import commit_directory
from app.models.adapters import CONFIG_FILE, WEIGHTS_FILE
from app.models.models import BASE_MODEL_UNSUPPORTED
from workers.learning.head import UnsupportedBase, linear

_ADAPTER: Final = "default"


def load_base(path: str, *, device: torch.device, dtype: torch.dtype) -> PreTrainedModel:
    """From safetensors only, in evaluation mode: dropout would change the trained policy."""
    # A worker writes its log in lines, which a progress bar would break.
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        path, dtype=dtype, use_safetensors=True
    )
    model.requires_grad_(requires_grad=False)
    model.to(device).eval()  # type: ignore[arg-type]  # the stub accepts strings only
    return model


def output_layer(base: PreTrainedModel) -> nn.Module:
    layer: nn.Module = base.get_output_embeddings()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    return layer


def attach_lora(
    base: PreTrainedModel, *, rank: int, alpha: float, base_name: str, seed: int
) -> PeftModel:
    """Wraps `base` with a new adapter, whose update is zero at first (B = 0). A is Kaiming-uniform
    like peft's default, but drawn from a separate generator in order of name, so that neither other
    runs in the process nor peft's order of construction affect it.
    """
    config = LoraConfig(
        r=rank,
        lora_alpha=int(alpha) if float(alpha).is_integer() else alpha,  # type: ignore[arg-type]  # peft declares int, and takes and saves a float
        target_modules=lora_targets(base),
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng([base.device] if base.device.type == "cuda" else []):
        model: PeftModel = get_peft_model(base, config)
    config.base_model_name_or_path = base_name  # replaces the local path that peft sets
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in adapter_parameters(model).items():
            initial = torch.zeros(parameter.shape, dtype=torch.float32)
            if ".lora_A." in name:
                nn.init.kaiming_uniform_(initial, a=math.sqrt(5), generator=generator)
            parameter.copy_(initial)
    return model.eval()


def adapter_parameters(model: PeftModel) -> dict[str, nn.Parameter]:
    named = ((name, p) for name, p in model.named_parameters() if p.requires_grad)
    return dict(sorted(named))


def adapter_tensors(model: PeftModel) -> dict[str, Tensor]:
    state: Mapping[str, Tensor] = get_peft_model_state_dict(
        model, adapter_name=_ADAPTER, save_embedding_layers=False
    )
    return {name: state[name].detach().to("cpu").contiguous() for name in sorted(state)}


def save_adapter(model: PeftModel, directory: Path) -> None:
    """Writes the stock PEFT files and a manifest, always the same bytes for one adapter."""
    with commit_directory(directory) as partial:
        save_file(adapter_tensors(model), partial / WEIGHTS_FILE, metadata={"format": "pt"})
        text = json.dumps(_published_config(model), indent=2, sort_keys=True)
        (partial / CONFIG_FILE).write_text(text + "\n", encoding="utf-8")


def load_adapter(model: PeftModel, directory: Path) -> None:
    """Raises `ValueError` for another rank, alpha or set of modules."""
    config = json.loads((directory / CONFIG_FILE).read_text(encoding="utf-8"))
    own = _published_config(model)
    differing = [k for k in ("r", "lora_alpha", "target_modules") if config[k] != own[k]]
    if differing:
        raise ValueError(f"the adapter differs from this run's in {differing}")
    set_adapter_tensors(model, load_file(directory / WEIGHTS_FILE))


def set_adapter_tensors(model: PeftModel, tensors: dict[str, Tensor]) -> None:
    """Sets the adapter's weights. Raises `ValueError` if a name or shape differs."""
    own = {name: tensor.shape for name, tensor in adapter_tensors(model).items()}
    if own != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ValueError("the adapter's tensors do not fit this model")
    set_peft_model_state_dict(model, tensors, adapter_name=_ADAPTER)


def _published_config(model: PeftModel) -> dict[str, Any]:
    config: dict[str, Any] = model.peft_config[_ADAPTER].to_dict()
    config["inference_mode"] = True  # as peft writes it
    # Sets become sorted lists, because their order depends on the hash seed.
    return {k: sorted(v) if isinstance(v, set) else v for k, v in config.items()}


_LEFT_OUT: Final = re.compile(
    r"(^|\.)(experts?|router|gate|shared_expert_gate|vision\w*|visual\w*|audio\w*|image\w*"
    r"|multi_modal_projector|embed_vision|embed_audio|mtp)(\.|$)"
)
_FEED_FORWARD: Final = re.compile(r"\.(gate_proj|up_proj|down_proj|gate_up_proj|w1|w2|w3)$")
_DENSE: Final = "all-linear"


def lora_targets(base: PreTrainedModel) -> str | list[str]:
    """Returns `target_modules` for peft: `all-linear` if every linear layer is adapted, else the
    suffixes of the layers' names, or whole names where a suffix would match other layers too.
    Raises `UnsupportedBase` for a model without such layers.
    """
    output = base.get_output_embeddings()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    linears = {
        name
        for name, module in base.named_modules()
        if type(module) is nn.Linear and module is not output
    }
    experts = any(re.search(r"(^|\.)experts?(\.|$)", name) for name, _ in base.named_modules())
    chosen = {
        name
        for name in linears
        if not (_LEFT_OUT.search(name) or (experts and _FEED_FORWARD.search(name)))
    }
    if not chosen:
        raise UnsupportedBase(
            "The trainer cannot train this base model: none of its layers is a linear layer that "
            "LoRA can adapt.",
            code=BASE_MODEL_UNSUPPORTED,
            param="model",
        )
    if chosen == linears and not experts:
        return _DENSE
    ends = {name.rpartition(".")[2] for name in chosen}
    others = {name for name, _ in base.named_modules()} - chosen
    if {name.rpartition(".")[2] for name in others} & ends:
        return sorted(chosen)
    return sorted(ends)


MERGED_TYPES = (torch.float32, torch.float64)


def install_fast_lora_forward(model: PeftModel, *, adapter: str = "default") -> int:
    """Returns the number of replaced layers; dropout, DoRA, a bias and odd bases keep peft's."""
    count = 0
    for module in model.modules():
        if isinstance(module, Linear) and _is_plain(module, adapter):
            module.forward = _Forward(module, adapter)  # type: ignore[assignment,method-assign]  # replaces the method of one module on purpose
            count += 1
    return count


def _is_plain(module: Linear, adapter: str) -> bool:
    return (
        type(module.base_layer) is nn.Linear
        and adapter in module.lora_A
        and adapter not in module.lora_variant
        and isinstance(module.lora_dropout[adapter], nn.Identity)
        and module.lora_A[adapter].bias is None
        and module.lora_B[adapter].bias is None
    )


class _Forward:
    def __init__(self, module: Linear, adapter: str) -> None:
        self._module = module
        self._adapter = adapter
        self._peft_forward = module.forward

    def __call__(self, hidden: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        module, adapter = self._module, self._adapter
        active = list(module.active_adapters) == [adapter]
        if module.disable_adapters or module.merged or not active or args or kwargs:
            output: Tensor = self._peft_forward(hidden, *args, **kwargs)
            return output
        rows = hidden.flatten(0, -2)
        out: Tensor = _LoraLinear.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
            rows,
            module.base_layer.weight,
            module.base_layer.bias,
            module.lora_A[adapter].weight,
            module.lora_B[adapter].weight,
            module.scaling[adapter],
        )
        return out.view(*hidden.shape[:-1], -1)


class _LoraLinear(torch.autograd.Function):
    """One layer with I inputs, O outputs and rank R, applied to M rows."""

    @staticmethod
    @override
    def forward(
        ctx: Any,
        hidden_MI: Tensor,
        weight_OI: Tensor,
        bias_O: Tensor | None,
        down_RI: Tensor,
        up_OR: Tensor,
        scaling: float,
    ) -> Tensor:
        ctx.save_for_backward(hidden_MI, weight_OI, down_RI, up_OR)
        ctx.scaling = scaling
        if weight_OI.dtype in MERGED_TYPES:
            return linear(hidden_MI, _merged(weight_OI, down_RI, up_OR, scaling), bias_O)
        out_MO = linear(hidden_MI, weight_OI, bias_O)
        low_rank_MR = hidden_MI @ down_RI.to(hidden_MI.dtype).T
        return out_MO.addmm_(low_rank_MR, up_OR.to(hidden_MI.dtype).T, alpha=scaling)

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_MO: Tensor) -> tuple[Tensor | None, ...]:
        hidden_MI, weight_OI, down_RI, up_OR = ctx.saved_tensors
        scaling, dtype = ctx.scaling, hidden_MI.dtype
        low_rank_MR = hidden_MI @ down_RI.to(dtype).T
        # With the rank last in memory for both operands, this is several times faster on a CPU.
        slope_MR = nn.functional.linear(grad_MO, up_OR.to(dtype).T.contiguous())
        down_grad = (slope_MR.T @ hidden_MI).to(down_RI.dtype).mul_(scaling)
        up_grad = (low_rank_MR.T @ grad_MO).T.contiguous().to(up_OR.dtype).mul_(scaling)
        if not ctx.needs_input_grad[0]:
            return None, None, None, down_grad, up_grad, None
        if weight_OI.dtype in MERGED_TYPES:
            grad_MI = linear(grad_MO, _merged(weight_OI, down_RI, up_OR, scaling).T)
        else:
            grad_MI = (grad_MO @ weight_OI).addmm_(slope_MR, down_RI.to(dtype), alpha=scaling)
        return grad_MI, None, None, down_grad, up_grad, None


def _merged(weight_OI: Tensor, down_RI: Tensor, up_OR: Tensor, scaling: float) -> Tensor:
    return torch.addmm(
        weight_OI, up_OR.to(weight_OI.dtype), down_RI.to(weight_OI.dtype), alpha=scaling
    )


class StartingWeights:
    def __init__(self, model: PeftModel, directory: Path | None) -> None:
        """Loads the adapter in `directory`, if given. Raises `ValueError` for another shape."""
        self._model = model
        self._parameters = list(adapter_parameters(model).values())
        self._copies: list[torch.Tensor] | None = None
        if directory is not None:
            load_adapter(model, directory)
            self._copies = [parameter.detach().clone() for parameter in self._parameters]

    @contextmanager
    def active(self) -> Iterator[None]:
        if self._copies is None:
            with self._model.disable_adapter():
                yield
            return
        self._swap()
        try:
            with torch.no_grad():
                yield
        finally:
            self._swap()

    def _swap(self) -> None:
        copies = self._copies or []
        for index, parameter in enumerate(self._parameters):
            copies[index], parameter.data = parameter.data, copies[index]


_SHARD: Final = "2GB"


class BaseNotMergeable(Exception):
    """The base model's weights cannot take an adapter in; the message says why."""


def merge_adapter(
    base_path: str,
    adapter: Path,
    target: Path,
    *,
    chat_template: Path | None,
    fits: Callable[[int], None],
) -> None:
    """`target` is empty. `fits` gets the size in bytes before the weights are written, and raises
    without room. Raises `BaseNotMergeable`.
    """
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    base = _base(base_path)
    fits(sum(weight.numel() * weight.element_size() for weight in base.parameters()))
    try:
        merged = PeftModel.from_pretrained(base, adapter).merge_and_unload(safe_merge=True)
    except (ValueError, NotImplementedError) as error:
        raise BaseNotMergeable(str(error)) from error
    merged.save_pretrained(target, max_shard_size=_SHARD)
    tokenizer = AutoTokenizer.from_pretrained(base_path)
    if chat_template is not None:
        tokenizer.chat_template = chat_template.read_text(encoding="utf-8")
    tokenizer.save_pretrained(target)


def _base(path: str) -> PreTrainedModel:
    try:
        config = AutoConfig.from_pretrained(path)
        if getattr(config, "quantization_config", None):
            raise BaseNotMergeable("the weights of its base model are quantized")
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            path, dtype=torch.float32, use_safetensors=True
        )
    except OSError as error:
        raise BaseNotMergeable(f"its base model cannot be loaded ({error})") from error
    return model
