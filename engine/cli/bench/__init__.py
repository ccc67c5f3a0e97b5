"""`specexec bench`: measurements, each with a spread. A new one is one new file and one line here."""

from engine.cli.bench import (
    coverage,
    drafters,
    panel,
    parting,
    passes,
    peers,
    quantization,
    shapes,
    streaming,
)
from engine.cli.common import Commands


def add(commands: Commands) -> None:
    bench = commands.add_parser("bench", help="measure parts of the engine on this machine")
    kinds = bench.add_subparsers(dest="kind", metavar="KIND", required=True)
    for kind in (drafters, passes, coverage, parting, streaming, shapes, peers, quantization, panel):
        kind.add(kinds)
