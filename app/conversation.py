"""What was said: questions and answers in memory. Knows neither Qt nor the engine process."""

from dataclasses import dataclass, field

from engine.protocol.messages import Answer, Message


@dataclass(slots=True)
class Turn:
    """One question and what came of it. `answer` grows while streamed; `outcome` is None until the end."""

    question: str
    answer: str = ""
    outcome: Answer | None = None


@dataclass(slots=True)
class Conversation:
    turns: list[Turn] = field(default_factory=list)

    def ask(self, question: str) -> Turn:
        turn = Turn(question)
        self.turns.append(turn)
        return turn

    def messages(self) -> list[Message]:
        """The list to send: every answered turn, then the last question.

        A question that got no answer (it failed, or was stopped before the first word) is left out: one too
        long for the context would fail every later one, and chat templates want the roles to alternate.
        """
        messages: list[Message] = []
        for turn in self.turns[:-1]:
            if turn.answer:
                messages += [Message("user", turn.question), Message("assistant", turn.answer)]
        if self.turns:
            messages.append(Message("user", self.turns[-1].question))
        return messages
