import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.titles import WIDTH, numbered, title_of


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Can you please explain how TCP works?", "Explain how TCP works"),
        ("Hello, write a poem about the sea. Make it long.", "Write a poem about the sea"),
        ("What is 3.5 times 2?", "What is 3.5 times 2?"),
        ("history of Rome", "History of Rome"),
        ("hi", "Hi"),
        ("# A heading\n\nand text", "A heading"),
        ("```python\nprint(1)\n```\nWhy does **this** fail?", "Why does this fail?"),
        ("See [the docs](https://example.com/a) for __init__", "See the docs for __init__"),
        ("안녕하세요! 파이썬으로 퀵정렬을 구현해 주세요.", "파이썬으로 퀵정렬을 구현"),
        ("좋은 책을 알려줘", "좋은 책"),
        ("양자 컴퓨터란 무엇인가요?", "양자 컴퓨터란 무엇인가요?"),
        ("请帮我写一首关于秋天的诗。", "写一首关于秋天的诗"),
        ("你好，能不能解释一下量子计算的基本原理？", "解释一下量子计算的基本原理"),
        ("你好", "你好"),
        ("能量守恒定律是什么", "能量守恒定律是什么"),
        ("请假条怎么写", "请假条怎么写"),
        ("给我的猫起个名字", "给我的猫起个名字"),
        ("an answer of many words that goes on and on", "An answer of many words that goes on…"),
        ("机器学习和深度学习之间究竟有什么区别以及应用场景", "机器学习和深度学习之间究竟有什么区别以…"),
        ("  \n", ""),
        ("???", ""),
    ],
)
def test_a_title_is_made_from_the_question(question: str, title: str) -> None:
    assert title_of(question) == title


def test_a_question_of_code_alone_is_titled_by_its_answer() -> None:
    assert title_of("```\nx = 1\n```", "It assigns 1. To x.") == "It assigns 1"


@given(st.text(), st.text())
def test_a_title_is_one_short_line(question: str, answer: str) -> None:
    title = title_of(question, answer)
    assert len(title.splitlines()) <= 1
    assert "Cc" not in map(unicodedata.category, title)
    assert sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in title) <= WIDTH + 1


@pytest.mark.parametrize(
    ("title", "taken", "expected"),
    [
        ("Trees", [], "Trees (2)"),
        ("Trees", ["Trees", "Trees (2)", "Trees (4)"], "Trees (3)"),
        ("Trees (2)", ["Trees (2)"], "Trees (3)"),
        ("f(x)", ["f(x)"], "f(x) (2)"),
        ("(2)", [], "(2) (2)"),
        ("", [], ""),
    ],
)
def test_a_branch_gets_a_number(title: str, taken: list[str], expected: str) -> None:
    assert numbered(title, taken) == expected
