"""Prompts: the token ids that a request asks a model to go on from. May be used while an answer is in
progress."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine import protocol
from engine.errors import BadCheckpoint, BadOption, EmptyPrompt, PromptTooLong
from engine.protocol import thoughts
from engine.serving.template_input import NO_INPUT, is_empty, template_message, template_tool
from engine.tokenizer import Tokenizer

MARK_TOKENS = 16  # at the end of a prompt, where the mark that opens a thought is looked for


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """What an answer follows.

    tokens: all of them; before: those before the beginning of the answer, if the request begins it.
    beginning: the text of that, or "". thought: the mark of the thought that the prompt leaves open, or "".
    """

    tokens: list[int]
    before: list[int]
    beginning: str
    thought: str


def answer_prompt(
    request: protocol.Chat, tokenizer: Tokenizer, vocabulary: int, context: int
) -> AnswerPrompt:
    """Return what the answer to a request follows. vocabulary: tokens that the model knows. context: maximum
    number of tokens of prompt and answer together.

    Raises the errors of `prompt_tokens`; BadCheckpoint if the tokenizer uses tokens that the model lacks;
    BadOption if the options name some; PromptTooLong if the prompt fills the context.
    """
    options = request.options
    tokens = prompt_tokens(tokenizer, request.messages, request.prompt, request.template, options.shown)
    if max(tokens) >= vocabulary:
        raise BadCheckpoint(
            "The tokenizer uses tokens that the model does not have.",
            "Download the model again, with all its files.",
        )
    if beyond := [token for token in options.logit_bias if token >= vocabulary]:
        raise BadOption(
            f"There is no token {beyond[0]}: the model has {vocabulary:,}.", "Correct --logit-bias."
        )
    if len(tokens) >= context:
        raise PromptTooLong(
            f"The conversation is {len(tokens):,} tokens long, but the context holds {context:,}.",
            "Shorten the message, start a new chat, or load the model with a larger context.",
        )
    if request.prompt is not None:
        return AnswerPrompt(tokens, before=tokens, beginning="", thought="")
    before, beginning = tokens, protocol.begun_in(request.messages)
    if beginning:
        before = _encoded(tokenizer, request.messages[:-1], request.template, shown=options.shown)
    return AnswerPrompt(
        tokens, before, beginning, thoughts.opened(tokenizer.decode_all(before[-MARK_TOKENS:]))
    )


def prompt_tokens(
    tokenizer: Tokenizer,
    messages: list[protocol.Message],
    prompt: str | None = None,
    template: protocol.TemplateInput = NO_INPUT,
    shown: Iterable[str] = (),
) -> list[int]:
    """Return the token ids of a chat, or of `prompt` instead. shown: as in `Options`.

    Raises EmptyPrompt if there is nothing to answer; BadOption if the chat template refuses the messages.
    """
    nothing = EmptyPrompt("There is nothing to answer.", "Type a question.")
    if prompt is not None:
        tokens = tokenizer.encode_prompt(prompt)
    elif not messages or is_empty(messages[-1]):
        raise nothing
    else:
        begun = protocol.begun_in(messages)
        tokens = _encoded(tokenizer, messages[:-1] if begun else messages, template, begun, shown)
    if not tokens:
        raise nothing
    return tokens


def _encoded(
    tokenizer: Tokenizer,
    conversation: list[protocol.Message],
    template: protocol.TemplateInput,
    begun: str = "",
    shown: Iterable[str] = (),
) -> list[int]:
    return tokenizer.encode_chat(
        [template_message(message) for message in conversation],
        begun=begun,
        tools=[template_tool(tool) for tool in template.tools],
        options=template.options,
        shown=shown,
    )
