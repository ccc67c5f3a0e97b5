"""The emitted arguments as vLLM's own parser reads them, and the counters of its /metrics.

The parser needs the environment that `python -m tests.remote.vllm` makes, or $SPECEXEC_VLLM_PYTHON, an
interpreter with vLLM.
"""

import json
import os
import subprocess
from pathlib import Path

import platformdirs
import pytest

from engine import cli
from tests.remote.vllm_server import Drafted, parsed

READ = """
import dataclasses, json, sys, typing
from vllm.config.speculative import SpeculativeConfig, SpeculativeMethod
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser

def literals(kind):
    return {value for each in typing.get_args(kind) for value in (literals(each) or {each})}

fields = {field.name for field in dataclasses.fields(SpeculativeConfig)}
parser = make_arg_parser(FlexibleArgumentParser())
for line in sys.stdin:
    given = parser.parse_args(json.loads(line))
    speculative = given.speculative_config or {}
    assert set(speculative) <= fields, set(speculative) - fields
    assert not speculative or speculative["method"] in literals(SpeculativeMethod), speculative
    names = "revision tensor_parallel_size pipeline_parallel_size nnodes max_model_len speculative_config"
    print("READ", json.dumps([given.model_tag, *(getattr(given, name) for name in names.split())]))
"""
CASES = (
    ("--target", "qwen3-32b", "--gpus", "2x48"),
    ("--target", "qwen2.5-72b", "--gpus", "8x80"),
    ("--target", "qwen2.5-72b-awq", "--gpus", "2x24", "--nodes", "2"),
    ("--target", "smollm2", "--gpus", "1x8", "--speculation", "ngram"),
    ("--target", "llama-3.1-8b", "--gpus", "1x24", "--speculation", "mtp"),
    ("--target", "llama-3.1-8b", "--gpus", "1x24", "--speculation", "none"),
)
METRICS = """# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
vllm:spec_decode_num_drafts_total{engine="0",model_name="coder"} 22.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="coder"} 88.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="coder"} 74.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 21.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 20.0
vllm:spec_decode_num_accepted_tokens_created{engine="0"} 1.7e+09
"""


def interpreter() -> Path:
    usual = platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "vllm/environment/bin/python"
    found = Path(os.environ.get("SPECEXEC_VLLM_PYTHON", usual))
    if not found.exists():
        pytest.skip(f"vLLM is not installed at {found}: python -m tests.remote.vllm installs it")
    return found


def test_vllm_reads_the_emitted_arguments(capsys):
    python, emitted = interpreter(), []
    for case in CASES:
        assert cli.run(["plan", "--json", "--emit", "vllm", *case]) == 0
        emitted.append(json.loads(capsys.readouterr().out))
    lines = "\n".join(json.dumps(each["arguments"][2:]) for each in emitted)  # without "vllm serve"
    done = subprocess.run([python, "-c", READ], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    read = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("READ ")]
    assert len(read) == len(CASES)
    for (model, revision, tensor, pipeline, nodes, context, speculative), each in zip(
        read, emitted, strict=True
    ):
        assert model == each["target"]["place"]
        assert revision == each["target"]["revision"]
        assert {"tensor": tensor, "pipeline": pipeline, "nodes": nodes} == each["layout"]
        assert context == each["context"]
        assert (speculative or {}).get("num_speculative_tokens", 0) == each["speculation"]["tokens"]


def test_counters_are_read_from_the_metrics():
    after = parsed(METRICS)
    assert after == Drafted(22, 88, 74, (21, 20))
    assert after.since(Drafted(2, 8, 4, (1, 2))) == Drafted(20, 80, 70, (20, 18))
    assert after.since(parsed("")) == after
