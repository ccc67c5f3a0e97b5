"""llama.cpp cuts texts before merging where this program does, by every pre-tokenizer of GGUF files.

The vocabulary has every part of the texts as a token, and every pair of parts as a merge: so each piece of a
text becomes exactly one token, and other cuts are other tokens.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoints import open_checkpoint
from engine.tokenizer import load_tokenizer
from engine.tokenizer.decoder import BYTE_OF
from engine.tokenizer.pre_tokenizers import PRE_TOKENIZERS
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference

SCRIPT = Path(__file__).with_name("judge_texts.py")
SPELLED = {byte: char for char, byte in BYTE_OF.items()}
# Of the patterns of GPT-4o and Mistral Nemo, llama.cpp has short forms, which tell lower from upper case in
# ASCII only, and cut words at marks that are not composed. These models' own tokenizers do neither.
SHORTENED = ("gpt-4o", "tekken")
NOT_SHORTENED = ["ÉCOLE", "हिन्दी"]
ALONE = "zqzq"  # a token that no merge makes
TEXTS = [
    "we've HE'S I'Ll 'tis",
    "a1234567 89x ٣٤",
    "x  \n\n  y\r\n z\t\tq  ",
    "日本語の12 字。",
    "end.\n\n--//\n!! \n",
    "HelloWORLDs aB Cd",
    "naïve École ßeta's",
    "\u3000a\u00a0b",
    "x_y=(a+b)*$2; 🙂",
    *NOT_SHORTENED,
    ALONE,
]


def vocabulary() -> tuple[list[str], list[str]]:
    """Return tokens and merges."""
    merges: dict[str, None] = {}
    for text in TEXTS[:-1]:
        spelled = "".join(SPELLED[byte] for byte in text.encode())
        for start in range(len(spelled)):
            for end in range(start + 2, len(spelled) + 1):
                merges |= {f"{spelled[start:at]} {spelled[at:end]}": None for at in range(start + 1, end)}
    whole = dict.fromkeys(merge.replace(" ", "") for merge in merges)
    return [*BYTE_OF, *whole, ALONE, "<s>", "</s>"], [*merges]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("texts")
    tokens, merges = vocabulary()
    rows = len(tokens)
    module = reference("llama", vocab_size=rows)
    metadata: dict[str, Any] = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": None,
        "tokenizer.ggml.token_type": [1] * (rows - 2) + [3, 3],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": rows - 2,
        "tokenizer.ggml.eos_token_id": rows - 1,
        "tokenizer.ggml.padding_token_id": None,
    }
    return {
        name: convert(module, folder / f"{name}.gguf", metadata=metadata | {"tokenizer.ggml.pre": name})
        for name in PRE_TOKENIZERS
    }


@pytest.fixture(scope="module")
def judged(llama_cpp: Path, files: dict[str, Path]) -> dict[str, dict[str, Any]]:
    command = [llama_cpp, SCRIPT, *files.values()]
    texts = json.dumps(TEXTS)
    done = subprocess.run(command, input=texts, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(files, lines, strict=True))


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_llama_cpp_cuts_texts_alike(
    name: str, files: dict[str, Path], judged: dict[str, dict[str, Any]]
) -> None:
    assert "error" not in judged[name], judged[name]
    ours = load_tokenizer(open_checkpoint(files[name]))
    for text, tokens in zip(TEXTS, judged[name]["tokens"], strict=True):
        alike = ours.encode_prompt(text) == tokens
        assert alike != (name in SHORTENED and text in NOT_SHORTENED), text
