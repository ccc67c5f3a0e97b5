"""Many chats take no longer than few; `many` measures 10,000 of them."""

import time
from pathlib import Path

from app.store import Store
from tests.app.store.many import QUERIES, build, open_and_list, seconds


def test_a_store_of_many_chats_opens_and_searches_quickly(path: Path) -> None:
    build(path, 400, 20)
    assert seconds(lambda: open_and_list(path)) < 1
    store = Store(path)
    found = 0
    for query in QUERIES:
        start = time.perf_counter()
        hits = store.search(query)
        assert time.perf_counter() - start < 0.2, query
        found += len(hits)
    assert found > 100
    store.close()
