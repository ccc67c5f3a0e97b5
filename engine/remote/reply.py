"""The pieces of an answer as servers send them: OpenAI's `chat.completion.chunk`, and what vLLM and
llama-server add to it."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from engine.documents import json_of
from engine.remote.errors import AnswerBroken

Count = Annotated[int, Meta(ge=0, le=2**53)]


class ReplyToken(Struct, frozen=True):
    token: str
    logprob: float | None = None
    id: int | None = None  # llama-server


class TokenLogProb(ReplyToken, frozen=True):
    top_logprobs: list[ReplyToken] = []


class ReplyLogProbs(Struct, frozen=True):
    content: list[TokenLogProb] | None = None


class CalledPart(Struct, frozen=True):
    name: str | None = None
    arguments: str | None = None


class CallPiece(Struct, frozen=True):
    """A piece of a call: its name comes first, its arguments may come in several pieces."""

    index: Annotated[int, Meta(ge=0)] = 0
    function: CalledPart | None = None


class Delta(Struct, frozen=True):
    """`reasoning_content`, `reasoning`: a thought, under the older and the newer name."""

    content: str | None = None
    tool_calls: list[CallPiece] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None


class ReplyChoice(Struct, frozen=True):
    """`stop_reason`, `matched_stop`: the stop string or token that ended the answer (vLLM, SGLang)."""

    delta: Delta = Delta()
    index: int = 0
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    matched_stop: str | int | None = None
    logprobs: ReplyLogProbs | None = None
    token_ids: list[int] | None = None


class CachedTokens(Struct, frozen=True):
    cached_tokens: Count | None = None


class Usage(Struct, frozen=True):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: CachedTokens | None = None


class ReplyTimings(Struct, frozen=True):
    """llama-server's figures."""

    cache_n: Count | None = None
    prompt_n: Count | None = None
    predicted_n: Count | None = None
    draft_n: Count | None = None
    draft_n_accepted: Count | None = None


class SpeculationFigures(Struct, frozen=True):
    """vLLM's figures of one answer."""

    num_spec_steps: Count | None = None
    num_draft_tokens: Count = 0
    num_accepted_draft_tokens: Count = 0
    acceptance_histogram: dict[str, Count] | None = None
    per_step_accepted: list[Count] | None = None
    per_step_drafted: list[Count] | None = None


class ReplyMetrics(Struct, frozen=True):
    speculative_decoding: SpeculationFigures | None = None


class PromptProgress(Struct, frozen=True):
    """llama-server's progress of the prefill."""

    total: Count = 0
    cache: Count = 0
    processed: Count = 0


class ReplyChunk(Struct, frozen=True):
    choices: list[ReplyChoice] = []
    usage: Usage | None = None
    timings: ReplyTimings | None = None
    metrics: ReplyMetrics | None = None
    prompt_progress: PromptProgress | None = None
    error: Any = None
    object: str | None = None
    message: Any = None


def chunk_of(data: bytes) -> ReplyChunk:
    """Raises AnswerBroken."""
    try:
        return json_of(data, ReplyChunk)
    except ValueError as error:
        raise AnswerBroken(
            f"The engine sent something that is no part of an answer: {error}.", "Ask again."
        ) from error
