"""`specexec plan`: its text and its JSON."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import platformdirs
import pytest

from engine import catalog, cli, machine, planner
from engine.catalog.models import THINKING
from engine.cli import plan
from engine.machine import DiskSpeed
from engine.machine.stored_speeds import now
from tests.engine.conftest import model_file

MACHINE = ("--vram", "24", "--ram", "64", "--link-gbps", "25", "--disk-gbps", "7")
PAIR = ("--target", "llama-3.3-70b-awq", "--draft", "llama-3.1-8b-q4_k_m")
FIELDS = {
    "pair", "fit", "predicted_tokens_per_second", "predicted_tokens_per_pass", "time_to_first_token_s",
    "seconds_per_pass", "limited_by", "budget", "memory", "layers",
}  # fmt: skip


@pytest.fixture(autouse=True)
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders whose disk was measured. No disk is read, and no earlier measurements exist."""
    folders: list[Path] = []

    def measure(folder: Path, open_file: object) -> DiskSpeed:
        folders.append(folder)
        return DiskSpeed(2.5, None, now())

    monkeypatch.setattr(machine, "measure_disk", measure)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    return folders


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    assert cli.run(["plan", "--json", *arguments]) == status
    return json.loads(capsys.readouterr().out)


def test_a_described_machine_and_a_catalogue_pair_give_all_figures(capsys, measured):
    plan = printed(capsys, *MACHINE, *PAIR)
    assert plan.keys() >= FIELDS
    assert plan["pair"] == {"target": PAIR[1], "draft": PAIR[3]}
    assert plan["fit"] == "VRAM + RAM"
    assert sum(plan["layers"].values()) == 80
    assert plan["layers"].keys() == plan["memory"].keys() == {"vram", "ram", "ssd"}
    assert plan["memory"]["vram"] < 23 * 2**30
    assert 8 < plan["predicted_tokens_per_second"] < 12.5
    assert measured == [], "the speed of the disk is given"


def test_the_fastest_draft_is_planned_for_a_target_that_is_not_installed(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    asked = ("--machine", "rtx-4060", "--target", "qwen2.5-14b-awq")
    found = printed(capsys, *asked)
    drafts = ("qwen2.5-7b", "qwen2.5-1.5b", "qwen2.5-0.5b")
    speeds = {
        plan["pair"]["draft"]: plan["predicted_tokens_per_second"]
        for plan in (printed(capsys, *asked, "--draft", draft) for draft in drafts)
    }
    assert found["predicted_tokens_per_second"] == pytest.approx(max(speeds.values()), rel=0.05)
    assert found["pair"]["draft"] == max(speeds, key=lambda draft: speeds[draft])
    assert min(speeds.values()) < max(speeds.values()) / 2, "one of them does not fit the card"


def test_each_part_of_a_description_has_an_effect(capsys):
    def speed(*changes: str) -> float:
        return printed(capsys, *MACHINE, *PAIR, *changes)["predicted_tokens_per_second"]

    usual = speed()
    assert speed("--vram", "16") < usual
    assert speed("--link-gbps", "12") < usual
    with_disk = speed("--ram", "16")
    assert with_disk < usual
    assert speed("--ram", "16", "--disk-gbps", "3") < with_disk
    assert speed("--vram-limit", "4") < usual
    assert speed("--budget", "8") < usual
    assert speed("--draft", "none") < usual / 2
    assert speed("--vram", "0") < usual / 10


def test_a_cache_in_8_bits_is_planned_for_the_processor_and_takes_less_memory(capsys):
    def planned(*options: str) -> dict:
        return printed(capsys, *MACHINE, "--target", "coder", "--draft", "none", "--budget", "64", *options)

    assert (planned()["device"], planned("--kv-cache", "q8_0")["device"]) == ("cuda", "cpu")
    alone = ("--vram", "0")
    wide, narrow = (planned(*alone, "--kv-cache", form)["memory"]["ram"] for form in ("f16", "q8_0"))
    assert narrow < wide


def test_without_arguments_it_recommends_for_this_machine_with_a_reason(capsys, measured):
    plan = printed(capsys)
    assert plan["fit"] != "will not run"
    reasons = ("is the largest model", "is the fastest model", "is a mixture of experts: it answers faster")
    assert any(reason in plan["why"] for reason in reasons)
    assert plan["about"].endswith(".")
    assert {"larger", "smaller"} <= plan.keys()
    assert plan["machine"]["disk"] == 2.5e9
    assert len(measured) == 1
    printed(capsys)
    printed(capsys, "--no-measure")
    assert len(measured) == 1
    printed(capsys, "--measure")
    assert len(measured) == 2


def test_the_recommended_model_says_what_it_does_and_whether_it_thinks(capsys):
    assert cli.run(["plan", "--machine", "laptop"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Model ")]
    assert "think" in line.partition(". ")[2], "after what it is"


@pytest.mark.parametrize(
    ("target", "real", "said"), [("coder", True, plan.RUN_HERE), ("gemma-4-e2b", False, plan.TINY_ONLY)]
)
def test_a_named_model_says_what_it_is_and_with_which_weights_its_architecture_was_run(
    capsys, target: str, real: bool, said: str
):
    asked = ("--machine", "laptop", "--target", target, "--draft", "none")
    about = catalog.model_for(target).about
    assert cli.run(["plan", *asked]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Model ")]
    assert about in line
    assert line.endswith(said)
    found = printed(capsys, *asked)
    assert (found["about"], found["run_with_real_weights"]) == (about, real)


def test_a_file_that_the_catalogue_does_not_know_is_planned_without_such_words(capsys, tmp_path: Path):
    own = tmp_path / "mine.gguf"
    own.symlink_to(model_file("smollm2"))
    asked = ("--machine", "laptop", "--target", str(own), "--draft", "none")
    assert cli.run(["plan", *asked]) == 0
    assert "\nModel " not in capsys.readouterr().out
    assert "about" not in printed(capsys, *asked)


def test_there_are_words_for_every_way_to_think():
    assert set(plan.THOUGHTS) == set(THINKING) - {"never"}
    assert catalog.catalog().models["mistral-medium-3.5"].thinking == "asked"


def test_answers_of_this_machine_affect_only_its_own_plans(capsys):
    model_file("coder")
    here = ("--target", "coder", "--budget", "64")
    plain = printed(capsys, *here)
    name = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    draft = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf" if plain["pair"]["draft"] else ""
    planner.remember(planner.Observed(name, draft, plain["device"], 1.0, 1.0, 1.0, 0.5))
    assert printed(capsys, *here)["predicted_tokens_per_second"] == pytest.approx(
        plain["predicted_tokens_per_second"] / 2, rel=0.05
    )
    there = printed(capsys, *here, "--machine", "laptop")["predicted_tokens_per_second"]
    planner.remember(planner.Observed(name, draft, "cpu", 1.0, 1.0, 1.0, 0.1))
    assert printed(capsys, *here, "--machine", "laptop")["predicted_tokens_per_second"] == there


def test_a_pair_that_will_not_run_is_a_result_too(capsys):
    plan = printed(capsys, "--vram", "0", "--ram", "5", "--disk-gbps", "3", *PAIR)
    assert plan["fit"] == "will not run"
    assert "GiB more of RAM" in plan["missing"]
    assert plan["predicted_tokens_per_second"] is None
    assert cli.run(["plan", "--vram", "0", "--ram", "5", "--disk-gbps", "3", *PAIR]) == 0
    assert "will not run" in capsys.readouterr().out


def test_the_text_names_the_layers_in_each_tier(capsys):
    assert cli.run(["plan", "--machine", "rtx-4090", *PAIR]) == 0
    text = capsys.readouterr().out
    for part in ("Pair  ", "Fit  ", "VRAM + RAM", "layers in VRAM", "tokens/s, limited by"):
        assert part in text
    assert cli.run(["plan", "--machine", "rtx-4090"]) == 0
    assert "Why  " in capsys.readouterr().out


def test_the_tables_name_every_machine_and_measurement(capsys, monkeypatch):
    recommend = planner.recommend
    once = cache(lambda there, helps: recommend(there, catalog.catalog(), helps=helps))
    monkeypatch.setattr(planner, "recommend", lambda there, known, helps: once(there, helps))
    assert cli.run(["plan", "--table"]) == 0
    text = capsys.readouterr().out
    for name, _ in planner.named_machines().values():
        assert f"| {name} |" in text
    for each in planner.published():
        assert f"| {each.name}, " in text
    rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(rows) == {7}
    assert "RTX 2080 Ti, GPTQ: 1.9 tokens/s would be" in text, "a disagreement must be explained"
    tables = json.loads(_json_table(capsys))
    assert len(tables["machines"]) == 6
    shares = [each["plan"]["helped"] for each in tables["machines"]]
    said = "Beside the card, the processor multiplies by experts where they lie."
    assert [said in each["why"] for each in tables["machines"]] == [share > 0 for share in shares]
    for share in filter(None, shares):
        assert f"the processor multiplies by {share:.0%} of the experts that the card lacks |" in text
    assert any(shares)
    assert tables["published"][0]["predicted_s"] == pytest.approx(6.6, rel=0.25)


def _json_table(capsys) -> str:
    assert cli.run(["plan", "--table", "--json"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("--target", "no-such-model"), "model_not_found"),
        (("--target", "llama-2-7b", "--context", "999999"), "bad_option"),
        (("--machine", "abacus"), "bad_option"),
    ],
)
def test_invalid_requests_have_an_error_of_their_own(capsys, arguments, kind):
    assert printed(capsys, *arguments, status=1)["error"]["kind"] == kind


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "much"])
@pytest.mark.parametrize("option", ["--ram", "--link-gbps", "--disk-gbps", "--ram-limit", "--budget"])
def test_invalid_numbers_are_bad_usage(option, value):
    with pytest.raises(SystemExit) as ended:
        cli.run(["plan", f"{option}={value}"])
    assert ended.value.code == 2


def test_a_plan_says_what_the_processor_multiplies_beside_a_card(capsys):
    asked = ("--machine", "rtx-4060", "--ram", "64", "--target", "llama-3.3-70b-q4_k_m")
    alone = printed(capsys, *asked)
    helped = printed(capsys, *asked, "--processor-helps", "measured")
    assert alone["helped"] == 0 < helped["helped"] < 1
    assert helped["seconds_per_pass"] < alone["seconds_per_pass"]
    assert cli.run(["plan", *asked, "--processor-helps", "measured"]) == 0
    assert f"multiplies by {helped['helped']:.0%} of the streamed weights" in capsys.readouterr().out


def test_a_plan_says_that_larger_trees_are_faster_without_the_processors_help(capsys):
    asked = ("--machine", "rtx-4090", "--target", "qwen2.5-72b-q4_k_m", "--draft", "qwen2.5-7b-q4_k_m")
    alone = printed(capsys, *asked)
    found = printed(capsys, *asked, "--processor-helps", "measured")
    other = found.pop("other_way")
    assert found.items() <= alone.items(), "the processor's help changes nothing"
    assert other["budget"] < 32 < found["budget"]
    assert other["predicted_tokens_per_second"] < found["predicted_tokens_per_second"]
    assert cli.run(["plan", *asked, "--processor-helps", "measured"]) == 0
    said = f"does not help the card, because a budget of {found['budget']} is faster without its help"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("id", "target", "said"),
    [
        ("rtx-4060", "qwen3.6-35b-a3b-q4_k_m", "of the experts that the card lacks where they lie; alone, "),
        ("rtx-4070ti", "qwen3-next-80b-a3b-q4_k_m", "faster alone than beside the card; with the card, "),
    ],
)
def test_a_plan_says_who_multiplies_by_the_experts_of_a_mixture(capsys, id, target, said):
    asked = ["plan", "--machine", id, "--target", target]
    assert cli.run(asked) == 0
    assert said in capsys.readouterr().out
    assert cli.run([*asked, "--processor-helps", "never"]) == 0
    assert "Processor " not in capsys.readouterr().out


def test_recommendations_and_tables_reckon_with_the_help_that_is_asked_for(capsys, monkeypatch):
    whole = catalog.catalog()
    model = whole.models["qwen3-30b-a3b"]
    few = replace(whole, models={model.id: model}, pairs=())
    monkeypatch.setattr(catalog, "catalog", lambda: few)
    monkeypatch.setattr(plan, "comparison", lambda: [])
    asked, never = ("--machine", "rtx-4060", "--ram", "96"), ("--processor-helps", "never")
    assert printed(capsys, *asked)["helped"] > 0
    assert printed(capsys, *asked, *never)["helped"] == 0
    shares = [
        [each["plan"]["helped"] > 0 for each in printed(capsys, "--table", *how)["machines"]]
        for how in ((), never)
    ]
    assert any(shares[0])
    assert not any(shares[1])


def test_heads_that_a_chat_would_load_are_counted(capsys):
    model_file("smollm2")
    asked = (*MACHINE, "--vram", "0", "--target", "smollm2")
    alone, beside = (printed(capsys, *asked, "--draft", draft) for draft in ("none", "auto"))
    named = printed(capsys, *asked, "--draft", str(catalog.heads_for("smollm2")))
    assert (alone["heads"], beside["heads"]) == (None, "other")
    assert beside["memory"]["ram"] > alone["memory"]["ram"]
    assert named["memory"] == beside["memory"]


def test_a_target_that_cannot_draft_for_itself_is_refused_as_at_loading(capsys):
    asked = (*MACHINE, "--vram", "0", "--target", "qwen2.5-14b-awq", "--draft", "self")
    assert "compiled passes" in printed(capsys, *asked, status=1)["error"]["message"]
