"""The recipe from a target to a draft: it learns, is loaded by the engine, resumes where it was stopped, and
refuses invalid options."""

import json

import pytest
import torch
from msgspec import structs

from engine import cli
from engine.drafting import make_drafter
from engine.drafting.none import NoDrafter
from engine.errors import BadOption, Interrupted
from engine.sampling import Sampler
from engine.training import acceptance, conversations, recipe
from engine.training.record import read_record
from tests.engine.decoding.test_iteration import CAPACITY, assert_same, run
from tests.engine.heads.training import texts
from tests.engine.training import tiny

# Factor by which tokens per pass grow in so few steps; measured: 2.2, 1.5 and 4.
STEPS = {"eagle": 80, "medusa": 80, "layers": 40}
GAIN = {"eagle": 1.5, "medusa": 1.2, "layers": 1.2}


@pytest.fixture(scope="module", autouse=True)
def small():
    """Measure fewer and shorter answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversations, "MOST_TEXTS", 40)
        patch.setattr(recipe, "BUDGETS", (16,))
        patch.setattr(recipe, "QUESTIONS", 6)
        patch.setattr(acceptance, "TOKENS", 24)
        yield


@pytest.fixture(scope="module", params=STEPS)
def made(request, target_folder, tmp_path_factory):
    order = tiny.order(target_folder, request.param, layers=2 if request.param == "layers" else 0)
    return tiny.make(order, tiny.schedule(STEPS[request.param]), tmp_path_factory.mktemp("drafts") / "draft")


def test_training_lowers_losses_and_raises_tokens_per_pass(made):
    first, last = made.record.curve[0], made.record.curve[-1]
    print(first, last)
    assert (first.step, last.step) == (0, STEPS[made.record.order.kind])
    assert last.tokens_per_pass[16] > GAIN[made.record.order.kind] * first.tokens_per_pass[16]
    assert all(after < before for before, after in zip(first.losses, last.losses, strict=True))


def test_the_card_contains_all_figures_and_the_command(made):
    text = (made.folder / "README.md").read_text(encoding="utf-8")
    assert f"{made.parameters:,}" in text
    assert f"{made.record.sampled:,} tokens" in text
    for point in made.record.curve:
        assert f"| {point.step:,} | {point.tokens:,} |" in text
        for figure in (*point.losses, *point.tokens_per_pass.values()):
            assert f"{figure:.2f}" in text
    assert "```\nspecexec train-draft\n```" in text


def test_the_engine_gives_the_same_answer_with_the_draft_in_fewer_passes(made, target, target_file):
    parts = acceptance.load_draft(made.folder, target, target_file, CAPACITY)
    prompt = [tiny.START, *texts(1, 4, torch.Generator().manual_seed(9))[0].tolist()]
    plain = run(target, NoDrafter(), prompt, Sampler())
    found = run(target, make_drafter(made.method, parts), prompt, Sampler(), budget=24)
    assert_same(found.tokens, plain.tokens, target, Sampler(), prompt)
    assert found.passes < plain.passes


def test_a_resumed_training_gives_the_same_draft(target_folder, tmp_path):
    order, schedule = tiny.order(target_folder, "medusa"), tiny.schedule(6)
    whole = tiny.make(order, schedule, tmp_path / "whole")
    asked = 0

    def cancelled():
        nonlocal asked
        asked += 1
        return asked in (2, 10**9)

    with pytest.raises(Interrupted) as caught:
        tiny.make(order, schedule, tmp_path / "ended", cancelled=cancelled)
    assert "--resume" in caught.value.hint
    ended = tiny.make(order, schedule, tmp_path / "ended", resume=True)
    for folder in ("", "training/texts"):
        files = sorted(file for file in (whole.folder / folder).iterdir() if file.suffix == ".safetensors")
        assert files
        for file in files:
            assert (ended.folder / folder / file.name).read_bytes() == file.read_bytes()
    assert len(ended.record.commands) == 2


def test_the_command_prints_one_object_and_continues_for_more_steps(capsys, target_folder, tmp_path):
    order = ["--target", str(target_folder), "--heads", "medusa", "--dtype", "float32", "--device", "cpu"]
    sizes = ["--vocabulary", "61", "--tokens", "500", "--length", str(tiny.LENGTH), "--batch-tokens", "512"]
    usual = ["train-draft", *order, *sizes, "--out", str(tmp_path / "draft"), "--json"]
    assert cli.run([*usual, "--steps", "2"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert cli.run([*usual, "--steps", "5", "--resume"]) == 0
    output = capsys.readouterr()
    found = json.loads(output.out)
    assert (first["steps"], found["steps"]) == (2, 5)
    assert found["sampled_tokens"] == first["sampled_tokens"] >= 500
    assert found["drafter"] == "medusa"
    assert found["bytes"] == sum(file.stat().st_size for file in (tmp_path / "draft").glob("*.*"))
    assert found["tokens_per_pass"].keys() == {"16"}
    assert "step 5: held-out loss" in output.err
    curve = read_record(tmp_path / "draft" / "training" / "record.json").curve
    assert [point.step for point in curve] == [0, 2, 5]


def test_more_texts_can_be_generated_later(target_folder, tmp_path):
    """The training vocabulary stays unchanged."""
    small = tiny.order(target_folder, "medusa")
    first = tiny.make(small, tiny.schedule(2), tmp_path / "draft")
    before = (first.record.sampled, first.record.counted)
    more = structs.replace(small, tokens=2 * first.record.sampled)
    resumed = tiny.make(more, tiny.schedule(4), tmp_path / "draft", resume=True)
    assert resumed.record.sampled >= more.tokens > before[0]
    assert resumed.record.counted == before[1] > 1
    assert [point.step for point in resumed.record.curve] == [0, 2, 4]


def test_resuming_with_other_options_is_refused(target_folder, tmp_path):
    order = tiny.order(target_folder, "medusa")
    tiny.make(order, tiny.schedule(1), tmp_path / "draft")
    with pytest.raises(BadOption, match="started with other options"):
        tiny.make(
            tiny.order(target_folder, "medusa", seed=1), tiny.schedule(1), tmp_path / "draft", resume=True
        )
    with pytest.raises(BadOption, match="already exists"):
        tiny.make(order, tiny.schedule(1), tmp_path / "draft")


@pytest.mark.parametrize(
    ("arguments", "kind", "named"),
    [
        (["--vocabulary", "1000"], "vocabulary_mismatch", "61"),
        (["--vocabulary", "1"], "bad_option", "--vocabulary"),
        (["--layers", "0"], "bad_option", "--layers"),
        (["--layers", "9"], "bad_option", "4 layers"),
        (["--tokens", "0"], "bad_option", "--tokens"),
        (["--learning-rate", "nan"], "bad_option", "--learning-rate"),
        (["--minutes", "-1"], "bad_option", "--minutes"),
        (["--target", "no/such/model"], "model_not_found", "no/such/model"),
        (["--resume"], "bad_checkpoint", "record.json"),
        (["--tokens", str(10**15)], "disk", "on the disk"),
    ],
)
def test_bad_input_has_a_kind_a_sentence_and_a_next_step(
    capsys, tmp_path, target_folder, arguments, kind, named
):
    usual = ["--target", str(target_folder), "--out", str(tmp_path / "draft"), "--vocabulary", "61"]
    assert cli.run(["train-draft", *usual, "--dtype", "float32", *arguments, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], bool(error["hint"])) == (kind, True)
    assert named in error["message"]
