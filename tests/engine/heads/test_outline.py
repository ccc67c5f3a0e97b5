"""What plans count for heads is what loaded heads take."""

from dataclasses import replace

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.heads import load_compiled_heads, open_heads
from engine.heads.outline import heads_outline
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.planner import Asked, pair_of, plan_for
from engine.planner.candidate import Candidate
from engine.planner.outline import checkpoint_outline
from engine.streaming import WeightLimits
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from tests.engine.heads import made, mistral_heads
from tests.engine.heads.assistants import LARGE, SMALL, assistant_of
from tests.engine.heads.test_compiled_blocks import CHANGES, SIZES
from tests.engine.model.compiled_models import tiny
from tests.engine.models import reference
from tests.engine.planner.made import LAPTOP

CONTEXT = 160
MISTRAL = "eagle of Mistral AI"
LIMIT = 100 << 10  # bytes: the output head is streamed


@pytest.fixture(scope="module", autouse=True)
def sizes():
    """Those that compiled steps cover."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(made, name, size)
        yield


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    reference("llama", num_hidden_layers=4, **CHANGES).save_pretrained(folder)
    return open_checkpoint(folder)


def opened(folder, kind):
    changes = {} if kind.startswith("medusa") else CHANGES
    if kind == MISTRAL:
        return open_heads(mistral_heads.save(folder, mistral_heads.random_tensors()))
    return open_heads(made.save(folder, kind, made.random_weights(kind), **changes))


@pytest.mark.parametrize("kind", ["eagle", "eagle3", "p-eagle", "dflash", MISTRAL])
def test_heads_take_beside_a_compiled_target_what_is_planned(kind, tmp_path, target):
    file = opened(tmp_path, kind)
    heads = load_compiled_heads(file, load_compiled(target, no_progress, CONTEXT), CONTEXT)
    assert heads_outline(file, target).nbytes_beside_compiled(CONTEXT) == heads.nbytes


@pytest.mark.parametrize("kind", made.KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_heads_take_through_torch_what_is_planned(kind, dtype, tmp_path, target):
    file = opened(tmp_path, kind)
    heads = load_heads(file, load_model(target, dtype, "cpu", no_progress, CONTEXT), CONTEXT)
    planned = heads_outline(file, target)
    spare = planned.kv_row * dtype.itemsize  # a slot that heads leave out of their figure
    assert planned.nbytes(CONTEXT, dtype.itemsize) - spare == heads.nbytes
    assert planned.unpacked == heads.parameters


@pytest.mark.parametrize("kind", ["eagle_bias", "medusa"])
def test_what_only_torch_runs_is_planned_in_float32_beside_a_compiled_target(kind, tmp_path, target):
    file = opened(tmp_path, kind)
    planned = heads_outline(file, target)
    assert planned.tiles is None
    assert planned.nbytes_beside_compiled(CONTEXT) == planned.nbytes(CONTEXT, 4)


@pytest.mark.parametrize(("kind", "ordered"), [(SMALL, True), (LARGE, False)])
def test_an_assistant_takes_what_is_planned(kind, ordered, tmp_path):
    module = tiny(kind)
    module.save_pretrained(tmp_path / "target")
    assistant_of(module, ordered).save_pretrained(tmp_path / "assistant")
    target, file = open_checkpoint(tmp_path / "target"), open_heads(tmp_path / "assistant")
    planned = heads_outline(file, target)
    compiled = load_compiled(target, no_progress, CONTEXT)
    assert planned.nbytes_beside_compiled(CONTEXT) == load_compiled_heads(file, compiled, CONTEXT).nbytes
    assert planned.nbytes(CONTEXT, 4) == load_heads(file, compiled, CONTEXT).nbytes
    assert planned.kv_row == 0, "its rows are the target's"


@pytest.mark.parametrize(("kind", "copies"), [("dflash", True), ("eagle3", False)])
def test_a_copy_of_a_streamed_output_head_is_planned_for_heads_that_share_it(kind, copies, tmp_path, target):
    file, pair = opened(tmp_path, kind), pair_of(checkpoint_outline(target, "tiny"), None)
    streamed = load_compiled(target, no_progress, CONTEXT, limits=WeightLimits(LIMIT))
    try:
        assert not streamed.weights.has_resident_head
        heads = load_compiled_heads(file, streamed, CONTEXT)
        planned = heads_outline(file, target)
        copied = heads.nbytes - planned.nbytes_beside_compiled(CONTEXT)
    finally:
        streamed.close()
    assert (copied > 0) == planned.shares_head == copies
    candidate = Candidate(replace(pair, heads=planned), LAPTOP, Asked(CONTEXT), "cpu", 15, False, False)
    assert candidate.beside_streamed_nbytes == (pair.target.head if copies else 0)
    assert copied == pytest.approx(candidate.beside_streamed_nbytes, rel=0.06), "tiles of whole 16 rows"


@pytest.mark.parametrize("kind", made.KINDS)
def test_plans_count_heads_and_what_they_compute(kind, tmp_path, target):
    pair = pair_of(checkpoint_outline(target, "tiny"), None)
    planned = heads_outline(opened(tmp_path, kind), target)
    asked, itemsize = Asked(CONTEXT, budget=15, unpacked=False), LAPTOP.cpu.itemsize
    alone, beside = (plan_for(LAPTOP, each, asked) for each in (pair, replace(pair, heads=planned)))
    weights, states = planned.nbytes(CONTEXT, itemsize), planned.states_nbytes(CONTEXT, itemsize)
    assert beside.memory.ram - alone.memory.ram == weights + states + planned.pass_nbytes(CONTEXT, itemsize)
    assert beside.heads
    assert states > 0
