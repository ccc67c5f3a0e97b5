"""Plans count what rows of a mixture take in compiled passes for the experts that they choose."""

from dataclasses import replace

import numpy as np
import pytest

from engine.checkpoints import open_checkpoint
from engine.compiled import mixture, table
from engine.compiled.matrix import Matrix, aligned
from engine.compiled.mixture import Expert, Mixture, MixtureRoom
from engine.planner import Asked, PairOutline, checkpoint_outline, plan_for
from engine.planner.candidate import Candidate
from engine.planner.choices import choice_nbytes
from engine.planner.machines import GIB, compiled_processor
from engine.planner.outline import catalogued
from engine.planner.run_rows import PROMPT_ROWS, STREAMED_ROWS
from tests.engine.model.compiled_models import saved, tiny
from tests.engine.planner.made import LAPTOP, PAIR

SHAPES = {  # width, inner, experts, chosen
    "gpt-oss-20b": (2880, 2880, 32, 4),
    "Qwen3-30B-A3B": (2048, 768, 128, 8),
    "Mixtral-8x7B": (4096, 14336, 8, 2),
    "Nemotron-3-Nano-30B-A3B": (2688, 1856, 128, 6),
}
WITHOUT_GATES = ("Nemotron-3-Nano-30B-A3B",)


@pytest.fixture
def allocated(monkeypatch):
    """The bytes of each buffer that passes allocate. Nothing touches their pages."""
    sizes = []

    def counting(nbytes):
        sizes.append(nbytes)
        return aligned(nbytes)

    for module in (table, mixture):
        monkeypatch.setattr(module, "aligned", counting)
    return sizes


@pytest.mark.parametrize("formats", [("MXFP4", "F32"), ("Q4_K", "Q8_0"), ("BF16", "BF16")], ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_the_plan_counts_the_buffers_of_a_mixture(name, formats, allocated):
    (width, inner, experts, chosen), (of_experts, of_router) = SHAPES[name], formats
    gate, down = Matrix(of_experts, (inner, width)), Matrix(of_experts, (width, inner))
    gated = name not in WITHOUT_GATES
    expert = Expert([gate, gate] if gated else [gate], [down])
    one = Mixture([Matrix(of_router, (experts, width))], [expert] * experts, chosen, inner)
    MixtureRoom([one, one], width, STREAMED_ROWS, np.zeros(64, np.int64))
    planned = STREAMED_ROWS * choice_nbytes(width, inner, experts, chosen, of_experts == "BF16", gated)
    assert 0.99 * sum(allocated) < planned < 1.1 * sum(allocated)


def test_a_pass_of_many_layers_takes_the_buffers_of_a_few(allocated):
    """The plan counts them once, since layers run one after another."""
    found = []
    for layers in (2, 6):
        allocated.clear()
        saved(tiny("qwen3_moe", num_hidden_layers=layers))
        found.append(sum(allocated))
    assert found[0] == found[1]


def test_the_catalogue_and_a_file_say_the_same_of_choices(tmp_path):
    assert catalogued("qwen3-30b-a3b-q4_k_m").choices == choice_nbytes(*SHAPES["Qwen3-30B-A3B"], False)
    assert catalogued("coder").choices == 0
    for kind, field in (("mixtral", "intermediate_size"), ("nemotron_h_experts", "moe_intermediate_size")):
        module = tiny(kind)
        module.save_pretrained(tmp_path / kind)
        config = module.config
        numbers = config.num_local_experts, config.num_experts_per_tok
        sizes = config.hidden_size, getattr(config, field), *numbers
        outline = checkpoint_outline(open_checkpoint(tmp_path / kind), "tiny")
        assert outline.choices == choice_nbytes(*sizes, plain=True, gated=kind == "mixtral")
        assert outline.answers == config.num_experts_per_tok * config.hidden_size


@pytest.mark.parametrize("compiled", [True, False])
def test_a_plan_has_room_for_choices_in_compiled_passes(compiled):
    cores = replace(LAPTOP, ram=64 * GIB, compiled=compiled_processor(8, {"avx2"}))
    target = replace(catalogued("qwen3-30b-a3b-q4_k_m"), compiled=compiled)
    plans = [
        plan_for(cores, PairOutline(each, None, PAIR.acceptance), Asked(2048, budget=15, unpacked=False))
        for each in (target, replace(target, choices=0))
    ]
    more = plans[0].memory.ram - plans[1].memory.ram
    assert more == (STREAMED_ROWS * target.choices if compiled else 0)
    assert STREAMED_ROWS * target.choices > 70 << 20


def test_a_plan_has_room_for_what_experts_answer_in_torchs_passes():
    """`engine.quantization.Experts` keeps the results of a row's experts apart, to add them in order."""
    target = replace(catalogued("qwen3-30b-a3b-q4_k_m"), compiled=False)
    assert target.answers == 8 * 2048
    cores = replace(LAPTOP, ram=64 * GIB)
    found = [
        Candidate(PairOutline(each, None, PAIR.acceptance), cores, Asked(8192), "cpu", 0, False, False)
        for each in (target, replace(target, answers=0))
    ]
    itemsize = found[0].compute(target).itemsize
    more = found[0].overhead_nbytes - found[1].overhead_nbytes
    assert more == PROMPT_ROWS * target.answers * itemsize > 60 << 20
