"""A model that is real in every file and takes a second to make: two layers, random weights, 262 tokens."""

from pathlib import Path

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(folder: Path, chat_template: str | None = CHAT_TEMPLATE) -> None:
    """A byte-level tokenizer that puts `<s>` before plain text, as Llama's does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<s>", "<|im_start|>", "<|im_end|>"]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={letter: number for number, letter in enumerate(special + letters)}, merges=[]
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    if chat_template:
        fast.chat_template = chat_template
    fast.save_pretrained(folder)


def make_model(folder: Path, positions: int = 512) -> None:
    """The whole folder, always with the same weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    make_tokenizer(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=259,
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=positions,
                bos_token_id=0,
                eos_token_id=2,
                pad_token_id=2,
                tie_word_embeddings=True,
            )
        )
    model.save_pretrained(folder)
