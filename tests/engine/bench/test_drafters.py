import json

import msgspec
import pytest

from engine.bench.comparison import compare, table
from engine.bench.drafters import Bench, ComparisonTerms, TreeTally
from engine.bench.options import Prompt
from engine.bench.records import AnswerRecord, Cell, Counts, JsonLines, Models, Recorded, Sampling, Times
from engine.errors import Interrupted
from engine.protocol import IterationDone, Seconds, TreeNodes
from tests.engine.bench.tiny import tiny_session

MODELS = Models("target", "draft", "float32", "cpu", None, None)
PROMPTS = [Prompt("one", "a", "ABCDEABCDE"), Prompt("two", "b", "XYZXYZ"), Prompt("three", "b", "QRST")]
GREEDY, SAMPLED = Sampling(), Sampling(temperature=0.8, top_p=0.9, seed=3)


@pytest.fixture(scope="module")
def session():
    return tiny_session()


def bench(session, folder, replay=False, repeats=1, tokens=40, prompts=PROMPTS, cancelled=lambda: False):
    reported = []
    measuring = Bench(
        session,
        MODELS,
        ComparisonTerms(prompts, tokens, repeats, replay),
        JsonLines(folder / "answers.jsonl", AnswerRecord),
        JsonLines(folder / "recorded.jsonl", Recorded),
        reported.append,
        cancelled,
    )
    return measuring, reported


def grid(found, drafters=("none", "specexec", "recycling"), budgets=(8, None), samplings=(GREEDY, SAMPLED)):
    return found.cells(drafters, budgets, samplings)


def test_a_drafter_without_trees_has_one_cell_for_each_sampling(session, tmp_path):
    cells = grid(bench(session, tmp_path)[0])
    assert [(cell.drafter, cell.budget) for cell in cells if cell.sampling == GREEDY] == [
        ("none", 0),
        ("specexec", 8),
        ("specexec", None),
        ("recycling", 8),
        ("recycling", None),
    ]
    assert len(cells) == 10


def test_all_cells_share_the_prompts_and_counts_match_the_answers(session, tmp_path):
    found, _ = bench(session, tmp_path)
    cells = grid(found)
    records = found.run(cells)
    assert len(records) == len(cells) * len(PROMPTS)
    for record in records:
        counts, times = record.counts, record.times
        assert counts.accepted + counts.passes in (
            counts.tokens - 1,
            counts.tokens,
        )  # the last pass may have no bonus token
        assert times.tokens_per_second > 0
        assert times.prefill_s > 0
        if record.cell.drafter == "none":
            assert (counts.tokens_per_pass, counts.nodes) == (1, 0)
        elif record.cell.budget:
            assert 0 < counts.nodes <= record.cell.budget * counts.passes
    by_prompt = {(record.prompt, record.cell.sampling, record.counts.tokens) for record in records}
    assert len(by_prompt) == len(PROMPTS) * 2, "every drafter gives the same answer"


def test_a_replay_has_the_counts_of_a_run_with_the_target(session, tmp_path):
    real, _ = bench(session, tmp_path)
    cells = grid(real, drafters=("none", "specexec"), budgets=(4, 16))
    counts = [record.counts for record in real.run(cells)]
    (tmp_path / "answers.jsonl").unlink()
    replayed, reported = bench(session, tmp_path, replay=True)
    records = replayed.run(cells)
    assert [record.counts for record in records] == counts
    assert all(record.times is None for record in records)
    assert sum("recording" in what for what in reported) == len(PROMPTS) * 2
    (tmp_path / "answers.jsonl").unlink()
    again, reported = bench(session, tmp_path, replay=True, tokens=30)
    again.run(cells)
    assert not any("recording" in what for what in reported)


def test_drafters_that_need_times_or_the_targets_output_are_never_replayed(session, tmp_path):
    found, _ = bench(session, tmp_path, replay=True, prompts=PROMPTS[:1])
    cells = grid(found, drafters=("specexec", "recycling"), samplings=(GREEDY,))
    replayed = {(each.cell.drafter, each.cell.budget): each.times is None for each in found.run(cells)}
    assert replayed == {
        ("specexec", 8): True,
        ("specexec", None): False,
        ("recycling", 8): False,
        ("recycling", None): False,
    }


def test_a_second_run_resumes_an_interrupted_one(session, tmp_path):
    first, reported = bench(session, tmp_path, cancelled=lambda: len(reported) > 4)
    cells = grid(first, samplings=(GREEDY,))
    with pytest.raises(Interrupted):
        first.run(cells)
    done = first.records.records
    assert 0 < len(done) < len(cells) * len(PROMPTS)
    path = tmp_path / "answers.jsonl"
    path.write_bytes(path.read_bytes() + b'{"models":{"tar')  # as if killed while writing
    second, reported = bench(session, tmp_path)
    records = second.run(cells)
    assert len(reported) == len(records) - len(done)
    assert [each for each in records if each in done] == done
    assert len(path.read_text().splitlines()) == len(records)
    third, reported = bench(session, tmp_path)
    assert third.run(cells) == records
    assert not reported


def test_a_replayed_answer_is_measured_again_if_times_are_needed(session, tmp_path):
    replayed, _ = bench(session, tmp_path, replay=True, prompts=PROMPTS[:1])
    cells = grid(replayed, drafters=("specexec",), budgets=(8,), samplings=(GREEDY,))
    assert replayed.run(cells)[0].times is None
    real, _ = bench(session, tmp_path, prompts=PROMPTS[:1])
    assert real.run(cells)[0].times is not None
    again, reported = bench(session, tmp_path, replay=True, prompts=PROMPTS[:1])
    assert again.run(cells)[0].times is not None
    assert not reported


def test_repeats_of_a_sampled_answer_differ_and_those_of_a_greedy_one_do_not(session, tmp_path):
    found, _ = bench(session, tmp_path, replay=True, repeats=3, prompts=PROMPTS[:1])
    found.run(grid(found, drafters=("specexec",), budgets=(8,)))
    seeds = [recorded.sampling.seed for recorded in found.recorded.records if recorded.sampling.temperature]
    assert seeds == [3, 4, 5]
    assert len(found.recorded.records) == 4
    assert len({tuple(recorded.answer) for recorded in found.recorded.records}) == 4


def test_a_penalty_keeps_the_letter_out_of_the_answer(session, tmp_path):
    found, _ = bench(session, tmp_path, replay=True, prompts=PROMPTS[:1])
    plain = found.cells(["specexec"], [8], [GREEDY])
    found.run(plain)
    tokenizer = session.pair.tokenizer
    texts = [tokenizer.token_text(token) for token in found.recorded.records[0].answer]
    letter = max(set(texts), key=texts.count)
    found.run(found.cells(["specexec"], [8], [Sampling(letter=letter, penalty=1000.0)]))
    texts = {tokenizer.token_text(token) for token in found.recorded.records[1].answer}
    assert not {letter.lower(), letter.upper()} & texts


def test_ratios_use_the_same_prompts_and_the_table_has_a_row_for_each_cell(session, tmp_path):
    found, _ = bench(session, tmp_path)
    cells = grid(found, budgets=(8,), samplings=(GREEDY,))
    records = found.run(cells)
    rows = compare(records, "none")
    assert [(row.kind, row.cell.drafter, row.prompts) for row in rows] == [
        (kind, cell.drafter, prompts) for kind, prompts in (("all", 3), ("a", 1), ("b", 2)) for cell in cells
    ]
    for row in rows:
        assert (row.against_per_pass is None) == (row.cell.drafter == "none")
        if row.against_per_pass:
            assert row.against_per_pass == row.tokens_per_pass  # plain decoding has one token per pass
            assert row.against_per_second.value == pytest.approx(
                row.tokens_per_second.value / rows[0].tokens_per_second.value, rel=1
            )
    lines = list(table(rows, "none"))
    columns = {line.count("|") for line in lines if line.startswith("|")}
    assert columns == {18}
    assert sum(line.startswith(("| none", "| specexec", "| recycling")) for line in lines) == len(rows)
    assert not any("replayed" in line for line in lines)


def test_short_answers_are_left_out(session, tmp_path):
    found, _ = bench(session, tmp_path, tokens=15)
    assert compare(found.run(grid(found, samplings=(GREEDY,))), "none") == []


def test_records_are_plain_json(session, tmp_path):
    found, _ = bench(session, tmp_path, prompts=PROMPTS[:1])
    found.run(grid(found, drafters=("none",), samplings=(GREEDY,)))
    record = json.loads((tmp_path / "answers.jsonl").read_text())
    assert record["cell"]["drafter"] == "none"
    assert record["counts"]["tokens"] == 40


# -- drafting during passes ----------------------------------------------------------------------------------


def answered(overlap, **counts):
    """Return the record of a made-up answer of 41 tokens in 10 passes."""
    counts = Counts(tokens=41, passes=10, nodes=80, accepted=30, **counts)
    times = Times(5.0, 0.1, Seconds())
    cell = Cell("specexec", 8, GREEDY, overlap)
    return AnswerRecord(MODELS, cell, "one", "a", 40, 0, counts, times)


def test_the_shares_of_trees_and_of_nodes_that_survived_are_printed():
    records = [answered("off"), answered("on", survived=6, survivors=150, ahead=1200, kept=150)]
    turns, ahead = compare(records, "specexec")
    assert (turns.survived, turns.survivors, turns.kept) == (None, None, None)
    assert (ahead.survived, ahead.survivors, ahead.kept) == (0.6, 25, 0.125)
    head, _, *lines = [line.strip("| ").split(" | ") for line in table([turns, ahead], "specexec")]
    columns = [dict(zip(head, line, strict=True)) for line in lines]
    names = "trees survived", "with nodes", "nodes survived"
    assert [columns[0][name] for name in names] == ["–"] * 3
    assert [columns[1][name] for name in names] == ["60 %", "25", "12.5 %"]


def done(survivors, grown_ahead):
    """Return the event of an iteration with a tree of two nodes, one of them accepted."""
    return IterationDone(
        request=1,
        iteration=0,
        tree=TreeNodes(
            root_text="",
            tokens=[5, 6],
            parents=[-1, 0],
            log_probs=[-1.0, -1.0],
            sources=[1, 1],
            texts=["a", "b"],
        ),
        accepted=[0],
        bonus_token=7,
        bonus_text="c",
        seconds=Seconds(),
        tokens=2,
        target_passes=1,
        tokens_per_pass=2.0,
        tokens_per_second=1.0,
        survivors=survivors,
        grown_ahead=grown_ahead,
    )


def test_only_nodes_that_grew_beside_a_tree_count_as_kept():
    """Neither those of the first tree, which grew beside the prompt, nor those that had grown in turn."""
    tally = TreeTally()
    for survivors, grown_ahead in [(40, 10), (16, 30), (0, 20), (5, 8)]:
        tally.add(done(survivors, grown_ahead))
    assert tally.counts(9, 4) == Counts(9, 4, 8, 4, survived=3, survivors=61, ahead=68, kept=10 + 0 + 5)


def test_nothing_that_grew_during_passes_may_survive():
    (row,) = compare([answered("on", ahead=40, kept=0)], "specexec")
    assert (row.survived, row.survivors, row.kept) == (0, None, 0)


def test_how_many_nodes_survived_is_not_told_where_a_record_lacks_it():
    """Those of earlier versions do; that none survived would be wrong."""
    old = answered("on", survived=6, survivors=150, ahead=1200)
    old = msgspec.json.decode(msgspec.json.encode(old).replace(b',"kept":null', b""), type=AnswerRecord)
    rows = compare([old, answered("on", survived=6, survivors=150, ahead=1200, kept=150)], "specexec")
    assert [(row.survived, row.kept) for row in rows] == [(0.6, None)]
    head, _, line = [line.strip("| ").split(" | ") for line in table(rows, "specexec")]
    assert dict(zip(head, line, strict=True))["nodes survived"] == "–"
