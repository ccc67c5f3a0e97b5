"""What each format says of bytes: their numbers, bit for bit as gguf's own unpacking, and their validity."""

import numpy as np
import pytest

from engine.errors import UnsupportedModel
from engine.formats import FORMATS, blocks, format_named, unpacked
from tests.engine.formats.made import BLOCKS, put_halves, random_blocks, reference, with_scales

PLAIN = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
LARGEST = 65504.0  # of float16

every_format = pytest.mark.parametrize("form", BLOCKS, ids=lambda form: form.name)
every_plain = pytest.mark.parametrize("name", PLAIN)


def stored(name, numbers):
    """The bytes of numbers in a plain format; those of bfloat16 are cut short."""
    numbers = np.asarray(numbers, np.float32)
    if name == "BF16":
        return (numbers.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    return numbers.astype(PLAIN[name]).view(np.uint8)


class Words:
    """The words of one block, uint8 [bytes]. Attribute: `read`, the offsets of those that were read."""

    def __init__(self, block):
        self.block, self.read = block, []

    def __call__(self, at):
        self.read.append(at)
        return int.from_bytes(self.block[at : at + 4].tobytes(), "little")

    def vector(self, book, index):
        return book.words[index].tolist()


def at_odd_address(data):
    return np.concatenate([np.zeros(1, np.uint8), data])[1:]


@every_format
@pytest.mark.parametrize("place", [np.copy, at_odd_address])
def test_blocks_unpack_to_the_references_bits(form, place):
    blocks = random_blocks(form, 2 * 2048 + 7)  # two threads' pieces and a remainder
    expected = reference(form, blocks)
    found = unpacked(form.name, place(blocks.reshape(-1)), expected.size)
    assert np.array_equal(found.view(np.uint32), expected.reshape(-1).view(np.uint32))


def test_threads_share_one_look_for_the_compiled_loop(monkeypatch):
    form, kernel_of, asked = FORMATS["Q8_0"], blocks.kernel_of, []
    monkeypatch.setattr(blocks, "kernel_of", lambda *args: asked.append(args) or kernel_of(*args))
    data = random_blocks(form, 4 * 2048)
    assert np.array_equal(
        unpacked(form.name, data.reshape(-1), data.shape[0] * 32), reference(form, data).reshape(-1)
    )
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["MXFP4", "NVFP4"])
def test_every_scale_of_a_byte_unpacks_to_the_references_bits(name):
    form = FORMATS[name]
    blocks = random_blocks(form, 256)
    blocks[:, 0] = np.arange(256)
    with np.errstate(over="ignore"):
        expected = reference(form, blocks)
    found = unpacked(name, blocks.reshape(-1), expected.size)
    assert np.array_equal(found.view(np.uint32), expected.reshape(-1).view(np.uint32))


@every_format
def test_the_description_fits_the_words_of_a_block(form):
    """Its words lie in the block; quants and scales are as many, and as large, as it says."""
    words = Words(random_blocks(form, 1)[0])
    parts = form.split(words)
    assert all(0 <= at <= form.nbytes - 4 for at in words.read)
    quants = [quad >> 8 * byte & 255 for quad in parts.quads for byte in range(4)]
    assert len(quants) == form.values
    assert max(quants) < 1 << form.bits
    assert (parts.minimum is not None) == form.minima
    kinds = 2 if form.minima else 1
    assert len(parts.small) == (kinds * form.values // form.group if form.supers else 0)
    assert len(form.levels) in (0, 1 << form.bits)


@pytest.mark.parametrize(
    ("form", "bits"),
    [
        (form, bits)
        for form in BLOCKS
        for bits in ([0xFD, 0xFF] if form.scale == "E8M0" else [0x7C00, 0xFC00, 0x7C01, 0xFE00, 0x7FFF])
        if form.scale != "E4M3"  # whose NaN counts as 0
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_scales_that_are_not_finite_are_invalid(form, bits):
    blocks = random_blocks(form, 5)
    assert form.valid([blocks.reshape(-1)])
    for place in form.scales:
        damaged = blocks.copy()
        put_halves(form, damaged[4:], place, np.array([bits], np.uint16))
        assert not form.valid([damaged.reshape(-1)])


@every_format
def test_large_scales_and_any_quants_are_valid(form):
    blocks = np.full((3, form.nbytes), 0xFF, np.uint8)
    largest = 2.0**125 if form.scale == "E8M0" else -LARGEST
    scales = np.full((3, len(form.scales)), largest)
    assert form.valid([with_scales(form, blocks, scales).reshape(-1)])


@every_plain
@pytest.mark.parametrize("place", [np.copy, at_odd_address])
def test_plain_numbers_become_float32(name, place):
    numbers = np.array([1.0, -0.0, 0.5, -2.25, 100.0], np.float32)  # exact in every format
    found = unpacked(name, place(stored(name, numbers)), 5)
    assert np.array_equal(found.view(np.uint32), numbers.view(np.uint32))


@every_plain
@pytest.mark.parametrize("place", [np.copy, at_odd_address])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -np.nan])
@pytest.mark.parametrize("sign", [1, -1])
def test_plain_numbers_that_are_not_finite_are_invalid(name, place, value, sign):
    numbers = sign * np.array([0.0, 3.0, 60000.0, 1e-7], np.float32)
    form = FORMATS[name]
    for finite in (numbers, numbers[:1], numbers[:0], -numbers, np.concatenate([numbers, -numbers])):
        assert form.valid([place(stored(name, finite))])
    numbers[2] = value
    assert not form.valid([place(stored(name, numbers))])


def test_an_unknown_format_is_refused_with_the_supported_ones():
    with pytest.raises(UnsupportedModel, match="NEW_FORMAT") as caught:
        format_named("NEW_FORMAT")
    assert all(name in caught.value.hint for name in FORMATS)
    assert format_named("Q4_K").name == "Q4_K"
