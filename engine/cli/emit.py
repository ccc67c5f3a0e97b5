"""`specexec plan --emit`: print the command or file by which another engine serves the same target."""

import argparse
from dataclasses import asdict

import msgspec

from engine import planner, scale
from engine.errors import BadOption
from engine.planner import MachineProfile
from engine.scale import Cluster, Forced, ModelSource, ServerOrder, Wish
from engine.scale.cluster import GIB
from engine.scale.layout import load
from engine.terminal import say


def add_emit_options(parser: argparse.ArgumentParser) -> None:
    """Add --emit and the options that only it reads."""
    group = parser.add_argument_group(
        "other engines",
        "Print what serves the same target elsewhere, with the best speculation that the engine has. The "
        "text goes to stdout and what it is based on to stderr. Nothing is started.",
    )
    group.add_argument(
        "--emit",
        choices=list(scale.EMITTERS),
        help="print the command of this engine, or a file that brings vLLM up on several machines (default: "
        "none, predict)",
    )
    _add_layout_options(group)
    _add_speculation_options(group)
    _add_source_options(group)
    _add_server_options(group)


def _add_layout_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--gpus",
        metavar="NxGiB",
        help="number of cards in each machine, and the GiB of each, such as 2x24 (default: one card, as "
        "described or as found here)",
    )
    group.add_argument("--nodes", type=int, default=1, metavar="N", help="number of machines (default: 1)")
    group.add_argument(
        "--tensor-parallel",
        type=int,
        metavar="N",
        help="number of cards among which matrices are split (default: the smallest that fits)",
    )
    group.add_argument(
        "--pipeline-parallel",
        type=int,
        metavar="N",
        help="number of stages, each with its share of the layers (default: the smallest that fits)",
    )


def _add_speculation_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--speculation",
        choices=scale.METHODS,
        default="auto",
        help="what drafts: EAGLE-3 heads, the target's own layer (mtp), a draft model, or n-grams (default: "
        "auto, the best that is known for the target and fits)",
    )
    group.add_argument(
        "--draft-tokens",
        type=int,
        metavar="N",
        help="number of tokens drafted at a time (default: 3 for heads, otherwise 4)",
    )


def _add_source_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--checkpoint",
        metavar="PATH|REPOSITORY",
        help="folder, GGUF file or repository to take the target from (default: the original repository, "
        "which the catalogue names)",
    )
    group.add_argument(
        "--draft-checkpoint",
        metavar="PATH|REPOSITORY",
        help="the same for the draft model (default: the catalogue's)",
    )
    group.add_argument(
        "--revision",
        metavar="REVISION",
        help="commit, branch or tag of the target's repository (default: the installed commit, or else the "
        "one that the catalogue names)",
    )
    group.add_argument(
        "--draft-revision",
        metavar="REVISION",
        help="the same for the draft model or heads (default: the catalogue's)",
    )


def _add_server_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--served-name", metavar="NAME", help="name that clients give for the model (default: the target's)"
    )
    group.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)"
    )
    group.add_argument("--port", type=int, default=8000, metavar="N", help="port (default: 8000)")


def run_emit(parsed: argparse.Namespace, there: MachineProfile) -> int:
    """Print what `parsed` asks for. there: the described machine, for what --gpus does not say.

    Raises BadOption and OutOfMemory, and the errors of opening a model.
    """
    if parsed.target is None:
        raise BadOption("--emit needs a model.", "Give --target with an ID of the catalogue.")
    if not 0 < parsed.port < 2**16:
        raise BadOption(f"{parsed.port} is not a port.", "Give --port 1 to 65535.")
    engine = scale.EMITTERS[parsed.emit].engine
    target = _source(engine, parsed.target, parsed.checkpoint, parsed.revision)
    context = parsed.context or planner.asked_for(there, target.outline).context
    if context > target.outline.context:
        raise BadOption(
            f"The model's context is at most {target.outline.context:,} tokens.",
            f"Give --context {target.outline.context} or less.",
        )
    cluster = _cluster(parsed, there, engine)
    wish = _wish(parsed, engine)
    forced = Forced(parsed.tensor_parallel, parsed.pipeline_parallel)
    if cluster is None:
        ram = Cluster(1, 1, there.usable_ram / GIB)
        layout, speculation = scale.choice_for(engine, target, ram, context, wish)
    else:
        layout, speculation = scale.choice_for(engine, target, cluster, context, wish, forced)
    served = parsed.served_name or parsed.target
    order = ServerOrder(target, served, cluster, layout, speculation, context, parsed.host, parsed.port)
    emission = scale.emit(parsed.emit, order)
    if parsed.json:
        held = load(target, layout, context)
        fields = {
            "emit": parsed.emit,
            "text": emission.text,
            "arguments": emission.arguments,
            "target": {"place": target.place, "file": target.file, "revision": target.revision or None},
            "context": context,
            "layout": asdict(layout),
            "card": {"weights": held.weights, "cache": held.cache, "draft": speculation.nbytes},
            "usable": cluster and cluster.usable,
            "speculation": {"method": speculation.method, "tokens": speculation.tokens},
            "notes": emission.notes,
        }
        say(msgspec.json.encode(fields).decode())
    else:
        say(*emission.notes, to_stderr=True)
        say(*emission.text.splitlines())
    return 0


def _source(engine: str, name: str, checkpoint: str | None, revision: str | None) -> ModelSource:
    if engine == "llama-server":
        return scale.gguf_source(name, checkpoint)
    return scale.hub_source(name, checkpoint, revision)


def _wish(parsed: argparse.Namespace, engine: str) -> Wish:
    named = parsed.draft not in ("auto", "none")
    if parsed.draft_checkpoint and not named:
        raise BadOption("--draft-checkpoint needs a draft.", "Name it by --draft, too.")
    draft = _source(engine, parsed.draft, parsed.draft_checkpoint, parsed.draft_revision) if named else None
    return Wish(parsed.speculation, parsed.draft_tokens, draft, parsed.draft == "auto", parsed.draft_revision)


def _cluster(parsed: argparse.Namespace, there: MachineProfile, engine: str) -> Cluster | None:
    if engine == "llama-server" and parsed.nodes != 1:
        raise BadOption("llama-server runs on one machine.", "Give --emit vllm, or leave out --nodes.")
    if parsed.gpus is not None:
        return scale.cluster_of(parsed.gpus, parsed.nodes)
    if there.card is not None:
        return scale.cluster_of(f"1x{round(there.vram / GIB + 1)}", parsed.nodes)
    if engine == "llama-server":
        return None
    raise BadOption("This machine has no graphics card.", "Describe the cards, such as --gpus 2x24.")
