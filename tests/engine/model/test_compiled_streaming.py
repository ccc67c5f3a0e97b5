"""A compiled model whose weights are streamed gives the same bits as with all weights in memory."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.errors import BadOption, StreamBroken
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner.run_rows import RUN_ROWS, STREAMED_ROWS
from engine.streaming import WeightLimits
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.model.compiled_models import CONTEXT, DENSE, Branches, Ended, all_logits, random_text, tiny

every_kind = pytest.mark.parametrize("kind", DENSE)
LITTLE = 300 << 10  # bytes: two slots and few resident matrices


@contextmanager
def both(kind, folder, limit=LITTLE, dtype=torch.float32):
    """The compiled model with all weights in memory, and streamed under a limit of bytes."""
    tiny(kind).to(dtype).save_pretrained(folder)
    file = open_checkpoint(folder)
    resident = load_compiled(file, no_progress, CONTEXT)
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(limit))
    assert resident is not None
    assert streamed is not None
    assert streamed.streamer.tiers["ssd"] > LITTLE
    try:
        yield resident, streamed
    finally:
        streamed.close()


@every_kind
def test_texts_and_trees_have_the_same_bits(kind, tmp_path):
    with both(kind, tmp_path) as models:
        text, tree = random_text(20), Branches.grown(12, 1)
        found = []
        for model in models:
            sequence = Sequence(model, CONTEXT)
            sequence.extend(text)
            found.append(tree.consider(sequence, (5, 7), hidden_layers=(0, model.layers)))
        for (logits, hidden), (expected, others) in zip(*found, strict=True):
            assert np.array_equal(logits, expected)
            assert all(np.array_equal(hidden[layer], others[layer]) for layer in others)


@pytest.mark.parametrize("limit", [LITTLE, 2 * LITTLE])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_16_bits_and_matrices_that_are_cut(dtype, limit, tmp_path):
    with both("llama", tmp_path, limit, dtype) as (resident, streamed):
        for text in (random_text(1), random_text(40), random_text(3, 1)):
            assert np.array_equal(all_logits(streamed, text), all_logits(resident, text))


@pytest.mark.parametrize("storage", ["IQ2_S", "IQ3_XXS", "TQ1_0"])
def test_weights_that_grow_in_tiles_keep_to_the_limit(storage, tmp_path):
    module = tiny("llama", hidden_size=512, intermediate_size=512, num_attention_heads=16)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", storage=storage))
    limit = sum(weight.nbytes for weight in file.weights.values())
    resident = load_compiled(file, no_progress, CONTEXT)
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(limit))
    vectors = sum(vector.nbytes for vector in streamed.weights.vectors.values())
    assert 0.8 * limit < streamed.weights.nbytes - vectors < 1.02 * limit  # tiles are rounded up
    assert np.array_equal(all_logits(streamed, random_text(20)), all_logits(resident, random_text(20)))
    streamed.close()


def test_a_prompt_streams_the_weights_once(tmp_path):
    tiny("qwen2").save_pretrained(tmp_path)
    file, text = open_checkpoint(tmp_path), random_text(STREAMED_ROWS)
    resident = load_compiled(file, no_progress, len(text) + 1)
    streamed = load_compiled(file, no_progress, len(text) + 1, limits=WeightLimits(LITTLE))
    assert np.array_equal(all_logits(streamed, text), all_logits(resident, text))
    assert streamed.moved == streamed.streamer.pass_nbytes
    assert np.array_equal(all_logits(streamed, [*text, 5]), all_logits(resident, [*text, 5]))
    assert streamed.moved == 3 * streamed.streamer.pass_nbytes, "a row more takes a second run"
    streamed.close()


def test_bytes_are_counted(tmp_path):
    with both("qwen2", tmp_path) as (resident, streamed):
        assert streamed.moved == 0
        all_logits(streamed, [1, 2, 3])
        assert streamed.moved == streamed.streamer.pass_nbytes
        assert streamed.nbytes < resident.nbytes
        assert streamed.waited_s >= 0


@pytest.mark.parametrize("kind", ["llama", "gemma2"])  # the head alone; the embedding as head, with a cap
@pytest.mark.parametrize("count", [1, RUN_ROWS + 20])
def test_the_head_out_of_turn_is_a_copy_in_memory(kind, count, tmp_path):
    with both(kind, tmp_path) as (resident, streamed):
        states = np.random.default_rng(1).standard_normal((count, resident.width), np.float32)
        head, other = streamed.output_head(), resident.output_head()
        assert head.nbytes > other.nbytes == 0
        moved = streamed.moved
        assert np.array_equal(head(states), other(states))
        assert streamed.moved == moved
        assert np.array_equal(all_logits(streamed, [1, 2, 3]), all_logits(resident, [1, 2, 3]))


@pytest.mark.parametrize("end", range(0, 12, 2))
def test_a_pass_that_progress_ends_leaves_no_trace(end, tmp_path):
    with both("llama", tmp_path) as (resident, streamed):
        calls = 0

        def progress(done, total):
            nonlocal calls
            calls += 1
            if calls > end:
                raise Ended

        cache = streamed.new_cache(CONTEXT)
        with pytest.raises(Ended):
            streamed.forward(Rows.text([1, 2, 3], 0), cache, progress=progress)
        assert cache.tail == 0
        assert np.array_equal(all_logits(streamed, [4, 5, 6]), all_logits(resident, [4, 5, 6]))


def test_progress_is_called_before_each_chunk(tmp_path):
    with both("llama", tmp_path) as (_, streamed):
        calls: list[tuple[int, int]] = []
        streamed.forward(
            Rows.text([1, 2], 0), streamed.new_cache(8), progress=lambda *done: calls.append(done)
        )
        assert calls == sorted(calls)
        assert len(calls) > 2 * streamed.layers
        assert calls[-1] == (streamed.layers, streamed.layers)


def read_again(model):
    """Run passes until nothing that was read ahead before is used."""
    for _ in range(4):
        all_logits(model, [1, 2])


def test_a_file_that_shrinks_ends_the_pass_with_its_own_error(tmp_path):
    with both("llama", tmp_path) as (_, streamed):
        all_logits(streamed, [1, 2])
        file = next(Path(tmp_path).glob("*.safetensors"))
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        with pytest.raises(StreamBroken):
            read_again(streamed)


def test_a_limit_that_holds_no_two_slots_is_refused(tmp_path):
    tiny("llama").save_pretrained(tmp_path)
    with pytest.raises(BadOption):
        load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT, limits=WeightLimits(1000))
