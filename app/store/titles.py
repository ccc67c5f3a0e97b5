"""Automatic chat titles from the first question and answer, in English, Korean and Chinese. Pure
functions."""

import itertools
import re
import unicodedata
from collections.abc import Collection

WIDTH = 40  # most columns in a title; Han, kana and Hangul take two each
_READ = 4000  # only this many characters of a text are considered

_NUMBER = re.compile(r" \(\d{1,9}\)$")
_CODE = re.compile(r"^\s*(```|~~~).*?(^\s*\1|\Z)", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"^\s*(?:[#>]+|[-*+]|\d+[.)])\s+|[*`]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all)?"
    r"|안녕(?:하세요|하십니까)?|반가워요?)(?:[\s,.!~]+|$)|(?:你好|您好|嗨|早上好)(?!吗)[\s,，。！!]*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:please |(?:can|could|would|will) you |kindly |i (?:want|need|would like) you to |help me (?:to )?"
    r"|请问|请你|请(?=帮|写|用|给|把|将|解释|介绍|翻译|总结|列出|说明|告诉)|麻烦你|你?能不能|可不可以|你能|你可以"
    r"|(?:帮我|给我)(?!的))\s*",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"\s*(?:좀\s*)?(?:해\s?(?:줘요?|주세요|주실래요|줄래요?|주시겠어요)|[을를]?\s*(?:알려|설명해|써|만들어|가르쳐)\s?(?:줘요?|주세요))$"
    r"|,?\s*please$",
    re.IGNORECASE,
)


def numbered(title: str, taken: Collection[str]) -> str:
    """Return the title with the first number that makes it differ from those in `taken`: "Trees (2)". An
    empty title stays empty."""
    stem = _NUMBER.sub("", title)
    if not stem:
        return title
    return next(name for count in itertools.count(2) if (name := f"{stem} ({count})") not in taken)


def title_of(question: str, answer: str = "") -> str:
    """Return a title of at most `WIDTH` columns: the first meaningful sentence of the question, without
    polite phrases and markup.

    If the question has no words outside code, use the answer. Return "" if the answer has none either.
    """
    sentences = _sentences(question) or _sentences(answer)
    titles = [title for title in map(_without_courtesy, sentences) if _has_word(title)]
    title = (titles or sentences or [""])[0]
    return _shorten(title[:1].upper() + title[1:])


def _sentences(text: str) -> list[str]:
    """Return the sentences that contain a word, without those in code blocks."""
    text = _LINK.sub(r"\1", _MARKS.sub("", _CODE.sub("\n", text[:_READ])))
    sentences = filter(_has_word, _SENTENCE_END.split(text))
    return [" ".join(_CONTROL.sub(" ", sentence).split()) for sentence in sentences]


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _without_courtesy(sentence: str) -> str:
    sentence = sentence.rstrip(" .,:;!。，：；！、")
    if greeting := _GREETING.match(sentence):
        sentence = sentence[greeting.end() :]
    bare = sentence
    while opening := _OPENING.match(bare):
        bare = bare[opening.end() :]
    bare = _ENDING.sub("", bare)
    if bare != sentence:
        bare = bare.rstrip(" ?？")
    return bare or sentence


def _shorten(text: str) -> str:
    width = 0
    for position, character in enumerate(text):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > WIDTH:
            kept = text[: position - 1]
            if not text[position - 1].isspace() and " " in kept[-12:]:  # drop the word that was cut
                kept = kept[: kept.rindex(" ")]
            return kept.rstrip(" ,;:，、") + "…"
    return text
