"""Plans count what compiled passes take where layers differ."""

from dataclasses import replace

import numpy as np
import pytest

from engine.checkpoints import open_checkpoint
from engine.compiled import table
from engine.compiled.layer_inputs import InputMaker, LayerInput
from engine.compiled.matrix import StreamedMatrix, aligned
from engine.compiled.pool import shared_pool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.planner import Asked, PairOutline, checkpoint_outline, plan_for
from engine.planner.machines import GIB, compiled_processor
from engine.planner.outline import catalogued
from engine.planner.run_rows import STREAMED_ROWS
from tests.engine.model.compiled_models import tiny
from tests.engine.planner.made import LAPTOP, PAIR

WIDTH = 256  # of an input
KINDS = {  # width of a state, layers, key-value heads, widths of MLPs
    "gemma-4-e2b-q8_0": (1536, 35, 1, (6144, 12288)),
    "gemma-4-e4b-q4_k_m": (2560, 42, 2, (10240,)),
}


@pytest.fixture
def allocated(monkeypatch):
    """The bytes of each room that a pass allocates. Nothing touches their pages."""
    sizes = []

    def counting(nbytes):
        sizes.append(nbytes)
        return aligned(nbytes)

    monkeypatch.setattr(table, "aligned", counting)
    return sizes


def matrix(rows, columns):
    return [StreamedMatrix("Q8_0", (rows, columns), 0, np.zeros(1, np.int64))]


def layer(number, columns, heads, width, inner, own_input):
    """Return a layer as Gemma 4 has them. own_input: whether it has an input of its own."""
    kv_heads, attended = heads, 8 * width
    own = LayerInput(
        number, WIDTH, matrix(WIDTH, columns), matrix(columns, WIDTH), np.ones(columns, np.float32)
    )
    return Layer(
        None,
        matrix(attended + 2 * kv_heads * width, columns),
        matrix(columns, attended),
        None,
        [*matrix(inner, columns), *matrix(inner, columns)],
        matrix(columns, inner),
        kv_heads=kv_heads,
        head_width=width,
        inner=inner,
        own_input=own if own_input else None,
    )


@pytest.mark.parametrize("id", KINDS)
def test_the_plan_counts_the_rooms_of_the_small_gemma_4_models(id, allocated):
    """What a streamed pass over layers of all kinds takes beyond one whose layers are all as the widest."""
    columns, layers, heads, inners = KINDS[id]
    shape = DecoderShape(columns, inners[-1], 8, heads, WIDTH, 1e-6, 1.0, 256)
    taken = []
    for uneven in (False, True):
        kinds = [(512, inners[-1]), *([(256, inners[0])] if uneven else [])]
        made = [layer(0, columns, heads, width, inner, uneven) for width, inner in kinds]
        maker = InputMaker(layers, WIDTH, matrix(layers * WIDTH, columns), np.ones(WIDTH, np.float32))
        allocated.clear()
        one = CompiledPass(shape, [each for one in made for each in one.matrices], shared_pool())
        if uneven:
            maker.add(one)
        for each in made:
            one.add_layer(each, one.records(columns, each.qkv), columns)
        taken.append(sum(allocated))
    planned = STREAMED_ROWS * catalogued(id).uneven
    assert planned > 37e6
    assert 0.99 * (taken[1] - taken[0]) < planned < 1.2 * (taken[1] - taken[0])


def test_the_catalogue_and_a_file_say_the_same(tmp_path):
    """A tiny model, so this compares the parts that the catalogue's models have: inputs, MLPs and heads."""
    found = []
    for changes in ({}, dict(hidden_size_per_layer_input=0), dict(use_double_wide_mlp=False)):
        folder = tmp_path / str(len(found))
        module = tiny("gemma4_text", **changes)
        module.save_pretrained(folder)
        found.append(checkpoint_outline(open_checkpoint(folder), "tiny").uneven)
    config = module.config
    inputs = config.num_hidden_layers * config.hidden_size_per_layer_input
    assert found[0] - found[1] >= 8 * inputs
    assert found[0] - found[2] == 9.5 * config.intermediate_size
    assert found[2] > found[0] - found[1], "heads of two widths"


@pytest.mark.parametrize("id", ["coder", "qwen2.5-72b-q4_k_m"])
def test_layers_that_are_alike_take_nothing_more(id):
    assert catalogued(id).uneven == 0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_plan_has_room_for_uneven_layers_in_compiled_passes(compiled):
    cores = replace(LAPTOP, ram=64 * GIB, compiled=compiled_processor(8, {"avx2"}))
    target = replace(catalogued("gemma-4-e4b-q4_k_m"), compiled=compiled)
    plans = [
        plan_for(cores, PairOutline(each, None, PAIR.acceptance), Asked(2048, budget=15, unpacked=False))
        for each in (target, replace(target, uneven=0))
    ]
    more = plans[0].memory.ram - plans[1].memory.ram
    assert more == (STREAMED_ROWS * target.uneven if compiled else 0)
