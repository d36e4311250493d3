"""A model real in every file, made in a second: two layers, random weights, byte tokens."""

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
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
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
        model = LlamaForCausalLM(  # type: ignore[no-untyped-call]
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


def make_gguf(path: Path) -> None:
    """The same kind of model as one GGUF file, unquantised, always with the same weights."""
    import gguf
    import numpy as np

    random = np.random.default_rng(0)
    letters = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 323))]
    tokens = ["<s>", "<|im_start|>", "<|im_end|>", *letters, "Ġt"]
    width, hidden, keys = 32, 64, 16
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(2)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(8)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["Ġ t"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_chat_template(CHAT_TEMPLATE)
    shapes = {"token_embd.weight": (len(tokens), width), "output_norm.weight": (width,)}
    for layer in range(2):
        shapes |= {
            f"blk.{layer}.{name}.weight": shape
            for name, shape in {
                "attn_norm": (width,),
                "ffn_norm": (width,),
                "attn_q": (width, width),
                "attn_k": (keys, width),
                "attn_v": (keys, width),
                "attn_output": (width, width),
                "ffn_gate": (hidden, width),
                "ffn_up": (hidden, width),
                "ffn_down": (width, hidden),
            }.items()
        }
    for name, shape in shapes.items():
        writer.add_tensor(name, random.standard_normal(shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
