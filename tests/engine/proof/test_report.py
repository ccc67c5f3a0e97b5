"""The report about a card: its table, and a file that names neither user nor folders."""

import getpass
import json
from pathlib import Path

import pytest

from engine import machine, planner
from engine.machine import Gpu
from engine.proof import report
from engine.proof.trial import TriedWay

GPU = Gpu("nvidia", "NVIDIA GeForce RTX 4090", "8d5d", 24 << 30, 20 << 30, "580.10", (8, 9), 31.5)
TRIED = [
    TriedWay("memory", "card", "right", "", 9.0e11, None, "B/s"),
    TriedWay("unpack Q4_K bfloat16", "triton", "failed", "RuntimeError: no compiler"),
    TriedWay("unpack Q4_K bfloat16", "torch", "right", "", 5e10, 4e11, "weights/s"),
    TriedWay("streams", "two", "right", "", 25.2e9, None, "B/s", "PCIe 4 x16"),
    TriedWay("graphs", "replay", "hung"),
    TriedWay("graphs", "launches", "right"),
    TriedWay("unpack Q6_K float16", "triton", "right"),
]
KERNELS = ["memory", "unpack Q4_K bfloat16", "streams", "graphs"]


def made(folder: Path) -> report.CardReport:
    return report.report_of(machine.probe(folder), GPU, KERNELS, TRIED, planner.data_sheet(GPU.name))


def test_the_table_has_kernel_way_result_speed_and_share_of_what_is_possible(tmp_path):
    lines = report.table(made(tmp_path))
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    assert cells == [
        ["kernel", "way", "right?", "speed", "of what is possible"],
        ["memory", "card", "yes", "900 GB/s", "89%"],
        ["unpack Q4_K bfloat16", "triton", "failed"],
        ["unpack Q4_K bfloat16", "torch", "yes", "50 G weights/s", "12%"],
        ["streams", "two", "yes", "25.2 GB/s", "80%"],
        ["graphs", "replay", "hung"],
        ["graphs", "launches", "yes"],
    ]


def test_a_kernel_that_could_not_be_tried_is_not_taken_for_a_right_one(tmp_path):
    here, sheet = machine.probe(tmp_path), planner.data_sheet(GPU.name)
    made = report.report_of(here, GPU, [*KERNELS, "noise"], TRIED, sheet)
    assert report.table(made)[-1].split() == ["noise", "card", "unchecked"]


@pytest.mark.parametrize(
    "last",
    [TriedWay("graphs", "replay", "unreachable", "lost"), TriedWay("memory", "card", "wrong", "all differ")],
    ids=lambda last: last.outcome,
)
def test_a_card_that_cannot_be_used_takes_no_way(last, tmp_path):
    here, sheet = machine.probe(tmp_path), planner.data_sheet(GPU.name)
    tried = [TRIED[3], last]
    made = report.report_of(here, GPU, KERNELS, tried, sheet)
    assert made.taken == dict.fromkeys(KERNELS)
    assert [line.split()[0] for line in report.table(made)] == ["kernel", "streams", last.kernel]


def test_what_went_wrong_is_said_in_sentences():
    assert report.remarks(TRIED) == [
        "Unpacking weights (Q4_K, bfloat16; triton) does not work on this graphics card: RuntimeError: no "
        "compiler",
        "Replaying a CUDA graph (replay) does not end on this graphics card.",
        "The link was measured under load: PCIe 4 x16.",
    ]


def test_the_link_was_under_load_only_where_the_card_computes_meanwhile():
    copies = TriedWay("copies", "pinned", "right", "", 24e9, None, "B/s", "PCIe 3 x16")  # on one stream
    in_turn = TriedWay("streams", "one", "right", "", 24e9, None, "B/s", "PCIe 4 x8")
    assert report.remarks([copies, in_turn]) == ["The link was measured: PCIe 4 x8."]
    assert report.remarks([copies]) == []


def test_the_file_names_neither_user_nor_folders(tmp_path):
    file = tmp_path / "report.json"
    report.write(made(tmp_path), file)
    content = json.loads(file.read_text())
    assert content["taken"] == {
        "memory": "card",
        "unpack Q4_K bfloat16": "torch",
        "streams": "two",
        "graphs": "launches",
    }
    assert content["identity"]["card"] == GPU.name
    assert len(content["tried"]) == 6
    text = file.read_text()
    for private in (str(tmp_path), str(Path.home()), f'"{getpass.getuser()}"', "8d5d"):
        assert private not in text
