"""The options of `ChatSettings`, which control a chat's answers, in the order of the page."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from app.settings.options import Choice, Option, OptionSection
from engine.protocol.thought_control import EFFORTS, ThoughtChoice


def _tr(text: str) -> str:
    return QCoreApplication.translate("chat_options", text)


def chat_sections(*, for_new_chats: bool = False) -> list[OptionSection]:
    """Return the options of `ChatSettings` by section. New chats are answered by the models that are loaded,
    so that they have no options for models."""
    models = [] if for_new_chats else _models()
    return [
        OptionSection(_tr("Prompt"), [_system()]),
        OptionSection(_tr("Sampling"), [*_choosing(), *_xtc(), *_penalties(), *_dry(), _biases(), _seed()]),
        OptionSection(_tr("Answer"), _ends()),
        OptionSection(_tr("Drafter"), [_drafter(), *_limits_of_trees()]),
        OptionSection(_tr("Model"), [*models, _context()]),
    ]


def _system() -> Option:
    help = _tr("Instructions that the model receives before the chat: its role and how it should answer.")
    return Option("system", "text", _tr("System prompt"), help)


def _choosing() -> list[Option]:
    """Return the options for how tokens are sampled: temperature, top-p, top-k and min-p."""
    off = _tr("Off")
    temperature = _tr("Higher values make answers more varied. 0 always picks the most likely token.")
    top_p = _tr(
        "Sample only from the most likely tokens whose probabilities add up to this value. 1: all tokens."
    )
    top_k = _tr("Sample only from this many of the most likely tokens.")
    min_p = _tr("Exclude tokens whose probability is below this fraction of the most likely token's.")
    return [
        _fraction("temperature", _tr("Temperature"), temperature, (0, 2), 0.05),
        _fraction("top_p", _tr("Top-p"), top_p, (0.05, 1), 0.05),
        _whole("top_k", _tr("Top-k"), top_k, off),
        _fraction("min_p", _tr("Min-p"), min_p, (0, 0.5), 0.01, off),
    ]


def _penalties() -> list[Option]:
    repetition = _tr("Values above 1 make tokens that already occur in the text less likely.")
    presence = _tr("Subtracted once from the logit of every token that already occurs in the answer.")
    frequency = _tr("Subtracted from the logit of a token for each time it already occurs in the answer.")
    return [
        _fraction("repetition_penalty", _tr("Repetition penalty"), repetition, (0.5, 2), 0.05),
        _fraction("presence_penalty", _tr("Presence penalty"), presence, (-2, 2), 0.1),
        _fraction("frequency_penalty", _tr("Frequency penalty"), frequency, (-2, 2), 0.1),
    ]


def _xtc() -> list[Option]:
    """Return the options of XTC, which excludes the most likely tokens."""
    probability = _tr(
        "How often the most likely tokens are excluded, so that answers are less predictable. No effect at "
        "temperature 0."
    )
    threshold = _tr(
        "XTC excludes tokens with at least this probability, except the least likely one of them."
    )
    off = _tr("Off")
    return [
        _fraction("xtc_probability", _tr("XTC probability"), probability, (0, 1), 0.05, off),
        _fraction("xtc_threshold", _tr("XTC threshold"), threshold, (0.05, 0.5), 0.05),
    ]


def _dry() -> list[Option]:
    """Return the options of DRY, which makes repeated sequences of tokens less likely."""
    multiplier = _tr(
        "Makes tokens that would continue a repetition less likely, the more so the longer the repetition "
        "is. 0.8 is usual."
    )
    base = _tr("How fast the DRY penalty grows with the length of the repetition.")
    allowed = _tr("Shortest repetition that DRY counts.")
    last = _tr("How far back DRY looks for repetitions.")
    breakers = _tr(
        "A repetition ends at tokens that contain one of these texts. One per line; \\n stands for a line "
        "break."
    )
    tokens = _tr("tokens")
    return [
        _fraction("dry_multiplier", _tr("DRY penalty"), multiplier, (0, 2), 0.1, _tr("Off")),
        _fraction("dry_base", _tr("DRY base"), base, (1, 4), 0.05),
        _whole("dry_allowed_length", _tr("DRY allowed length"), allowed, "", unit=tokens),
        _whole("dry_range", _tr("DRY range"), last, _tr("Whole chat"), step=256, unit=tokens),
        Option("options.dry_breakers", "lines", _tr("DRY sequence breakers"), breakers),
    ]


def _biases() -> Option:
    help = _tr(
        "Added to the logits of single tokens. One per line: token id, colon, value from -1000 to 1000."
    )
    return Option("options.logit_bias", "biases", _tr("Logit bias"), help)


def _seed() -> Option:
    help = _tr(
        "The same seed and settings give the same text on the processor; on a graphics card, in float32. "
        "Empty: a new seed for each answer."
    )
    return Option("options.seed", "large", _tr("Seed"), help)


def _ends() -> list[Option]:
    longest = _tr("Maximum number of tokens in an answer.")
    until, tokens = _tr("No limit"), _tr("tokens")
    stop = _tr("The answer ends before the first of these texts. One per line; \\n stands for a line break.")
    loops = _tr("Stop an answer that says the same over and over. It can be continued.")
    thought = _tr("Maximum number of tokens that the model may think before it answers.")
    log_probs = _tr(
        "Ask for the probability of each token, and of this many alternatives. “Colour the answer”, beside "
        "the chat, shows them."
    )
    return [
        _whole("max_new_tokens", _tr("Maximum answer length"), longest, until, step=64, unit=tokens),
        _thinks(),
        _whole("thinking_budget", _tr("Thinking budget"), thought, until, step=256, unit=tokens),
        Option("options.stop", "lines", _tr("Stop strings"), stop),
        Option("options.stop_loops", "switch", _tr("Stop repetition"), loops),
        _tools(),
        _whole("log_probs", _tr("Log-probabilities"), log_probs, _tr("Off")),
    ]


def _thinks() -> Option:
    help = _tr("Whether the model thinks before it answers, and how hard, for models that leave the choice.")
    ways: tuple[ThoughtChoice, ...] = (None, True, False, *EFFORTS[1:])
    choices: list[Choice] = [(way, formatting.thought_choice(way)) for way in ways]
    return Option("thinks", "choice", _tr("Thinking"), help, choices=choices)


def _tools() -> Option:
    help = _tr("Let answers call the tools that are turned on in the settings.")
    return Option("tools", "switch", _tr("Tools"), help)


def _drafter() -> Option:
    """Return the drafter option; the page adds the drafters that the loaded pair supports."""
    help = _tr("The method that proposes tokens. It affects the speed, not the quality of the answers.")
    return Option("options.drafter", "choice", _tr("Drafter"), help, choices=[("auto", _tr("Automatic"))])


def drafter_choice(name: str) -> Choice:
    """Return the choice of a drafter. name: as in `Loaded.drafters`."""
    return name, formatting.drafter(name)


def _limits_of_trees() -> list[Option]:
    auto = _tr("Automatic")
    budget = _tr(
        "Maximum number of nodes in a token tree. Automatic: the fastest size, found while answering."
    )
    return [
        _whole("budget", _tr("Budget"), budget, auto),
        _whole("beams", _tr("Beams"), _tr("Number of nodes that the draft expands in each round."), auto),
        _whole("depth", _tr("Depth"), _tr("Maximum depth of a token tree."), auto),
    ]


def _models() -> list[Option]:
    """Return the options for target and draft; the page adds the models on this machine."""
    shipped = (None, _tr("Included with the program"))
    best, none = ("auto", _tr("Best available")), ("none", _tr("None"))
    draft = _tr("The small model that guesses ahead. It must have the same vocabulary as the target.")
    target = _tr("The model that answers.")
    return [
        Option("target", "choice", _tr("Target"), target, choices=[shipped], reloads=True),
        Option("draft", "choice", _tr("Draft"), draft, choices=[best, none], reloads=True),
    ]


def _context() -> Option:
    help = _tr("Maximum number of tokens in prompt and answer together. A larger context needs more memory.")
    auto, tokens = _tr("Automatic"), _tr("tokens")
    name = _tr("Context")
    return Option("context", "whole", name, help, lowest=auto, step=1024, unit=tokens, reloads=True)


def _whole(field: str, text: str, help: str, lowest: str, *, step: float = 1, unit: str = "") -> Option:
    return Option(f"options.{field}", "whole", text, help, lowest=lowest, step=step, unit=unit)


def _fraction(
    field: str, text: str, help: str, usual: tuple[float, float], step: float, lowest: str = ""
) -> Option:
    return Option(f"options.{field}", "fraction", text, help, lowest=lowest, usual=usual, step=step)
