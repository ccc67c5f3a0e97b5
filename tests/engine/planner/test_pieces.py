"""Only whole pieces are lent, chunk by chunk, spread evenly."""

from engine.planner.pieces import Near, Product, near_products

LARGE, SMALL = Product(8, 40), Product(16, 10)
PRODUCTS, LAYERS, SLOT = (LARGE, SMALL), 12, 33  # pieces of 33, 7 and 10; the last two share a chunk


def lent(nbytes: int, on_card: int = 0, in_ram: int = 600) -> dict[Near, int]:
    return dict(near_products(PRODUCTS, LAYERS, SLOT, (on_card, in_ram), nbytes))


def test_a_part_of_a_product_is_lent_as_whole_pieces():
    near = lent(300)
    assert near.keys() <= {Near(LARGE, (33,)), Near(LARGE, (7,)), Near(LARGE, (33, 7)), Near(SMALL, (10,))}
    assert 300 - SLOT < sum(each.nbytes * count for each, count in near.items()) <= 300


def test_pieces_of_one_chunk_are_lent_together():
    near = lent(300)
    with_rest = sum(count for each, count in near.items() if 7 in each.pieces)
    assert with_rest == near[Near(SMALL, (10,))] > 0


def test_everything_or_nothing_may_be_lent():
    assert lent(600) == {Near(LARGE, (33, 7)): LAYERS, Near(SMALL, (10,)): LAYERS}
    assert lent(0) == {}


def test_what_is_on_the_card_or_on_the_ssd_is_not_lent():
    assert sum(each.nbytes * count for each, count in lent(600, on_card=300).items()) <= 300 + SLOT
    assert lent(600, in_ram=0) == lent(600, on_card=600) == {}
