"""Pre-tokenizers, which split text before byte-pair merging, by their names in GGUF (`tokenizer.ggml.pre`).

A name stands for the pre-tokenizer in the model family's own tokenizer.json; llama.cpp lists the names in
src/llama-vocab.cpp. A new name takes one entry in `PRE_TOKENIZERS`.
"""

from dataclasses import dataclass

from tokenizers import Regex, normalizers, pre_tokenizers

from engine.errors import UnsupportedModel

# GPT-2's pattern (openai/gpt-2, src/encoder.py).
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# The cl100k family: contractions in any case, digits in groups of at most three (Llama 3) or one (Qwen 2).
_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = _CL100K % "{1,3}"
QWEN2 = _CL100K % ""
# Seed-Coder: as Qwen 2, but line ends do not follow other signs.
SEED = QWEN2.replace(r" ?[^\s\p{L}\p{N}]+[\r\n]*", r" ?[^\s\p{L}\p{N}\r\n]+")
# Qwen 3.5: as Qwen 2, but combining marks stay with their letters.
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Mistral Nemo: words are also split between lower and upper case.
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# GPT-4o (openai/tiktoken, o200k_base): as Mistral Nemo, but contractions stay with their word.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """The description of a pre-tokenizer.

    Attributes: `splits`: patterns that are applied one after another; every match becomes a piece;
    `ignore_merges`: whether a piece that is itself a token is taken as that token, without any merging;
    `add_bos`: whether to add BOS if the file leaves that open; `compose`: whether text is first normalised
    to NFC.
    """

    splits: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False
    compose: bool = False

    def build(self) -> pre_tokenizers.PreTokenizer:
        """Return the pre-tokenizer, which splits text by the patterns, then spells its bytes in GPT-2's
        alphabet."""
        return pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(split), behavior="isolated") for split in self.splits]
            + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )

    def normalizer(self) -> normalizers.Normalizer | None:
        return normalizers.NFC() if self.compose else None


_DIGITS = (r"\p{N}", GPT2)
_GPT2 = PreTokenizer((GPT2,))
_SINGLE_DIGITS = PreTokenizer(_DIGITS)
_LLAMA3 = PreTokenizer((LLAMA3,), ignore_merges=True, add_bos=True)
_LLAMA3_MERGING = PreTokenizer((LLAMA3,))
_QWEN2 = PreTokenizer((QWEN2,))

PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    # What llama.cpp uses if a file names no pre-tokenizer; the pattern is Falcon's.
    "default": PreTokenizer((r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")),
    "gpt-2": _GPT2,
    "phi-2": _GPT2,
    "mpt": _GPT2,
    "olmo": _GPT2,
    "smollm": _SINGLE_DIGITS,
    "starcoder": _SINGLE_DIGITS,
    "refact": _SINGLE_DIGITS,
    "command-r": _SINGLE_DIGITS,
    "codeshell": _SINGLE_DIGITS,
    "exaone": _SINGLE_DIGITS,
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "falcon3": _LLAMA3,
    "pixtral": _LLAMA3,
    "lfm2": _LLAMA3,
    "dbrx": _LLAMA3_MERGING,
    "smaug-bpe": _LLAMA3_MERGING,
    "glm4": PreTokenizer((LLAMA3,), ignore_merges=True),
    "chatglm-bpe": _LLAMA3_MERGING,
    # Qwen's own tokenizer.json composes text (NFC); llama.cpp does not.
    "qwen2": PreTokenizer((QWEN2,), compose=True),
    "qwen35": PreTokenizer((QWEN35,), compose=True),
    "deepseek-r1-qwen": _QWEN2,
    "megrez": _QWEN2,
    "seed-coder": PreTokenizer((SEED,)),
    "stablelm2": _QWEN2,
    "hunyuan": _QWEN2,
    "gpt-4o": PreTokenizer((O200K,)),  # Phi-4-mini
    "tekken": PreTokenizer((TEKKEN,), ignore_merges=True, add_bos=True),
}


def pre_tokenizer(name: str) -> PreTokenizer:
    """Return the pre-tokenizer called `name` in GGUF. Raises `UnsupportedModel` if the name is not known,
    because a guess would give wrong tokens."""
    if name not in PRE_TOKENIZERS:
        raise UnsupportedModel(
            f"The tokenizer of this model splits text by the rule {name[:40]!r}, which is not supported.",
            f"Supported: {', '.join(sorted(PRE_TOKENIZERS))}.",
        )
    return PRE_TOKENIZERS[name]
