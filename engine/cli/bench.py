"""`specexec bench`: benchmarks of parts of the engine. A new benchmark takes one file in engine/bench and one
line here."""

from engine.bench import (
    constraints,
    coverage,
    drafters,
    experts,
    kernels,
    mixtures,
    mtp,
    panel,
    parting,
    passes,
    peers,
    quantization,
    recurrent,
    schedule,
    shapes,
    streaming,
    turns,
)
from engine.terminal import Commands, HelpFormatter

KINDS = (
    drafters,
    passes,
    coverage,
    parting,
    streaming,
    schedule,
    experts,
    mixtures,
    recurrent,
    mtp,
    shapes,
    peers,
    quantization,
    kernels,
    constraints,
    turns,
    panel,
)


def add(commands: Commands) -> None:
    bench = commands.add_parser(
        "bench",
        help="measure parts of the engine on this machine",
        description="Measure parts of the engine on this machine.\n\nEvery figure is repeated and printed "
        "with its spread. Run “specexec bench KIND --help” for the options of one benchmark.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    kinds = bench.add_subparsers(dest="kind", metavar="KIND", required=True, title="benchmarks")
    for kind in KINDS:
        kind.add(kinds)
