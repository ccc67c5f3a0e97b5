"""The fields that OpenAI's completions of chats and of texts share."""

from typing import Any

from msgspec import Struct

from engine.protocol import Constraint, Options
from engine.server.prompt_request import SamplingFields, biases_of, stops_of


class StreamOptions(Struct, frozen=True):
    include_usage: bool = False


class CompletionFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: dict[str, float] = {}
    n: int = 1
    seed: int | None = None
    stop: str | list[str] = []
    stream_options: StreamOptions = StreamOptions()

    def completion_options(
        self,
        max_new_tokens: int | None,
        log_probs: int | None,
        form: Constraint | None = None,
        **others: Any,
    ) -> Options:
        """form, others: as in `sampling_options`. Raises RequestFault."""
        return self.sampling_options(
            form,
            presence_penalty=self.presence_penalty,
            frequency_penalty=self.frequency_penalty,
            logit_bias=biases_of(self.logit_bias),
            log_probs=log_probs,
            seed=self.seed,
            max_new_tokens=max_new_tokens,
            stop=stops_of(self.stop),
            **others,
        )
