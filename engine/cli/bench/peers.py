"""`specexec bench peers`."""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from engine import catalog
from engine.cli.common import Commands
from engine.errors import BadOption

DESCRIPTION = """\
Tokens per second of accelerate's disk offload (on folders of safetensors), of llama.cpp by mmap (on GGUF
files) and of this engine, plain and with SpecExec, each in a memory control group of the same size (Linux).

llama.cpp runs where llama-cpp-python is installed, in any Python, for example:
  python3 -m venv peers && CMAKE_ARGS=-DGGML_NATIVE=ON peers/bin/pip install llama-cpp-python
  specexec bench peers model.gguf --memory 1.5 --draft coder-draft --llama-python peers/bin/python"""


def add(kinds: Commands) -> None:
    peers = kinds.add_parser(
        "peers",
        help="beside accelerate and llama.cpp, each under the same memory limit",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    peers.set_defaults(run=run)
    peers.add_argument("targets", nargs="+", metavar="ID|PATH", help="targets, larger than --memory")
    peers.add_argument(
        "--memory", type=float, required=True, metavar="GiB", help="of each program, with the files' pages"
    )
    peers.add_argument("--draft", metavar="ID|PATH", help="default: SpecExec is left out")
    peers.add_argument(
        "--weights", choices=["packed", "unpacked"], default="unpacked", help="the draft's, in memory"
    )
    peers.add_argument(
        "--overhead",
        type=float,
        default=0.7,
        metavar="GiB",
        help="of --memory, for interpreter, torch and workspaces: --ram-limit is what it and the draft leave",
    )
    peers.add_argument("--budget", type=int, default=64, metavar="N", help="most nodes in a tree")
    peers.add_argument(
        "--prompt", default="Explain how a hash table works, and give a short implementation in Python."
    )
    peers.add_argument("--tokens", type=int, default=48, metavar="N", help="of each answer")
    peers.add_argument("--repeats", type=int, default=3, metavar="N")
    peers.add_argument(
        "--llama-python",
        default=sys.executable,
        metavar="PATH",
        help="a Python that has llama-cpp-python; default: this one",
    )
    peers.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.peers import Terms, measure, table

    if not parsed.memory > 0 or not parsed.overhead >= 0:
        raise BadOption("--memory and --overhead are sizes in GiB.", "Give --memory 2.5, for example.")
    if parsed.tokens < 2 or min(parsed.budget, parsed.repeats) < 1:
        raise BadOption(
            "--budget and --repeats begin at 1, --tokens at 2.", "Leave them out for the usual ones."
        )
    llama_python = shutil.which(parsed.llama_python)
    if llama_python is None:
        raise BadOption(f"{parsed.llama_python} is no program.", "Give --llama-python the path of a Python.")
    terms = Terms(
        int(parsed.memory * 2**30),
        int(parsed.overhead * 2**30),
        parsed.weights,
        parsed.budget,
        parsed.prompt,
        parsed.tokens,
        parsed.repeats,
        str(Path(llama_python).absolute()),  # a virtual environment's link must not be followed
    )
    targets = [catalog.resolve(target).resolve() for target in parsed.targets]
    draft = catalog.resolve(parsed.draft).resolve() if parsed.draft else None
    results = measure(targets, draft, terms, lambda what: print(what, file=sys.stderr))
    if parsed.json:
        print(json.dumps({"results": [asdict(result) for result in results]}))
    else:
        print("\n".join(table(results)))
    return 0
