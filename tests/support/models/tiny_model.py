"""A random-weight Qwen3 with its own BPE tokenizer and ChatML template, built in about a second."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

VOCAB_SIZE = 600
CONTEXT_LENGTH = 512
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
VISIBLE_MARKS = ("<tool_call>", "</tool_call>", "<think>", "</think>")

CHATML = """\
{%- if tools -%}
<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content ~ '\\n\\n' }}{% endif -%}
{{- '# Tools' }}
{%- for tool in tools %}{{ '\\n' ~ (tool | tojson) }}{% endfor -%}
{{- '<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' -%}
{{- '<|im_start|>system\\n' ~ messages[0].content ~ '<|im_end|>\\n' }}
{%- endif -%}
{%- set ns = namespace(last_query=-1) -%}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last_query = loop.index0 %}{% endif %}
{%- endfor -%}
{%- for m in messages -%}
{%- if m.role == 'tool' -%}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif -%}
{{- '\\n<tool_response>\\n' ~ m.content ~ '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif -%}
{%- elif m.role == 'assistant' -%}
{%- set content = DROP_THINKING if loop.index0 < ns.last_query else m.content -%}
{{- '<|im_start|>assistant\\n' ~ content }}
{%- for call in m.tool_calls or [] -%}
{{- '\\n' if content or not loop.first else '' -}}
{{- '<tool_call>\\n{"name": "' ~ call.function.name ~ '", "arguments": ' -}}
{%- set arguments = call.function.arguments -%}
{{- (arguments if arguments is string else arguments | tojson) ~ '}\\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\\n' }}
{%- elif m.role != 'system' or not loop.first -%}
{{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif -%}
"""
KEEPS_THINKING = CHATML.replace("DROP_THINKING", "m.content")
DROPS_THINKING = CHATML.replace("DROP_THINKING", "m.content.split('</think>')[-1].lstrip('\\n')")

LOOKUP: dict[Any, Any] = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Read a record.",
        "parameters": {"type": "object", "properties": {"record": {"type": "string"}}},
    },
}
CORPUS = (
    "What is the weight of part P017? Tell me the colour of part P233.",
    '<tool_call>\n{"name": "lookup", "arguments": {"record": "P017"}}\n</tool_call>',
    "system user assistant tool tool_response function parameters type object string required",
    "<think>\nI should look it up first.\n</think>\n\nThe answer is 42.",
    "Work out 12 + 30. calculator expression 12 * 7 Error: no record",
)


def build_tokenizer(
    template: str = KEEPS_THINKING,
    *,
    corpus: Sequence[str] = CORPUS,
    vocab_size: int = VOCAB_SIZE,
    context_length: int = CONTEXT_LENGTH,
) -> PreTrainedTokenizerFast:
    """Trains a tokenizer of at most `vocab_size` tokens: fewer if the corpus has no more merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - len(VISIBLE_MARKS),
        special_tokens=list(MARKS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens(list(VISIBLE_MARKS))
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=context_length,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = template
    return fast


def build_model(vocab_size: int, *, seed: int = 0, hidden: int = 128) -> Qwen3ForCausalLM:
    """0.9 M parameters by default. Spread-out logits, so that errors show in log-probs."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=vocab_size,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=max(32, hidden // 4),  # vLLM's CPU attention takes none narrower
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        initializer_range=0.08,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=0,
    )
    model = Qwen3ForCausalLM(config)
    model.train(mode=False)
    return model


def save_tiny_model(
    directory: Path, template: str = KEEPS_THINKING, *, seed: int = 0, hidden: int = 128
) -> Path:
    tokenizer = build_tokenizer(template)
    # A padded vocabulary.
    build_model(VOCAB_SIZE, seed=seed, hidden=hidden).save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def save_adapter(model_dir: Path, directory: Path, *, seed: int, scale: float = 0.2) -> Path:
    """Saves a stock PEFT LoRA on all linear layers whose B matrices are not zero."""
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM.from_pretrained(model_dir)
    peft_model = get_peft_model(
        model, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    )
    with torch.no_grad():
        for name, parameter in peft_model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=scale)
    peft_model.save_pretrained(str(directory))
    return directory


def save_parrot(directory: Path, conversations: list[list[dict[str, Any]]]) -> Path:
    """Saves a small model that has learned conversations by heart: each assistant turn is what it
    says greedily to what precedes it.
    """
    tokenizer = build_tokenizer()
    model = build_model(VOCAB_SIZE, hidden=64)
    rows = [
        torch.tensor(
            [tokenizer.apply_chat_template(turns, tools=tools_of(turns), return_dict=False)]
        )
        for turns in conversations
    ]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steps this small spend their time on waking threads
    for _ in range(60):
        for ids_1T in rows:
            loss = model(ids_1T, labels=ids_1T).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    torch.set_num_threads(threads)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def tools_of(turns: list[dict[str, Any]]) -> list[Any] | None:
    """Returns the tools a conversation is rendered with: one look-up, where there are any tool
    calls.
    """
    uses_tools = any(turn["role"] == "tool" for turn in turns)
    return [LOOKUP] if uses_tools else None
