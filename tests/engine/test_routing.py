"""The counts that are kept of a mixture's routing, and the hit rates that follow from them."""

import os
from dataclasses import replace

import numpy as np
import pytest

from engine import hub, routing
from engine.bench.experts import measure
from engine.bench.made_routing import Routing, routed
from engine.routing import RoutingCounts, RoutingFile
from engine.streaming.expert_policy import ExpertPolicy

COUNTS = RoutingCounts((1.0, 0.5), (2.0, 3.0), 1.0, 2.0, 4.0)
OTHERS = replace(COUNTS, drawn=(0.5, 1.0))


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def written(path, content=b"weights"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "here" / "a-model.gguf")


def test_models_with_the_same_name_in_two_folders_have_counts_of_their_own(file, tmp_path):
    assert RoutingFile(file).read() is None
    RoutingFile(file).keep(COUNTS)
    other = written(tmp_path / "there" / file.name)
    assert RoutingFile(other).read() is None
    RoutingFile(other).keep(OTHERS)
    assert (RoutingFile(file).read(), RoutingFile(other).read()) == (COUNTS, OTHERS)
    link = tmp_path / "link.gguf"
    link.symlink_to(file)
    assert RoutingFile(link).read() == COUNTS, "it is the same file"


def test_parts_of_a_file_and_files_of_a_folder_are_one_model(tmp_path):
    parts = [written(tmp_path / f"a-model-{part:05}-of-00002.gguf") for part in (1, 2)]
    written(tmp_path / "a-model-00001-of-00003.gguf")
    RoutingFile(parts[0]).keep(COUNTS)
    assert RoutingFile(parts[1]).read() == COUNTS
    assert RoutingFile(tmp_path / "a-model-00001-of-00003.gguf").read() is None
    folder = tmp_path / "folder"
    one, _ = (written(folder / f"{name}.safetensors") for name in "ab")
    RoutingFile(folder).keep(OTHERS)
    assert RoutingFile(folder).read() == RoutingFile(one).read() == OTHERS


def test_a_model_that_is_replaced_begins_without_counts(file):
    RoutingFile(file).keep(COUNTS)
    written(file, b"other weights")
    assert RoutingFile(file).read() is None
    RoutingFile(file).keep(COUNTS)
    os.utime(file, ns=(1, 1))
    assert RoutingFile(file).read() is None


def test_nothing_is_kept_of_a_model_that_is_gone(file, tmp_path):
    file.unlink()
    RoutingFile(file).keep(COUNTS)
    RoutingFile(tmp_path).keep(COUNTS)  # a folder without weights
    assert RoutingFile(file).read() is RoutingFile(tmp_path).read() is None
    assert not (tmp_path / "data").exists()


def test_the_counts_of_a_model_that_is_deleted_go_with_it(file, tmp_path):
    other = written(tmp_path / "there" / "models" / "other.gguf")
    models = tmp_path / "here"
    for each in (file, other):
        RoutingFile(each).keep(COUNTS)
    kept = RoutingFile(file).path
    (model,) = hub.stored(models)
    hub.delete(models, model)
    assert not file.exists()
    assert not kept.exists()
    assert RoutingFile(other).read() == COUNTS
    RoutingFile(file).delete()  # of a model that is gone


def test_only_the_models_used_last_have_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(routing, "MOST_MODELS", 2)
    first, second, third = (written(tmp_path / f"{name}.gguf") for name in "abc")
    for age, each in ((3, first), (2, second), (1, first)):
        RoutingFile(each).keep(COUNTS)
        os.utime(RoutingFile(each).path, (0, 1000 - age))
    RoutingFile(third).keep(OTHERS)
    assert RoutingFile(second).read() is None
    assert RoutingFile(first).read() == COUNTS
    assert RoutingFile(third).read() == OTHERS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff" * 50,
        b'{"drawn": [1.0], "fresh"',
        b'{"drawn": [3.0, 1.0], "fresh": [2.0, 3.0], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": [1.0], "fresh": [2.0, 3.0], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": [], "fresh": [], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": [-1.0], "fresh": [2.0], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": [1e308], "fresh": [1e308], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": ["many"], "fresh": [2.0], "stayed": 1, "stays": 2, "passes": 4}',
        b'{"drawn": [1.0], "fresh": [2.0], "stayed": 1, "stays": 2, "passes": 4, "others": 1, "apart": 2}',
        b"[" * 10_000,
    ],
)
def test_a_damaged_file_is_ignored_and_replaced(content, file):
    RoutingFile(file).keep(COUNTS)
    RoutingFile(file).path.write_bytes(content)
    assert RoutingFile(file).read() is None
    RoutingFile(file).keep(COUNTS)
    assert RoutingFile(file).read() == COUNTS


def test_counts_of_a_model_with_other_experts_are_ignored():
    assert ExpertPolicy([0] * 3, COUNTS).common() == []
    assert ExpertPolicy([0] * 2, COUNTS).common() == [0, 1]


@pytest.mark.parametrize("overlap", [0.0, 0.6])
def test_rows_that_share_experts_count_as_fewer_rows(overlap):
    """What is learned from passes of 4 rows tells how many experts other numbers of rows use."""
    routing = Routing(layers=4, experts=64, chosen=4, rows=4, passes=200, skew=0.0, overlap=overlap)
    policy = ExpertPolicy(np.repeat(np.arange(4), 64).tolist())
    for turn in routed(routing):
        policy.choose(turn.mixture, turn.wanted, [turn.last] * 4)
    assert policy.counts.rows_apart(1) == 1
    for rows in (2, 8, 16):
        turns = routed(replace(routing, rows=rows, passes=40, seed=2))
        used = np.mean([len(turn.wanted) for turn in turns]) / 64
        apart = policy.counts.rows_apart(rows)
        assert 1 - (1 - 4 / 64) ** apart == pytest.approx(used, rel=0.12)
    few = replace(COUNTS, others=1.0, apart=0.0)
    assert few.rows_apart(11) > 10, "few rows teach little"


def test_the_hit_rate_that_follows_from_counts_is_what_a_cache_reaches():
    routing = Routing(layers=8, experts=64, chosen=4, passes=150)
    turns = list(routed(routing))
    policy = ExpertPolicy(np.repeat(np.arange(8), 64).tolist())
    for turn in turns:
        policy.choose(turn.mixture, turn.wanted)
        policy.end(turn.last)
    counts = policy.counts
    rates = [counts.hit_rate(share) for share in (0.0, 0.15, 0.3, 0.6, 1.0)]
    assert rates == sorted(rates)
    assert rates[0] == 0
    assert rates[-1] == pytest.approx(1.0)
    longer = list(routed(replace(routing, passes=250)))
    for share in (0.15, 0.3, 0.6):
        reached = measure(longer, routing, share, before=150).ours
        assert counts.hit_rate(share) == pytest.approx(reached, abs=0.05)
