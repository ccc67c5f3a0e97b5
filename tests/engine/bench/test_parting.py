from engine.bench.parting import GreedyText, compare, curves, table


def text(tokens, margin=1.0):
    return GreedyText(tokens, [margin + place for place in range(len(tokens))])


def test_only_the_first_difference_counts():
    ours = [text(list(range(32))), text(list(range(32))), text(list(range(20)))]
    theirs = [
        text(list(range(32))),
        text([*range(9), 99, *range(10, 32)]),
        text(list(range(25))),  # continues after the other has ended
    ]
    found = compare("a", "b", ours, theirs, 32)
    assert found.partings == [None, 9, 20]
    assert found.margins == [10.0, 20.0]
    assert {place: round(share.value, 3) for place, share in found.equal.items()} == {
        8: 1.0,
        16: 0.667,
        32: 0.333,
    }


def test_a_row_and_a_curve_for_each_pair():
    found = [compare("a", "b", [text([1, 2])], [text([1, 2])], 16)]
    assert list(table(found))[-1] == "| a / b | 100 % | 100 % | – |"
    assert list(curves(found)[0].points) == [8.0, 16.0]
