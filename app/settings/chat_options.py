"""How the answers of a chat are made: the options of `ChatSettings`, in their order on the page."""

from PySide6.QtCore import QCoreApplication

from app.settings.options import Option, Section


def _tr(text: str) -> str:
    return QCoreApplication.translate("chat_options", text)


def chat_sections() -> list[Section]:
    """Of `ChatSettings`."""
    return [_prompt(), _sampling(), _answer(), _drafting(), _model()]


def _prompt() -> Section:
    return Section(
        _tr("Prompt"),
        [
            Option(
                "system",
                "text",
                _tr("System prompt"),
                _tr("Said to the model before everything else: who it is and how it answers."),
            ),
        ],
    )


def _sampling() -> Section:
    return Section(
        _tr("Sampling"),
        [
            Option(
                "options.temperature",
                "fraction",
                _tr("Temperature"),
                _tr("How freely tokens are chosen. 0: always the likeliest one."),
                usual=(0, 2),
                step=0.05,
            ),
            Option(
                "options.top_p",
                "fraction",
                _tr("Top-p"),
                _tr("Only the likeliest tokens that together have this probability. 1: all."),
                usual=(0.05, 1),
                step=0.05,
            ),
            Option(
                "options.top_k",
                "whole",
                _tr("Top-k"),
                _tr("Only this many of the likeliest tokens."),
                lowest=_tr("off"),
            ),
            Option(
                "options.min_p",
                "fraction",
                _tr("Min-p"),
                _tr("No token less likely than this part of the likeliest one."),
                lowest=_tr("off"),
                usual=(0, 0.5),
                step=0.01,
            ),
            Option(
                "options.repetition_penalty",
                "fraction",
                _tr("Repetition penalty"),
                _tr("Above 1: tokens that were there before become less likely."),
                usual=(0.5, 2),
                step=0.05,
            ),
            Option(
                "options.presence_penalty",
                "fraction",
                _tr("Presence penalty"),
                _tr("Taken off the logit of each token that is in the answer already, once."),
                usual=(-2, 2),
                step=0.1,
            ),
            Option(
                "options.frequency_penalty",
                "fraction",
                _tr("Frequency penalty"),
                _tr("Taken off the logit of a token for each time it is in the answer already."),
                usual=(-2, 2),
                step=0.1,
            ),
            Option(
                "options.logit_bias",
                "biases",
                _tr("Logit bias"),
                _tr("Added to the logits of tokens. On each line: the token's id, a colon, -1000 to 1000."),
            ),
            Option(
                "options.seed",
                "large",
                _tr("Seed"),
                _tr("The same seed with the same settings gives the same text in float32. Empty: a new one."),
            ),
        ],
    )


def _answer() -> Section:
    return Section(
        _tr("Answer"),
        [
            Option(
                "options.max_new_tokens",
                "whole",
                _tr("Longest answer"),
                _tr("An answer ends after this many tokens at the latest."),
                lowest=_tr("until the model ends"),
                step=64,
                unit=_tr("tokens"),
            ),
            Option(
                "options.stop",
                "lines",
                _tr("Stop strings"),
                _tr("An answer ends before the first of these. One on each line; \\n: a line break."),
            ),
            Option(
                "options.log_probs",
                "whole",
                _tr("Log-probabilities"),
                _tr("Keep how likely each token was, and this many other tokens beside it."),
                lowest=_tr("off"),
            ),
        ],
    )


def _drafting() -> Section:
    return Section(
        _tr("Drafter"),
        [
            Option(
                "options.drafter",
                "choice",
                _tr("Drafter"),
                _tr("The method that proposes tokens. It changes the speed, not what the target would say."),
                choices=[("auto", _tr("auto"))],
            ),
            Option(
                "options.budget",
                "whole",
                _tr("Budget"),
                _tr("Most nodes in a token tree. auto: what is fastest here, found while it answers."),
                lowest=_tr("auto"),
            ),
            Option(
                "options.beams",
                "whole",
                _tr("Beams"),
                _tr("Nodes the draft expands in each round."),
                lowest=_tr("auto"),
            ),
            Option(
                "options.depth",
                "whole",
                _tr("Depth"),
                _tr("How deep a token tree may grow."),
                lowest=_tr("auto"),
            ),
        ],
    )


def _model() -> Section:
    return Section(
        _tr("Model"),
        [
            Option(
                "target",
                "choice",
                _tr("Target"),
                _tr("The model that answers."),
                choices=[(None, _tr("the one that comes with the program"))],
                reloads=True,
            ),
            Option(
                "draft",
                "choice",
                _tr("Draft"),
                _tr("The model that guesses ahead. It must number tokens as the target does."),
                choices=[("auto", _tr("the best one here")), ("none", _tr("none"))],
                reloads=True,
            ),
            Option(
                "context",
                "whole",
                _tr("Context"),
                _tr("Most tokens of the prompt and the answer together. More takes more memory."),
                lowest=_tr("auto"),
                step=1024,
                unit=_tr("tokens"),
                reloads=True,
            ),
        ],
    )
