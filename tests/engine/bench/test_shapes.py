import json
from dataclasses import replace

import pytest
import torch

from engine import cli
from engine.bench.device import compare, in_place
from engine.bench.random_weights import PRESETS, checkpoint
from engine.bench.shapes import PARTS, ShapesPlan, measure, table
from engine.errors import BadOption
from engine.model.interface import no_progress
from engine.model.reader import read_ahead
from engine.model.rows import Rows
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.conftest import model_file

CPU = "cpu"
TINY = PRESETS["tiny"]
PLAN = ShapesPlan(TINY, tuple(part for part in PARTS if part != "same"), (1, 5), 2, CPU, torch.float32)


def loaded(folder, **how):
    torch.manual_seed(0)
    return load_model(
        checkpoint(TINY.target, "Q4_K", folder), torch.float32, CPU, no_progress, 64, packed=True, **how
    )


def logits(model):
    return model.forward(Rows.text(range(3, 30), 0), model.new_cache(64)).logits


@pytest.mark.parametrize("stored_as", ["Q4_K", "Q4_0", "F16", "BF16"])
def test_random_weights_are_valid_and_as_large_as_one_layer(stored_as, tmp_path):
    found = checkpoint(TINY.target, stored_as, tmp_path)
    for name, _ in read_ahead(
        {name: (each.format, each.spans) for name, each in found.weights.items()}, no_progress
    ):
        assert found.weights[name].shape
    layer = sum(each.nbytes for name, each in found.weights.items() if ".0." in name)
    head = found.weights["lm_head.weight"].nbytes
    assert layer + head - 3000 < found.path.stat().st_size < layer + head  # norms share bytes too
    assert found.nbytes > TINY.target.layers * layer + 2 * head


def test_a_random_model_has_finite_and_varied_logits(tmp_path):
    found = logits(loaded(tmp_path))
    assert found.isfinite().all()
    assert found.std() > 0.01
    assert len(found.argmax(-1).unique()) > 2


def test_computing_in_place_streams_nothing_and_restores_the_model(tmp_path):
    model = loaded(tmp_path, limits=WeightLimits(1 << 20))
    before = logits(model)
    moved = model.moved
    with in_place(model) as streamed:
        assert sum(matrix.nbytes for matrix in streamed) >= model.streamer.pass_nbytes * 0.9
        assert not torch.equal(logits(model), before)  # other random bytes
    assert model.moved == moved
    assert torch.equal(logits(model), before)
    assert model.moved > moved
    model.close()


def test_bounds_and_ratios_follow_from_the_measured_parts():
    report = measure(PLAN, lambda what: None)
    packed, plain = report.targets
    assert (packed.format, plain.format) == ("Q4_K", "F16")
    assert (packed.layers, plain.layers) == (4, 2)
    assert packed.pass_nbytes + packed.ring_nbytes > 1 << 20  # the bytes beyond the limit
    for target in report.targets:
        assert [each.rows for each in target.passes] == [1, 5]
        for each in target.passes:
            assert each.bound_s == max(each.link_s.s, each.resident_s.s)
            assert each.ratio == each.streamed_s.s / each.bound_s
    assert plain.iteration is None
    assert packed.iteration.whole_s.s >= packed.iteration.draft_s.fastest_s
    assert packed.iteration.bound_s > packed.iteration.draft_s.s
    assert [each.rows for each in report.rounds] == [1, 16]
    assert report.copy_gb_per_s is None
    assert len(list(table(report))) == 1 + 2 * (2 + 2) + 1 + 2


def test_a_limit_that_holds_the_whole_target_is_refused():
    plan = replace(PLAN, preset=replace(TINY, limits_gib=(1.0,)), parts=("passes",))
    with pytest.raises(BadOption, match="the target fits 1 GiB"):
        measure(plan, lambda what: None)


def test_the_command_prints_one_object(capsys):
    options = "--shape tiny --layers 3 --rows 1 --repeats 1 --parts passes --device cpu --json"
    assert cli.run(["bench", "shapes", *options.split()]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(each["layers"], each["passes"][0]["rows"]) for each in report["targets"]] == [(3, 1)]


@pytest.mark.parametrize(
    "options", ["--shape 7b", "--parts all", "--rows one", "--rows 0", "--limits 0", "--layers 0"]
)
def test_invalid_options_are_refused(options, capsys):
    assert cli.run(["bench", "shapes", *options.split(), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"


def test_the_cpus_results_equal_the_cpus():
    model_file("smollm2")
    same = compare(CPU, tokens=3)
    assert (same.max_difference, same.equal, same.margin) == (0, 3, None)
    assert same.largest > 1
