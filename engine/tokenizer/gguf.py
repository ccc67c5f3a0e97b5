"""A tokenizer from the vocabulary in a GGUF file."""

from dataclasses import replace

from tokenizers import AddedToken, Tokenizer, decoders, normalizers
from tokenizers.models import BPE

from engine.checkpoints import GgufVocabulary
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.tokenizer.parts import DAMAGED, TokenizerParts, named_errors
from engine.tokenizer.pre_tokenizers import pre_tokenizer

UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4  # llama.cpp's token types (enum llama_token_type)
# Limits far above real vocabularies (Gemma 3: 262 k tokens of 2 million characters, 6 k of them special,
# merges of 5 million characters), so that a malicious one uses little memory and time.
TOKEN_LIMIT = 1 << 10  # characters
TOKENS_LIMIT = 1 << 23  # characters of all tokens
MERGES_LIMIT = 1 << 24  # characters of all merges derived from scores
SPECIAL_LIMIT = 1 << 16
SPACE = "\u2581"  # how SentencePiece spells a space
# Phi-3's special tokens, except for those in PHI3_PLAIN, swallow the white space after them. No key of a GGUF
# file says so. llama.cpp recognises Phi-3 by the model's name; this module does so by PHI3_MARK, a token that
# no other vocabulary has.
PHI3_MARK = "<|placeholder1|>"
PHI3_PLAIN = ("<unk>", "<s>", "<|endoftext|>")


def from_vocabulary(vocabulary: GgufVocabulary) -> TokenizerParts:
    """Build the tokenizer that `vocabulary` describes. Raises `BadCheckpoint` if the vocabulary is not valid;
    `UnsupportedModel` if its type or pre-tokenizer is not supported."""
    if vocabulary.model not in BUILDERS:
        raise UnsupportedModel(
            f"The tokenizer of this model has the type {vocabulary.model[:40]!r}, which is not supported.",
            f"Supported in GGUF files: {', '.join(sorted(BUILDERS))}.",
        )
    with named_errors("The vocabulary in this file is not valid", DAMAGED):
        backend, add_bos = BUILDERS[vocabulary.model](vocabulary, _ids(vocabulary))
        _add_special(backend, vocabulary)
    ends = [vocabulary.eos_id] if vocabulary.eos_id is not None else []
    return TokenizerParts(
        backend=backend,
        chat_template=vocabulary.chat_template,
        bos_id=vocabulary.bos_id,
        add_bos=add_bos if vocabulary.add_bos is None else vocabulary.add_bos,
        eos_ids=frozenset(ends),
        template_tokens=_template_tokens(vocabulary),
    )


def _ids(vocabulary: GgufVocabulary) -> dict[str, int]:
    """Return the id of each token. Empty tokens, which some converters write, get a name, as in llama.cpp."""
    ids = {token or f"[EMPTY_{index}]": index for index, token in enumerate(vocabulary.tokens)}
    if len(ids) != len(vocabulary.tokens):
        raise BadCheckpoint("The vocabulary in this file has duplicate tokens.", DAMAGED)
    if max(map(len, ids)) > TOKEN_LIMIT or sum(map(len, ids)) > TOKENS_LIMIT:
        raise BadCheckpoint("The vocabulary in this file has longer tokens than any known model.", DAMAGED)
    return ids


def _template_tokens(vocabulary: GgufVocabulary) -> dict[str, str]:
    """Return the texts of bos_token, eos_token and unk_token, for the chat template."""
    named = {
        "bos_token": vocabulary.bos_id,
        "eos_token": vocabulary.eos_id,
        "unk_token": vocabulary.unknown_id,
    }
    return {name: vocabulary.tokens[token] for name, token in named.items() if token is not None}


def _add_special(backend: Tokenizer, vocabulary: GgufVocabulary) -> None:
    """Add control tokens and the unknown token as special tokens, and user-defined tokens (such as <think>)
    as tokens that are never split but count as text."""
    if vocabulary.types is None:
        return
    phi3 = vocabulary.model == "llama" and PHI3_MARK in vocabulary.tokens
    special: list[AddedToken] = []
    user_defined: list[AddedToken] = []
    for token, kind in zip(vocabulary.tokens, vocabulary.types.tolist(), strict=True):
        strips = phi3 and token not in PHI3_PLAIN
        if token and kind in (CONTROL, UNKNOWN):
            special.append(AddedToken(token, normalized=False, special=True, rstrip=strips))
        elif token and kind == USER_DEFINED:
            user_defined.append(AddedToken(token, normalized=False, rstrip=strips))
    if len(special) + len(user_defined) > SPECIAL_LIMIT:
        raise BadCheckpoint(
            "The vocabulary in this file has more special tokens than any known model.", DAMAGED
        )
    backend.add_special_tokens(special)
    backend.add_tokens(user_defined)


def _byte_level(vocabulary: GgufVocabulary, ids: dict[str, int]) -> tuple[Tokenizer, bool]:
    """Build a tokenizer of GPT-2's type, which spells bytes in a printable alphabet and merges them pair by
    pair. Also return whether BOS is added if the file leaves that open."""
    if not vocabulary.merges:
        raise BadCheckpoint("The vocabulary in this file has no merges.", DAMAGED)
    cut = pre_tokenizer(vocabulary.pre)
    backend = Tokenizer(
        BPE(ids, [_pair(merge) for merge in vocabulary.merges], ignore_merges=cut.ignore_merges)
    )
    if (normalizer := cut.normalizer()) is not None:
        backend.normalizer = normalizer
    backend.pre_tokenizer = cut.build()
    backend.decoder = decoders.ByteLevel()
    return backend, cut.add_bos


def _pair(merge: str) -> tuple[str, str]:
    """Return both sides of a merge, which is written "left right". A side may itself start with a space."""
    left, space, right = merge[:1] + merge[1:].partition(" ")[0], *merge[1:].partition(" ")[1:]
    if not (left and space and right):
        raise BadCheckpoint(f"The merge {merge[:40]!r} in this file is not a pair.", DAMAGED)
    return left, right


def _sentence_piece(vocabulary: GgufVocabulary, ids: dict[str, int]) -> tuple[Tokenizer, bool]:
    """Build a tokenizer of SentencePiece's BPE type, which has no pre-tokenizer, spells a space as U+2581,
    and uses byte tokens where no other token fits. Also return whether BOS is added if the file leaves that
    open."""
    if vocabulary.scores is None and not vocabulary.merges:
        raise BadCheckpoint("The vocabulary in this file has neither scores nor merges.", DAMAGED)
    merges = [_pair(merge) for merge in vocabulary.merges] if vocabulary.merges else _merges(vocabulary, ids)
    unknown = None if vocabulary.unknown_id is None else vocabulary.tokens[vocabulary.unknown_id]
    backend = Tokenizer(BPE(ids, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    prefix = vocabulary.add_space_prefix is not False
    to_spelling: list[normalizers.Normalizer] = [normalizers.Replace(" ", SPACE)]
    to_text: list[decoders.Decoder] = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    if prefix:
        to_spelling.insert(0, normalizers.Prepend(SPACE))
        to_text.append(decoders.Strip(" ", 1, 0))
    backend.normalizer = normalizers.Sequence(to_spelling)
    backend.decoder = decoders.Sequence(to_text)
    return backend, True


def _gemma4(vocabulary: GgufVocabulary, ids: dict[str, int]) -> tuple[Tokenizer, bool]:
    """Build Gemma 4's tokenizer, SentencePiece's type with listed merges and no space before a text.

    llama.cpp cuts texts before and after line ends (LLAMA_VOCAB_PRE_TYPE_GEMMA4 in llama-vocab.cpp), which
    changes nothing: no merge joins a line end and another character.
    """
    if not vocabulary.merges:
        raise BadCheckpoint("The vocabulary in this file has no merges.", DAMAGED)
    return _sentence_piece(replace(vocabulary, add_space_prefix=False), ids)


def _merges(vocabulary: GgufVocabulary, ids: dict[str, int]) -> list[tuple[str, str]]:
    """Return the merges implied by the scores: every way to split a token into two other tokens; those of the
    token with the best score come first.

    This is equivalent to SentencePiece, which merges the pair whose result has the best score (bpe_model.cc).
    """
    assert vocabulary.scores is not None
    types = [1] * len(ids) if vocabulary.types is None else vocabulary.types.tolist()
    pieces = {token: index for token, index in ids.items() if types[index] == 1}
    scores = vocabulary.scores.tolist()
    ranked: list[tuple[float, int, int]] = []
    nchars = 0
    for token, index in pieces.items():
        for cut in range(1, len(token)):
            left = token[:cut]
            if left in pieces and (right := token[cut:]) in pieces:
                ranked.append((-scores[index], pieces[left], pieces[right]))
                nchars += len(token)
        if nchars > MERGES_LIMIT:
            raise BadCheckpoint("The tokens in this file can be merged in too many ways.", DAMAGED)
    ranked.sort()
    tokens = list(ids)
    return [(tokens[left], tokens[right]) for _, left, right in ranked]


BUILDERS = {
    "gemma4": _gemma4,
    "gpt2": _byte_level,
    "llama": _sentence_piece,
}
