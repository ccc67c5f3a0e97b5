"""Tiny GGUF files of every architecture, as the converter writes them, say the same here and in llama.cpp: so
names, permutations of rows and kinds of rotation are not only our own reading."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.checkpoints import Checkpoint, open_checkpoint
from engine.checkpoints.gguf_architectures import ARCHITECTURES
from engine.model.interface import Model, no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.tokenizer import load_tokenizer
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import CHANGES, tiny
from tests.engine.model.compiled_models import tiny as covered
from tests.engine.tokenizer.samples import gemma4

SCRIPT = Path(__file__).with_name("judge_gguf.py")
PROMPT = [1, *((7 * place) % 57 + 3 for place in range(30))]  # longer than the windows
COUNT = 24
CLOSE = 5e-5  # of log-probabilities
# llama.cpp reads GELU from a table in float16, twice in layers with inputs of their own. For Gemma 3n, it
# computes the deviation of gates by N - 1 instead of N.
ROUNDED = dict.fromkeys(("gemma2", "gemma3_text", "gemma4_large"), 1e-3) | {
    "gemma4_text": 5e-3,
    "gemma3n_text": 0.1,
}
COMPILED = 5e-3  # the same of compiled passes, whose keys and values are float16
# llama.cpp computes no windows for Phi-3, so those that are read here are longer than the text; and it
# multiplies the factor of OLMo 3's YaRN by the usual one.
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
ALIKE: dict[str, dict[str, Any]] = {
    "qwen3_5_text": {"linear_num_value_heads": 6},  # so that the converter changes their order
    "qwen3_5_moe_text": {"linear_num_value_heads": 6},
    "gemma3n_text": {  # llama.cpp knows only these numbers
        "num_hidden_layers": 25,
        "num_kv_shared_layers": 5,
        "layer_types": None,
        "activation_sparsity_pattern": None,
        "altup_num_inputs": 4,
        "laurel_rank": 64,
        "hidden_size_per_layer_input": 256,
        "intermediate_size": 1024,
    },
    "gemma4_large": {"final_logit_softcapping": 30.0},  # which llama.cpp assumes
    "olmoe": {"num_key_value_heads": 4},  # llama.cpp expects as many as heads
    "phi3": {"sliding_window": 400},
    "phi3_short": {"sliding_window": 400},
    "olmo3": {"rope_parameters": {"sliding_attention": PLAIN_ROPE, "full_attention": PLAIN_ROPE}},
}
PATTERN = [*["linear_attention"] * 3, "full_attention"]  # as GGUF can say it
WITHOUT = ("seed_oss_bias",)  # llama.cpp knows no such biases; no published model has them
KINDS = [kind for kind in CHANGES if kind not in WITHOUT]
# Mixtures whose gates and the matrices beside them may be one tensor to this llama.cpp.
MERGED = ("qwen3_5_moe_text", "qwen3_next")
WRONG = "llama with rows in Hugging Face's order"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("judged")
    made = {kind: convert(tiny(kind, **ALIKE.get(kind, {})), folder / f"{kind}.gguf") for kind in KINDS}
    for kind in MERGED:
        module = tiny(kind, **ALIKE.get(kind, {}))
        made[f"{kind}, merged"] = convert(module, folder / f"{kind}-merged.gguf", "gate_up")
    module = tiny("llama")
    queries = {
        f"blk.{layer}.attn_q.weight": parameters.self_attn.q_proj.weight.detach().numpy()
        for layer, parameters in enumerate(module.model.layers)
    }
    made[WRONG] = convert(module, folder / "wrong.gguf", tensors=queries)
    return made


@pytest.fixture(scope="module")
def judged(llama_cpp: Path, files: dict[str, Path]) -> dict[str, dict[str, Any]]:
    command = [llama_cpp, SCRIPT, str(COUNT), *files.values()]
    done = subprocess.run(command, input=json.dumps(PROMPT), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(files, lines, strict=True))


def ours(file: Path, prompt: list[int] = PROMPT) -> tuple[list[int], list[float]]:
    """Return what this program continues the prompt with, and the log-probabilities."""
    checkpoint = open_checkpoint(file)
    return continued(load_model(checkpoint, torch.float32, "cpu", no_progress, 256), checkpoint, prompt)


def continued(model: Model, checkpoint: Checkpoint, prompt: list[int]) -> tuple[list[int], list[float]]:
    """Return greedy tokens, and the log-probabilities. The token that ends a text is never chosen, as
    llama.cpp is told."""
    sequence = Sequence(model, 256)
    end = checkpoint.config["eos_token_id"]
    tokens: list[int] = []
    log_probs: list[float] = []
    rows = prompt
    for _ in range(COUNT):
        after = torch.as_tensor(sequence.extend(rows)).float().log_softmax(-1)
        allowed = after.index_fill(-1, torch.tensor([end]), -torch.inf)
        rows = [int(allowed.argmax())]
        tokens += rows
        log_probs.append(float(allowed.max()))
    return tokens, log_probs


def distance(one: list[float], other: list[float]) -> float:
    return float(np.abs(np.subtract(one, other)).max())


@pytest.mark.parametrize("kind", [*KINDS, *(f"{kind}, merged" for kind in MERGED)])
def test_llama_cpp_reads_the_same_model(
    kind: str, files: dict[str, Path], judged: dict[str, dict[str, Any]]
) -> None:
    assert "error" not in judged[kind], judged[kind]
    tokens, log_probs = ours(files[kind])
    apart = distance(judged[kind]["log_probs"], log_probs)
    print(f"| {kind} | {len(set(tokens))} | {apart:.1e} |")
    assert judged[kind]["tokens"] == tokens
    assert apart < ROUNDED.get(kind, CLOSE)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("gemma4_text", {}),
        ("qwen3_next", {"linear_key_head_dim": 32}),
        ("granitemoehybrid", {}),
        ("granitemoehybrid_experts", {}),
        ("nemotron_h", {}),
        ("nemotron_h_experts", {}),
        ("lfm2", {}),
        ("lfm2_moe", {}),
        ("qwen3_5_text", {"linear_key_head_dim": 32, "num_hidden_layers": 4, "layer_types": PATTERN}),
        ("gemma4_large", ALIKE["gemma4_large"]),
        ("ministral3", {}),
        ("olmo3", ALIKE["olmo3"]),
        ("glm4", {}),
        ("smollm3", {}),
    ],
)
def test_llama_cpp_agrees_with_compiled_passes(
    kind: str, changes: dict[str, Any], llama_cpp: Path, tmp_path: Path
) -> None:
    file = convert(covered(kind, **changes), tmp_path / "model.gguf")
    command = [llama_cpp, SCRIPT, str(COUNT), file]
    done = subprocess.run(command, input=json.dumps(PROMPT), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    checkpoint = open_checkpoint(file)
    model = load_compiled(checkpoint, no_progress, 256)
    assert model is not None
    tokens, log_probs = continued(model, checkpoint, PROMPT)
    apart = distance(theirs["log_probs"], log_probs)
    print(f"| {kind}, compiled | {len(set(tokens))} | {apart:.1e} |")
    assert theirs["tokens"] == tokens
    assert apart < COMPILED


def test_a_file_with_rows_in_another_order_is_told_apart(
    files: dict[str, Path], judged: dict[str, dict[str, Any]]
) -> None:
    _, right = ours(files["llama"])
    assert distance(judged[WRONG]["log_probs"], right) > 0.01
    assert distance(judged[WRONG]["log_probs"], ours(files[WRONG])[1]) < CLOSE


def test_llama_cpp_reads_a_text_as_the_same_tokens_of_gemma_4(llama_cpp: Path, tmp_path: Path) -> None:
    vocabulary = gemma4()
    rows = len(vocabulary.tokens)
    assert vocabulary.types is not None
    metadata: dict[str, Any] = {
        "tokenizer.ggml.model": vocabulary.model,
        "tokenizer.ggml.tokens": vocabulary.tokens,
        "tokenizer.ggml.scores": [0.0] * rows,
        "tokenizer.ggml.token_type": vocabulary.types.tolist(),
        "tokenizer.ggml.merges": vocabulary.merges,
        "tokenizer.ggml.unknown_token_id": vocabulary.unknown_id,
    }
    sizes: dict[str, Any] = dict(vocab_size=rows, vocab_size_per_layer_input=rows)
    module = tiny("gemma4_text", tie_word_embeddings=False, **sizes)
    with torch.no_grad():  # of parts of characters, llama.cpp's server tells nothing
        module.lm_head.weight[[token.startswith("<0x") for token in vocabulary.tokens]] = 0.0
    file = convert(module, tmp_path / "model.gguf", metadata=metadata)
    for text in ("<|turn>hello  w\n\n\n\nhe ll oé 日本<turn|>\n x", " he\n w<|channel>low"):
        done = subprocess.run(
            [llama_cpp, SCRIPT, "1", file], input=json.dumps(text), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr[-2000:]
        theirs = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
        tokens, log_probs = ours(file, load_tokenizer(open_checkpoint(file)).encode_prompt(text))
        assert theirs["tokens"] == tokens[:1]
        assert distance(theirs["log_probs"], log_probs[:1]) < ROUNDED["gemma4_text"]


def test_every_architecture_is_judged() -> None:
    read = {entry.model_type for entry in ARCHITECTURES.values()} - {"mistral"}  # llama.cpp says llama to it
    assert {tiny(kind).config.model_type for kind in KINDS} >= read
