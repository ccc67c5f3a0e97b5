"""Passes of a made-up mixture, with its experts in memory and on the disk."""

import json
from collections import defaultdict
from dataclasses import replace

import pytest
import torch

from engine import cli
from engine.bench.made_mixtures import SHAPES, made_mixture
from engine.bench.made_routing import Routing, routed
from engine.bench.noted_loan import NotedLoan
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner.expert_times import ExpertTimes
from engine.quantization import Experts
from engine.torch_model.loader import load_model

TINY = SHAPES["tiny"]


@pytest.mark.parametrize("form", ["Q4_K", "MXFP4"])
def test_tokens_choose_the_experts_of_the_made_up_routing(form, tmp_path):
    routing = Routing(TINY.layers, TINY.experts, TINY.chosen, passes=40)
    file = made_mixture(replace(TINY, form=form), routing, tmp_path)
    model = load_model(file, torch.float32, "cpu", no_progress, 64, packed=True)
    found = defaultdict(list)
    mixtures = [part for part in model.module.modules() if isinstance(part, Experts)]
    for layer, experts in enumerate(mixtures):
        experts.register_forward_pre_hook(
            lambda _, args, layer=layer: found[layer].extend(args[1].sort(dim=1).values.tolist())
        )
    logits = Sequence(model, 64).extend(range(40))
    assert logits.isfinite().all()
    wanted = defaultdict(list)
    for turn in routed(routing):
        wanted[turn.mixture].append([each - turn.mixture * TINY.experts for each in turn.wanted])
    assert found == wanted


def test_layers_share_the_bytes_of_all_but_their_routers(tmp_path):
    sizes = {}
    for layers in (2, 6):
        routing = Routing(layers, TINY.experts, TINY.chosen, passes=10)
        file = made_mixture(replace(TINY, layers=layers), routing, tmp_path)
        sizes[layers] = file.path.stat().st_size, file.nbytes
    router = 4 * TINY.experts * TINY.hidden
    assert sizes[6][0] - sizes[2][0] == 4 * router
    assert sizes[6][1] > 2.5 * sizes[2][1]


OPTIONS = ["--shape=tiny", "--passes=4", "--before=8", "--device=cpu", "--dtype=float32"]


def test_passes_with_experts_on_the_disk_are_predicted_from_those_in_memory(capsys):
    assert cli.run(["bench", "mixtures", *OPTIONS, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    passes = report["passes"]
    homes = ["on the device", "on the SSD"]
    assert [(each["home"], each["rows"]) for each in passes] == [(home, n) for home in homes for n in (1, 8)]
    for resident, read in zip(passes[:2], passes[2:], strict=True):
        assert (resident["there"], resident["read_nbytes"], resident["predicted_s"]) == (1, 0, None)
        assert 0 < read["there"] < 1
        assert read["near"] == 0 < read["read_nbytes"] == read["moved_nbytes"]
        reading_s = read["rows"] * read["read_nbytes"] * report["disk_s"]
        assert read["predicted_s"] == pytest.approx(max(resident["mean_s"], reading_s))
        assert read["fastest_s"] <= read["mean_s"] <= read["slowest_s"]


def test_the_table_has_a_line_for_each_home_and_number_of_rows(capsys):
    assert cli.run(["bench", "mixtures", *OPTIONS, "--rows", "1", "--layers", "3"]) == 0
    shape, speed, heading, resident, read = capsys.readouterr().out.splitlines()
    assert "3 layers, 2 of 16 experts in Q4_K, 0.111 MB each; the device holds 25% of them" in shape
    assert "read from the SSD at" in speed
    assert {"predicted", "ratio", "missed"} < {*heading.split()}
    assert ("100.0%" in resident, "100.0%" in read) == (True, False)


@pytest.mark.parametrize(
    "wrong",
    ["--shape=70b", "--rows=0", "--passes=0", "--passes=300", "--share=1", "--in-ram=0", "--layers=0"],
)
def test_invalid_options_are_refused(wrong, capsys):
    assert cli.run(["bench", "mixtures", *OPTIONS, wrong, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"


def test_a_layer_is_expected_to_take_the_longer_of_products_and_copies():
    times = ExpertTimes(link_s=3.0, exchange_s=1.0, expert_s=2.0, row_s=0.5)
    loan, all_of_them = NotedLoan(times, takes_all=False), NotedLoan(times, takes_all=True)
    rows = {1: 4, 2: 1, 3: 1}
    assert loan.take([1, 2, 3], rows) == [2]
    loan.lent([1], copied=2)
    assert loan.expected_s == 6.0, "two copies"
    loan.lent([1, 1], copied=1)
    assert loan.expected_s == 6.0 + 6.0, "rows and results cross the link, and two products"
    loan.lent([], copied=0)
    assert loan.expected_s == 12.0
    assert all_of_them.take([1, 2, 3], rows) == [1, 2, 3]
    all_of_them.lent([4, 1, 1], copied=0)
    assert all_of_them.expected_s == 1.0 + 6.0 + 3.0
    assert all_of_them.ahead() == 0
