"""LoRA adapters through peft, as stock files.

Owns creating, writing and reading an adapter. Promises: the layers of `lora_targets` are adapted,
in fp32; initial weights are a pure function of the seed; a published adapter loads with stock
`peft.PeftModel.from_pretrained`, contains safetensors and JSON only, and names the base by its
public name. Must not know gradients or optimizers.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from peft.utils import set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.utils import logging as transformers_logging

from app.disk.committed import commit_directory
from app.domain.models.adapter_files import CONFIG_FILE, WEIGHTS_FILE
from workers.learning.adapters.lora_targets import lora_targets

_ADAPTER: Final = "default"


def load_base(path: str, *, device: torch.device, dtype: torch.dtype) -> PreTrainedModel:
    """Loads the frozen base model, from safetensors only.

    It stays in evaluation mode: with dropout, the trained policy would differ from the sampled one.
    """
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
    """Wraps `base` with a new adapter, whose update is zero at first (B = 0).

    A is Kaiming-uniform like peft's default, but drawn from a separate generator in order of name,
    so that neither other runs in the process nor peft's order of construction affect it.
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
    """Returns the trained parameters by name, in order of name."""
    named = ((name, p) for name, p in model.named_parameters() if p.requires_grad)
    return dict(sorted(named))


def adapter_tensors(model: PeftModel) -> dict[str, Tensor]:
    """Returns the adapter's tensors on the CPU, by their names in the published file."""
    state: Mapping[str, Tensor] = get_peft_model_state_dict(
        model, adapter_name=_ADAPTER, save_embedding_layers=False
    )
    return {name: state[name].detach().to("cpu").contiguous() for name in sorted(state)}


def save_adapter(model: PeftModel, directory: Path) -> None:
    """Writes the stock PEFT files and a manifest. The same adapter always gives the same bytes.

    Raises `FileExistsError` if the directory exists: each version has its own.
    """
    with commit_directory(directory) as partial:
        save_file(adapter_tensors(model), partial / WEIGHTS_FILE, metadata={"format": "pt"})
        text = json.dumps(_published_config(model), indent=2, sort_keys=True)
        (partial / CONFIG_FILE).write_text(text + "\n", encoding="utf-8")


def load_adapter(model: PeftModel, directory: Path) -> None:
    """Replaces the adapter's weights by those in `directory`.

    Raises `ValueError` if they are for another rank, alpha or set of modules.
    """
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
