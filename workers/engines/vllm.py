"""Launching `vllm serve` 0.32 so that it keeps the contract the CPU engine keeps.

Owns argv and environment of one vLLM server per base model; running it belongs to the supervisor or
to a container, in an environment of its own (vLLM pins another FastAPI). Tested as argv only: no
vLLM has been started through it yet. Development mode is never on: its control endpoints ignore the
API key.
"""

from dataclasses import dataclass
from pathlib import Path

from app.domain.models import BaseModelSpec


@dataclass(frozen=True, slots=True)
class VllmOptions:
    """What differs between machines. Sizes in tokens unless said otherwise."""

    host: str = "127.0.0.1"
    port: int = 8300
    dtype: str = "auto"
    block_size: int = 32
    """Prefix caching works in whole blocks: short transcripts need small ones."""
    max_loras: int = 8
    """Adapters in one batch."""
    max_cpu_loras: int = 64
    gpu_memory_utilization: float | None = 0.9
    kv_cache_gib: int | None = None
    """CPU build only; it refuses to start on a shared machine without."""
    tensor_parallel: int = 1


def vllm_command(spec: BaseModelSpec, options: VllmOptions, *, python: str) -> tuple[str, ...]:
    """The argument vector. `python` is vLLM's own interpreter; the module form also works for the
    CPU wheel, whose `vllm serve` cannot find its version.
    """
    command = [
        *(python, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", spec.path, "--served-model-name", spec.name),
        *("--host", options.host, "--port", str(options.port)),
        *("--dtype", options.dtype),
        *("--max-model-len", str(spec.context_length)),
        # Log-probs of the distribution that was sampled from: what the trainer compares with.
        *("--logprobs-mode", "processed_logprobs"),
        # Sampling as the request says, not as the model's generation_config.json would have it.
        *("--generation-config", "vllm"),
        *("--enable-prefix-caching", "--block-size", str(options.block_size)),
        *("--enable-lora", "--max-lora-rank", str(_lora_rank(spec.lora_rank))),
        *("--max-loras", str(options.max_loras), "--max-cpu-loras", str(options.max_cpu_loras)),
        *("--enable-auto-tool-choice", "--tool-call-parser", spec.tool_parser),
        *("--tensor-parallel-size", str(options.tensor_parallel)),
    ]
    if spec.chat_template is not None:
        command += ["--chat-template", str(spec.chat_template)]
    if options.gpu_memory_utilization is not None and options.kv_cache_gib is None:
        command += ["--gpu-memory-utilization", str(options.gpu_memory_utilization)]
    return tuple(command)


def vllm_environment(options: VllmOptions, *, api_key: str, cache_dir: Path) -> dict[str, str]:
    """Variables beside the inherited ones. The key is not in argv, where everyone can read it."""
    environment = {
        "VLLM_API_KEY": api_key,
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        "VLLM_SERVER_DEV_MODE": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CACHE_ROOT": str(cache_dir),
    }
    if options.kv_cache_gib is not None:
        environment["VLLM_CPU_KVCACHE_SPACE"] = str(options.kv_cache_gib)
    return environment


def _lora_rank(rank: int) -> int:
    """The next of the maxima that vLLM takes."""
    allowed = (8, 16, 32, 64, 128, 256, 320, 512)
    fitting = [value for value in allowed if value >= rank]
    if not fitting:
        raise ValueError(f"vLLM serves LoRA ranks up to {allowed[-1]}, not {rank}")
    return fitting[0]
