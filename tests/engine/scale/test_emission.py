"""The commands and files for other engines."""

import json
import re
import shlex
import subprocess

import pytest
import yaml

from engine import catalog, cli, scale
from engine.scale.cluster import GIB, RESERVED, SHARE, Cluster
from engine.scale.layout import CardLayout, load
from engine.scale.manifest_text import label
from engine.scale.source import hub_source
from engine.scale.speculation import Wish, speculation_for

COMMIT = re.compile(r"[0-9a-f]{40}")


def printed(capsys, *arguments: str, status: int = 0) -> tuple[str, str]:
    assert cli.run(["plan", "--emit", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def words(text: str) -> list[str]:
    return shlex.split(text, comments=True)


def value(text: str, option: str) -> str:
    found = words(text)
    return found[found.index(option) + 1]


def test_vllm_serves_the_original_checkpoint_at_its_commit_with_eagle3(capsys):
    text, notes = printed(capsys, "vllm", "--target", "qwen3-32b-q4_k_m", "--gpus", "2x48")
    assert words(text)[:3] == ["vllm", "serve", "Qwen/Qwen3-32B"]
    assert "gguf" not in text.lower()
    assert COMMIT.fullmatch(value(text, "--revision"))
    assert value(text, "--tensor-parallel-size") == "2"
    speculative = json.loads(value(text, "--speculative-config"))
    assert speculative["method"] == "eagle3"
    assert 3 <= speculative["num_speculative_tokens"] <= 5
    assert COMMIT.fullmatch(speculative["revision"])
    assert "30.5 GiB of weights" in notes, "explanations go to stderr"
    assert "30.5" not in text


def test_a_model_of_the_catalogue_is_served_from_its_original_and_never_from_a_gguf():
    models, served = catalog.catalog().models, 0
    for id, variant in catalog.entries().items():
        if {each.format for each in models[variant.model].variants} == {"gguf"}:
            continue
        source = scale.hub_source(id)
        assert "gguf" not in source.place.lower()
        assert source.model == variant.model
        assert not source.revision or COMMIT.fullmatch(source.revision)
        served += 1
    assert served > len(models)


@pytest.mark.parametrize("emitter", ["vllm", "sglang"])
@pytest.mark.parametrize("name", ["phi-4", "phi-4-q4_k_m"])
def test_a_model_without_a_known_original_is_refused_for_that_whether_it_is_installed_or_not(
    capsys, emitter, name, tmp_path, monkeypatch
):
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    for installed in (False, True):
        if installed:
            (tmp_path / catalog.entries()["phi-4-q4_k_m"].file).touch()
        _, notes = printed(capsys, emitter, "--target", name, "--gpus", "1x48", status=1)
        assert f"The original checkpoint of {name} is not in the catalogue." in notes
        assert "--emit llama-server" in notes


def test_a_draft_model_has_the_vocabulary_of_the_target(capsys):
    text, notes = printed(capsys, "vllm", "--target", "qwen2.5-72b", "--gpus", "8x80")
    assert json.loads(value(text, "--speculative-config"))["model"] == "Qwen/Qwen2.5-7B-Instruct"
    assert value(text, "--tensor-parallel-size") == "4", "on 2 cards, only the target fits"
    text, notes = printed(capsys, "vllm", "--target", "qwen2.5-7b", "--gpus", "1x48")
    assert json.loads(value(text, "--speculative-config"))["method"] == "ngram"
    assert "151,936 rows" in notes
    _, notes = printed(
        capsys, "vllm", "--target", "qwen2.5-7b", "--draft", "qwen2.5-0.5b", "--gpus", "1x48", status=1
    )
    assert "151,936 rows, that of the target 152,064" in notes


def test_speculation_can_be_chosen(capsys):
    def config(*more: str) -> dict:
        text, _ = printed(capsys, "vllm", "--target", "llama-3.1-8b", "--gpus", "1x48", *more)
        return json.loads(value(text, "--speculative-config")) if "--speculative" in text else {}

    assert config()["method"] == "eagle3"
    assert config("--speculation", "draft")["model"] == "meta-llama/Llama-3.2-1B-Instruct"
    assert config("--draft", "llama-3.2-1b")["method"] == "draft_model"
    assert config("--speculation", "ngram")["prompt_lookup_max"] == 4
    assert config("--speculation", "none") == {}


def test_a_layer_of_its_own_drafts_for_a_target_that_has_one(capsys):
    text, _ = printed(capsys, "vllm", "--target", "qwen3.6-27b", "--gpus", "1x80")
    assert json.loads(value(text, "--speculative-config")) == {"method": "mtp", "num_speculative_tokens": 3}
    text, _ = printed(
        capsys,
        "vllm",
        "--target",
        "qwen3.6-27b",
        "--gpus",
        "1x80",
        "--speculation",
        "mtp",
        "--draft-tokens",
        "1",
    )
    assert json.loads(value(text, "--speculative-config"))["num_speculative_tokens"] == 1
    _, notes = printed(
        capsys, "vllm", "--target", "llama-3.1-8b", "--gpus", "1x48", "--speculation", "mtp", status=1
    )
    assert "No layer of its own can draft for llama-3.1-8b" in notes
    text, _ = printed(capsys, "llama-server", "--target", "qwen3.6-27b-mtp-q4_k_m", "--gpus", "1x48")
    assert value(text, "--spec-type") == "draft-mtp"


def test_a_layer_of_its_own_counts_in_memory():
    source = hub_source("qwen3.6-27b")
    layer, whole = source.outline.own_layer, CardLayout(1, 1, 1)
    assert layer
    extra = layer.stored + 2 * layer.kv_row * 8192
    for room, method in ((extra, "mtp"), (extra - 2**20, "ngram")):
        needed = load(source, whole, 8192).nbytes + room + RESERVED
        found = speculation_for(
            "vllm", source, whole, Cluster(1, 1, (needed + 1) / SHARE / GIB), 8192, Wish()
        )
        assert found.method == method
    assert "Its own layer would need" in found.why


def test_sglang_speculates_on_a_chain(capsys):
    text, _ = printed(capsys, "sglang", "--target", "llama-3.3-70b-awq", "--gpus", "2x48")
    assert words(text)[:3] == ["python3", "-m", "sglang.launch_server"]
    assert value(text, "--speculative-algorithm") == "EAGLE3"
    assert value(text, "--speculative-eagle-topk") == "1"
    steps, tokens = (value(text, f"--speculative-num-{what}") for what in ("steps", "draft-tokens"))
    assert int(tokens) == int(steps) + 1, "the root of the chain counts"
    assert value(text, "--speculative-draft-model-quantization") == "unquant"
    assert COMMIT.fullmatch(value(text, "--speculative-draft-model-revision"))
    text, notes = printed(
        capsys, "sglang", "--target", "qwen3-32b", "--gpus", "2x48", "--pipeline-parallel", "2"
    )
    assert value(text, "--pp-size") == "2"
    assert "--speculative-algorithm" not in text
    assert "does not speculate together with pipeline parallelism" in notes


def test_llama_server_serves_the_gguf_on_one_machine(capsys):
    text, _ = printed(capsys, "llama-server", "--target", "qwen2.5-72b-awq", "--gpus", "4x24")
    assert value(text, "-hff") == "Qwen2.5-72B-Instruct-Q4_K_M.gguf"
    assert value(text, "--spec-type") == "draft-simple"
    assert value(text, "-hfd") == "Qwen/Qwen2.5-1.5B-Instruct-GGUF:Q4_K_M"
    assert 3 <= int(value(text, "--spec-draft-n-max")) <= 5
    assert "--draft-max" not in text, "it was removed"
    _, error = printed(
        capsys, "llama-server", "--target", "qwen2.5-72b", "--gpus", "4x24", "--nodes", "2", status=1
    )
    assert "one machine" in error
    text, _ = printed(
        capsys, "llama-server", "--target", "smollm2-1.7b", "--speculation", "ngram", "--vram", "0"
    )
    assert "-ngl" not in words(text), "without a card"
    assert value(text, "--spec-type") == "ngram-simple"


def test_one_script_for_several_machines_asks_for_its_place(capsys, tmp_path):
    for engine in ("vllm", "sglang"):
        text, _ = printed(capsys, engine, "--target", "qwen2.5-72b-awq", "--gpus", "2x24", "--nodes", "2")
        program = tmp_path / words(text[text.index("\n" + ("vllm" if engine == "vllm" else "python3")) :])[0]
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        program.chmod(0o755)
        without = subprocess.run(
            ["sh", "-eu"], input=text, text=True, capture_output=True, env={"PATH": "/bin"}
        )
        assert without.returncode != 0
        assert "NODE_RANK" in without.stderr
        place = {"PATH": f"{tmp_path}:/bin:/usr/bin", "NODE_RANK": "1", "HEAD_ADDRESS": "10.0.0.1"}
        done = subprocess.run(
            ["sh", "-eu"], input=text, text=True, capture_output=True, env=place, check=True
        )
        given = done.stdout.splitlines()
        assert given[given.index("--node-rank") + 1] == "1"
        assert given[given.index("--nnodes") + 1] == "2"
        if engine == "vllm":
            assert given[given.index("--master-addr") + 1] == "10.0.0.1"
            assert given[-1] == "--headless"
            assert json.loads(given[given.index("--speculative-config") + 1])["method"] == "draft_model"
        else:
            assert given[given.index("--dist-init-addr") + 1] == "10.0.0.1:20000"


def test_arguments_survive_the_shell(capsys):
    name = 'it\'s $HOME; `x` "y" *'
    text, _ = printed(capsys, "vllm", "--target", "llama-3.1-8b", "--gpus", "1x24", "--served-name", name)
    shown = subprocess.run(
        ["sh", "-c", 'vllm() { printf "%s\\n" "$@"; }\n' + text], text=True, capture_output=True, check=True
    )
    cli.run(
        [
            "plan",
            "--json",
            "--emit",
            "vllm",
            "--target",
            "llama-3.1-8b",
            "--gpus",
            "1x24",
            "--served-name",
            name,
        ]
    )
    assert ["vllm", *shown.stdout.splitlines()] == json.loads(capsys.readouterr().out)["arguments"]


def test_an_unknown_commit_is_said_in_the_text(capsys):
    text, _ = printed(capsys, "vllm", "--target", "mistral-large-2407", "--gpus", "8x80")
    assert "# No commit of mistralai/Mistral-Large-Instruct-2407 is known here" in text
    assert "--revision" not in words(text)
    text, _ = printed(capsys, "vllm", "--target", "mistral-large-2407", "--gpus", "8x80", "--revision", "abc")
    assert value(text, "--revision") == "abc"
    assert "Mistral-Large-Instruct-2407 is known" not in text
    assert "# mistralai/Mistral-Large-Instruct-2407 asks for consent" in text
    text, _ = printed(capsys, "vllm", "--target", "qwen3-14b", "--gpus", "1x48")
    assert "# No commit of AngelSlim/Qwen3-14B_eagle3 is known here" in text


def test_skypilot_gets_a_task(capsys):
    text, _ = printed(capsys, "skypilot", "--target", "qwen2.5-72b-awq", "--gpus", "2x24", "--nodes", "2")
    task = yaml.safe_load(text)
    assert task.keys() <= {"name", "num_nodes", "resources", "secrets", "envs", "setup", "run"}
    assert task["num_nodes"] == 2
    assert {"accelerators": "L4:2"} in task["resources"]["any_of"]
    assert task["resources"]["ports"] == 8000
    assert task["secrets"] == {"VLLM_API_KEY": None}, "whoever reaches the address needs a key"
    assert 'NODE_RANK="$SKYPILOT_NODE_RANK"' in task["run"]
    assert "--host 0.0.0.0" in task["run"]
    subprocess.run(["sh", "-n"], input=task["run"], text=True, check=True)
    assert task["run"] in text.replace("\n  ", "\n").replace("run: |\n", ""), "a block, for people to read"


def test_kuberay_gets_a_service_with_a_worker_for_each_machine(capsys):
    text, _ = printed(
        capsys, "kuberay", "--target", "llama-3.3-70b", "--gpus", "2x80", "--nodes", "2",
        "--pipeline-parallel", "2", "--tensor-parallel", "2",
    )  # fmt: skip
    service = yaml.safe_load(text)
    assert (service["apiVersion"], service["kind"]) == ("ray.io/v1", "RayService")
    ray = service["spec"]["rayClusterConfig"]
    (workers,) = ray["workerGroupSpecs"]
    assert workers["replicas"] == workers["minReplicas"] == workers["maxReplicas"] == 2
    (worker,) = workers["template"]["spec"]["containers"]
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == workers["rayStartParams"]["num-gpus"] == "2"
    assert worker["env"][0]["name"] == "HF_TOKEN", "the model is gated"
    (application,) = yaml.safe_load(service["spec"]["serveConfigV2"])["applications"]
    (config,) = application["args"]["llm_configs"]
    assert config["model_loading_config"]["model_source"] == "meta-llama/Llama-3.3-70B-Instruct"
    assert config["engine_kwargs"]["tensor_parallel_size"] == 2
    assert config["engine_kwargs"]["pipeline_parallel_size"] == 2
    assert config["engine_kwargs"]["speculative_config"]["method"] == "eagle3"
    assert "&id" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("qwen2.5-72b-awq", "qwen2-5-72b-awq"),
        ("7B", "m-7b"),
        ("", "model"),
        ("Ä_ß", "model"),
        ("a" * 60, "a" * 40),
    ],
)
def test_names_for_clusters_are_labels(text, expected):
    assert label(text) == expected
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", label(text))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vllm", "--gpus", "1x24"), "needs a model"),
        (("vllm", "--target", "llama-3.1-8b", "--vram", "0"), "no graphics card"),
        (("vllm", "--target", "llama-3.1-8b", "--gpus", "1x24", "--draft-tokens", "99"), "cannot be drafted"),
        (("vllm", "--target", "llama-3.1-8b", "--gpus", "1x24", "--context", "999999"), "at most 131,072"),
        (("vllm", "--target", "llama-3.1-8b", "--gpus", "1x24", "--port", "0"), "not a port"),
        (("vllm", "--target", "llama-3.1-8b", "--gpus", "1x24", "--checkpoint", "x"), "neither a folder"),
        (("vllm", "--target", "gemma-3-27b", "--gpus", "1x80", "--speculation", "eagle3"), "No EAGLE-3"),
        (("skypilot", "--target", "llama-3.1-8b", "--gpus", "1x500"), "No card with 500 GiB"),
    ],
)  # fmt: skip
def test_what_cannot_be_emitted_is_refused_with_a_next_step(capsys, arguments, message):
    out, error = printed(capsys, *arguments, status=1)
    assert message in error
    assert out == ""
    assert len(error.split(". ")) > 1
