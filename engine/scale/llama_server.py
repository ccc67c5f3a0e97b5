"""The command of llama.cpp's server. Its syntax is that of the autumn of 2026, in which --draft-max became
--spec-draft-n-max."""

from engine.scale import script
from engine.scale.order import ServerOrder

METHODS = {"draft": "draft-simple", "mtp": "draft-mtp", "ngram": "ngram-simple"}
LOOKUP = 4  # tokens that must have occurred before


def arguments(order: ServerOrder) -> list[str]:
    target, speculation = order.target, order.speculation
    given = ["llama-server"]
    given += ["-m", target.place] if target.local else ["-hf", target.place, "-hff", target.file]
    given += ["--alias", order.served, "--host", order.host, "--port", str(order.port)]
    given += ["-c", str(order.context), "-np", "1", "--metrics"]
    if order.cluster is not None:
        given += ["-ngl", "all"]
        given += ["-sm", "layer"] if order.layout.pipeline > 1 else ["-sm", "none"]
    if speculation.method == "none":
        return given
    given += ["--spec-type", METHODS[speculation.method]]
    if speculation.method == "ngram":
        lookup = ["--spec-ngram-simple-size-n", str(LOOKUP)]
        return [*given, *lookup, "--spec-ngram-simple-size-m", str(speculation.tokens)]
    if (draft := speculation.draft) is not None:
        given += ["-md", draft.place] if draft.local else ["-hfd", f"{draft.place}:{draft.tag}"]
        if order.cluster is not None:
            given += ["-ngld", "all"]
    return [*given, "--spec-draft-n-max", str(speculation.tokens)]


def text(order: ServerOrder) -> str:
    return script.command_text(arguments(order)) + "\n"
