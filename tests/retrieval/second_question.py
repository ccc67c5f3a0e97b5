"""`python -m tests.retrieval.second_question [TARGET]`: prints the time to the first token of three questions
about one file, docs/engines-elsewhere.md, which the model reads whole."""

import sys
import tempfile
from pathlib import Path

from app.connection.file_choice import choose
from app.documents.records import Document
from app.store import Store, StoredMessage, to_send
from app.store.quoted import whole_files
from engine import protocol
from engine.serving.service import EngineService
from tests.retrieval.measure import ROOT

FILE = ROOT / "docs" / "engines-elsewhere.md"
QUESTIONS = ("What is this about?", "Where is the key stored?", "Which servers can continue an answer?")
CONTEXT = 4_096


def main() -> None:
    engine = EngineService()
    target = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    load = protocol.Load(id=1, target=target, context=CONTEXT)
    engine.load(load, lambda event: None, lambda: False)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "chats.sqlite"))
        file = store.files.keep(FILE.name, Document("text", [FILE.read_text("utf-8")]))
        path: list[StoredMessage] = []
        for number, question in enumerate(QUESTIONS):
            asked = StoredMessage(
                id=len(path) + 1,
                parent=len(path) or None,
                role="user",
                text=question,
                created_at=0.0,
                files=[] if number else [file],
            )
            path.append(choose(store, [*path, asked], 0, CONTEXT))
            messages = to_send(path, "", store.files.texts(whole_files(path)))
            options = protocol.Options(max_new_tokens=24)
            answer = engine.answer(
                protocol.Chat(id=2, messages=messages, options=options), lambda event: None, lambda: False
            )
            print(
                f"question {number + 1}: {answer.time_to_first_token_s:.2f} s to the first token,"
                f" {answer.prompt_tokens} tokens, {answer.reused_tokens} of them not read anew"
            )
            said = StoredMessage(
                id=len(path) + 1, parent=len(path), role="assistant", text=answer.text, created_at=0.0
            )
            path.append(said)
        store.close()
    engine.unload()


if __name__ == "__main__":
    main()
