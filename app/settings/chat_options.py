"""How the answers of a chat are made: the options of `ChatSettings`, in their order on the page."""

from PySide6.QtCore import QCoreApplication

from app.settings.options import Option, Section


def _tr(text: str) -> str:
    return QCoreApplication.translate("chat_options", text)


def chat_sections() -> list[Section]:
    """Of `ChatSettings`."""
    return [
        Section(_tr("Prompt"), [_system()]),
        Section(_tr("Sampling"), [*_choosing(), *_penalties(), _biases(), _seed()]),
        Section(_tr("Answer"), _ends()),
        Section(_tr("Drafter"), [_drafter(), *_limits_of_trees()]),
        Section(_tr("Model"), [*_models(), _context()]),
    ]


def _system() -> Option:
    help = _tr("Said to the model before everything else: who it is and how it answers.")
    return Option("system", "text", _tr("System prompt"), help)


def _choosing() -> list[Option]:
    """Which tokens may be chosen, and how freely."""
    off = _tr("off")
    temperature = _tr("How freely tokens are chosen. 0: always the likeliest one.")
    top_p = _tr("Only the likeliest tokens that together have this probability. 1: all.")
    top_k = _tr("Only this many of the likeliest tokens.")
    min_p = _tr("No token less likely than this part of the likeliest one.")
    return [
        _fraction("temperature", _tr("Temperature"), temperature, (0, 2), 0.05),
        _fraction("top_p", _tr("Top-p"), top_p, (0.05, 1), 0.05),
        _whole("top_k", _tr("Top-k"), top_k, off),
        _fraction("min_p", _tr("Min-p"), min_p, (0, 0.5), 0.01, off),
    ]


def _penalties() -> list[Option]:
    repetition = _tr("Above 1: tokens that were there before become less likely.")
    presence = _tr("Taken off the logit of each token that is in the answer already, once.")
    frequency = _tr("Taken off the logit of a token for each time it is in the answer already.")
    return [
        _fraction("repetition_penalty", _tr("Repetition penalty"), repetition, (0.5, 2), 0.05),
        _fraction("presence_penalty", _tr("Presence penalty"), presence, (-2, 2), 0.1),
        _fraction("frequency_penalty", _tr("Frequency penalty"), frequency, (-2, 2), 0.1),
    ]


def _biases() -> Option:
    help = _tr("Added to the logits of tokens. On each line: the token's id, a colon, -1000 to 1000.")
    return Option("options.logit_bias", "biases", _tr("Logit bias"), help)


def _seed() -> Option:
    help = _tr("The same seed with the same settings gives the same text in float32. Empty: a new one.")
    return Option("options.seed", "large", _tr("Seed"), help)


def _ends() -> list[Option]:
    longest = _tr("An answer ends after this many tokens at the latest.")
    until, tokens = _tr("until the model ends"), _tr("tokens")
    stop = _tr("An answer ends before the first of these. One on each line; \\n: a line break.")
    log_probs = _tr("Keep how likely each token was, and this many other tokens beside it.")
    return [
        _whole("max_new_tokens", _tr("Longest answer"), longest, until, step=64, unit=tokens),
        Option("options.stop", "lines", _tr("Stop strings"), stop),
        _whole("log_probs", _tr("Log-probabilities"), log_probs, _tr("off")),
    ]


def _drafter() -> Option:
    """The others are offered by the page: they depend on the pair that is loaded."""
    help = _tr("The method that proposes tokens. It changes the speed, not what the target would say.")
    return Option("options.drafter", "choice", _tr("Drafter"), help, choices=[("auto", _tr("auto"))])


def _limits_of_trees() -> list[Option]:
    auto = _tr("auto")
    budget = _tr("Most nodes in a token tree. auto: what is fastest here, found while it answers.")
    return [
        _whole("budget", _tr("Budget"), budget, auto),
        _whole("beams", _tr("Beams"), _tr("Nodes the draft expands in each round."), auto),
        _whole("depth", _tr("Depth"), _tr("How deep a token tree may grow."), auto),
    ]


def _models() -> list[Option]:
    """Those on this machine are offered by the page."""
    shipped = (None, _tr("the one that comes with the program"))
    best, none = ("auto", _tr("the best one here")), ("none", _tr("none"))
    draft = _tr("The model that guesses ahead. It must number tokens as the target does.")
    target = _tr("The model that answers.")
    return [
        Option("target", "choice", _tr("Target"), target, choices=[shipped], reloads=True),
        Option("draft", "choice", _tr("Draft"), draft, choices=[best, none], reloads=True),
    ]


def _context() -> Option:
    help = _tr("Most tokens of the prompt and the answer together. More takes more memory.")
    auto, tokens = _tr("auto"), _tr("tokens")
    name = _tr("Context")
    return Option("context", "whole", name, help, lowest=auto, step=1024, unit=tokens, reloads=True)


def _whole(field: str, text: str, help: str, lowest: str, *, step: float = 1, unit: str = "") -> Option:
    return Option(f"options.{field}", "whole", text, help, lowest=lowest, step=step, unit=unit)


def _fraction(
    field: str, text: str, help: str, usual: tuple[float, float], step: float, lowest: str = ""
) -> Option:
    return Option(f"options.{field}", "fraction", text, help, lowest=lowest, usual=usual, step=step)
