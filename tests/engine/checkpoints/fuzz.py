"""Coverage-guided fuzzing of all readers of model files. Needs atheris, which is available for Linux only.

python -m tests.engine.checkpoints.fuzz gguf --seconds 60

Starts from valid files and changes their bytes. Every input must be read or refused with a named error and a
hint, within 5 s and 512 MB. An input that violates this is stored in the current folder (crash-*, oom-*,
timeout-*); give its name after the target to run it again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

TARGETS = ("gguf", "safetensors", "settings", "tokenizer", "vocabulary")
WEIGHTS = 1 << 20  # bytes of zeros after a header
# Replacements for values of a JSON file.
ODD = [
    *(None, True, -1, 0, 1, 2, 33, 2**16, 2**31, 2**32 - 1, 2**53, 2**63, 10**30, 1e308, -0.5),
    *("", "a", "\u2581", "\ud800", "x" * 5000, [], [[]], {}, {"": 0}),
]


def write_valid(folder: Path) -> None:
    """Write valid inputs: headers without weights, in a folder per target; JSON settings and tokenizer."""
    from engine.checkpoints import gguf_header
    from tests.engine.checkpoints.files import MERGES, TOKENS, write_folder, write_gguf
    from tests.engine.checkpoints.test_grouped import AWQ, GPTQ

    def gguf(architecture: str, **metadata: Any) -> bytes:
        entries = {key.replace("__", "."): value for key, value in metadata.items()}
        file = write_gguf(folder / "valid.gguf", architecture, metadata=entries)
        return file.read_bytes()[: gguf_header.read_header(file).nbytes]

    write_folder(folder / "model")
    config = json.loads((folder / "model" / "config.json").read_text())
    safetensors = (folder / "model" / "model.safetensors").read_bytes()
    scaling = {"type": "yarn", "factor": 4.0, "original_context_length": 64, "yarn_beta_fast": 32.0}
    headers = {
        "gguf": [
            gguf("llama", tokenizer__ggml__add_bos_token=True),
            gguf("qwen2", **{f"qwen2__rope__scaling__{key}": value for key, value in scaling.items()}),
            gguf("llama", tokenizer__ggml__model="llama", tokenizer__ggml__scores=[0.0] * len(TOKENS)),
        ],
        "safetensors": [safetensors[: 8 + int.from_bytes(safetensors[:8], "little")]],
    }
    for target in TARGETS:
        (folder / target).mkdir()
        for number, data in enumerate(headers.get(target, [bytes(64), bytes(range(256))])):
            (folder / target / f"valid{number}").write_bytes(data)
    bytes_only = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": False}
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_pairs = {
        "vocab": {token: i for i, token in enumerate(TOKENS)},
        "merges": [m.split() for m in MERGES],
    }
    tokenizer = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [{"id": 1, "content": "<s>", **special}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "_"}, replace]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_only]},
        "post_processor": bytes_only,
        "decoder": {"type": "Sequence", "decoders": [replace, bytes_only]},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "byte_fallback": False, **byte_pairs},
    }
    named = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": [{"name": "default"}]}
    (folder / "tokenizer.valid").write_text(json.dumps([tokenizer, named]))
    (folder / "settings.valid").write_text(json.dumps([[config, GPTQ, {}], [config, {}, AWQ]]))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) for everything inside `value`."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def targets(folder: Path) -> dict[str, Callable[[bytes], None]]:
    """Return the functions that run on an input; local imports let atheris measure their coverage."""
    import atheris

    with atheris.instrument_imports(include=["engine"]):
        import numpy as np

        from engine.checkpoints import GgufVocabulary, grouped, open_checkpoint
        from engine.checkpoints.checkpoint import Span
        from engine.checkpoints.safetensors import read_header, read_json
        from engine.tokenizer.folder import from_folder
        from engine.tokenizer.gguf import from_vocabulary
        from engine.tokenizer.parts import TokenizerParts
        from engine.tokenizer.tokenizer import Tokenizer

    def with_weights(name: str, header: bytes) -> Path:
        file = folder / name
        file.write_bytes(header)
        os.truncate(file, len(header) + WEIGHTS)
        return file

    def edited(texts: list[Any], given: Any) -> list[Any]:
        """Return `texts` with up to four values replaced or removed."""
        for _ in range(given.ConsumeIntInRange(0, 4)):
            candidates = [place for value in texts for place in places(value)]
            container, key = given.PickValueInList(candidates or [({"": 0}, "")])
            if given.ConsumeBool():
                container[key] = deepcopy(given.PickValueInList(ODD))
            else:
                del container[key]
        return texts

    def encode_and_decode(parts: TokenizerParts) -> None:
        tokenizer = Tokenizer(parts)
        tokenizer.decode(tokenizer.encode("Hello, <s> world 123\n\U0001f600"))

    def gguf(data: bytes) -> None:
        file = with_weights("model.gguf", data)
        vocabulary = open_checkpoint(file).tokenizer
        assert isinstance(vocabulary, GgufVocabulary)
        encode_and_decode(from_vocabulary(vocabulary))

    def safetensors(data: bytes) -> None:
        read_header(with_weights("other.safetensors", data))

    def settings(data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        texts = edited(given.PickValueInList(json.loads((folder / "settings.valid").read_text())), given)
        for name, text in zip(("config.json", *grouped.FILES), texts, strict=True):
            (folder / name).write_text(json.dumps(text))
        packing = grouped.packing({name: read_json(folder / name) for name in grouped.FILES})
        shapes = {"qweight": (12, 64), "qzeros": (3, 8), "scales": (3, 64), "g_idx": (96,)}
        spans = {
            f"a.{part}": Span(Path("a"), 0, 4, shape, "F16" if part == "scales" else "I32")
            for part, shape in shapes.items()
        }
        grouped.weights(spans, packing)
        open_checkpoint(folder)

    def tokenizer(data: bytes) -> None:
        valid = json.loads((folder / "tokenizer.valid").read_text())
        texts = edited(valid, atheris.FuzzedDataProvider(data))
        for name, text in zip(("tokenizer.json", "tokenizer_config.json"), texts, strict=True):
            (folder / name).write_text(json.dumps(text))
        encode_and_decode(from_folder(folder))

    def vocabulary(data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        count = given.ConsumeIntInRange(0, 40)
        tokens = [given.ConsumeUnicodeNoSurrogates(given.ConsumeIntInRange(0, 5)) for _ in range(count)]
        pairs = [given.PickValueInList(tokens or ["a"]) for _ in range(given.ConsumeIntInRange(0, 20))]
        ids = [given.PickValueInList([None, *range(count)]) for _ in range(3)]
        found = GgufVocabulary(
            model=given.PickValueInList(["gpt2", "llama", "bert"]),
            pre=given.PickValueInList(["gpt-2", "llama-bpe", "default", "x"]),
            tokens=tokens,
            scores=np.frombuffer(given.ConsumeBytes(4 * count).ljust(4 * count, b"\0"), np.float32),
            types=np.array([given.ConsumeIntInRange(-1, 7) for _ in range(count)], np.int32),
            merges=[" ".join(pair) for pair in pairwise(pairs)] or None,
            bos_id=ids[0],
            eos_id=ids[1],
            unknown_id=ids[2],
            add_bos=given.PickValueInList([None, True, False]),
            add_eos=None,
            add_space_prefix=given.PickValueInList([None, True, False]),
            chat_template=None,
        )
        encode_and_decode(from_vocabulary(found))

    return {function.__name__: function for function in (gguf, safetensors, settings, tokenizer, vocabulary)}


def fuzz(names: Sequence[str], folder: Path, limits: list[str], inputs: list[str]) -> None:
    """Fuzz targets one after the other, until one finds anything. Each has a copy of this process, because
    instrumenting all that is imported takes longer than fuzzing for a moment."""
    import atheris

    functions = targets(folder)
    from engine.errors import SpecExecError

    def one(data: bytes) -> None:
        refusal = None
        try:
            run(data)
        except SpecExecError as error:
            refusal = error
        assert refusal is None or (refusal.message and refusal.hint)

    for name in names:
        if copy := os.fork():
            if status := os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]):
                sys.exit(status)
            continue
        run = functions[name]
        atheris.Setup([sys.argv[0], *limits, *(inputs or [str(folder / name)])], one)
        atheris.Fuzz()
        os._exit(0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=(*TARGETS, "all"))
    parser.add_argument("input", nargs="*", help="inputs to run once each instead of fuzzing")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # One process writes the seeds with torch; another fuzzes without it, so that only reading uses
        # memory.
        call = f"from {__spec__.name} import *; "
        subprocess.run([sys.executable, "-c", call + f"write_valid(Path({folder!r}))"], check=True)
        limits = ["-rss_limit_mb=512", "-timeout=5", f"-max_total_time={options.seconds}", "-max_len=16384"]
        environment = {**os.environ, "RUST_BACKTRACE": "0"}
        names = TARGETS if options.target == "all" else (options.target,)
        one = f"fuzz({names!r}, Path({folder!r}), {limits}, {options.input})"
        return subprocess.run([sys.executable, "-c", call + one], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
