"""`python -m tests.retrieval [--embedding FOLDER]`: prints how often an answer is among the passages found.

By BM25, as the program searches; and, with the folder of a sentence embedding model that transformers reads,
such as all-MiniLM-L6-v2, by that model, and by both.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from app.store import AttachedFile, Passage, Store
from tests.retrieval.measure import Search, keep_all, questions, ranks

COUNTS = (1, 3, 6, 10, 20)
FUSED = 50  # passages of each search that are fused
SOFTENED = 10  # reciprocal rank fusion: a passage counts 1 / (SOFTENED + rank) in each search
TOKENS = 256  # that the embedding model was trained for: half a passage is embedded at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedding", type=Path, help="folder of a sentence embedding model")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "chats.sqlite"))
        files = keep_all(store)
        by_words: Search = lambda text, count: store.files.search(files, text, count)  # noqa: E731
        _show("BM25", by_words)
        if chosen.embedding is not None:
            by_meaning = _meaning(store, files, chosen.embedding)
            _show("embedding", by_meaning)
            _show("both", lambda text, count: _fused(by_words, by_meaning, text)[:count])
        store.close()


def _show(name: str, search: Search) -> None:
    for words in ("own", "other"):
        asked = [each for each in questions() if each.words == words]
        found = ranks(search, asked, COUNTS[-1])
        shares = (sum(rank is not None and rank <= most for rank in found) for most in COUNTS)
        figures = ", ".join(f"{share} in {most}" for share, most in zip(shares, COUNTS, strict=True))
        print(f"{name}, {words} words: of {len(asked)} answers {figures}")


def _meaning(store: Store, files: Sequence[AttachedFile], folder: Path) -> Search:
    passages = [passage for file in files for passage in store.files.search([file], "", 10_000)]
    embed = _model(folder)
    halves = [half for passage in passages for half in _halves(passage.text)]
    vectors = embed(halves).reshape(len(passages), 2, -1)

    def search(text: str, count: int) -> list[Passage]:
        similar = (vectors @ embed([text])[0]).max(axis=1)
        return [passages[place] for place in np.argsort(-similar)[:count]]

    return search


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _model(folder: Path) -> Callable[[Sequence[str]], np.ndarray]:
    """Return a function from texts to unit vectors: the mean of the last hidden states."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.no_grad()
    def embed(texts: Sequence[str]) -> np.ndarray:
        made = []
        for start in range(0, len(texts), 16):
            part = list(texts[start : start + 16])
            batch = tokenizer(part, padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
            states = model(**batch).last_hidden_state
            mask = batch["attention_mask"][..., None]
            made.append(torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1).numpy())
        return np.concatenate(made)

    return embed


def _fused(first: Search, second: Search, text: str) -> list[Passage]:
    scores: dict[Passage, float] = {}
    for search in (first, second):
        for rank, passage in enumerate(search(text, FUSED), 1):
            scores[passage] = scores.get(passage, 0.0) + 1 / (SOFTENED + rank)
    return sorted(scores, key=lambda passage: -scores[passage])


if __name__ == "__main__":
    main()
