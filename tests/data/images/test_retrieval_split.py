"""The rest of the classes in two: the paper's counts, and what a draw must hold to."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.images import layouts
from tests.data.images.layouts import write_image

from rankwise.data import DataError
from rankwise.data.images import open_images
from rankwise.data.images._listing import Listing, by_halves, in_order
from rankwise.data.images._retrieval_split import (
    Draw,
    divide,
    validation_classes,
    validation_count,
)
from rankwise.data.images.image_file import BrokenImage


def test_the_vehicles_of_table_1():
    # 13 164 = 11 847 + 1 317, without super-classes.
    names = [str(i) for i in range(13_164)]
    chosen = validation_classes(names, {}, 0.1, seed=0)
    assert (len(names) - len(chosen), len(chosen)) == (11_847, 1_317)


def spread(total, families, seed):
    """``total`` classes in so many super-classes of random size, each of two at least."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(families, (total - 2 * families,), generator=generator).tolist()
    members = [*range(families), *range(families), *drawn]
    return {f"{family}/{i}": str(family) for i, family in enumerate(members)}


@pytest.mark.parametrize(
    ("total", "families", "paper"),
    [(11_318, 12, 1_137), (5_690, 13, 575)],  # products, species
)
def test_the_products_and_species_of_table_1(total, families, paper):
    # ⌈n/10⌉ of every super-class: a tenth, and for each super-class less than one class more. The
    # paper's counts are in that range, and above ⌈total/10⌉: it divided by super-class, too.
    low, high = -(-total // 10), (total + 9 * families) // 10
    assert low < paper < high
    for seed in range(3):
        of_class = spread(total, families, seed)
        chosen = validation_classes(of_class, of_class, 0.1, seed=seed)
        sizes = [sum(family == str(f) for family in of_class.values()) for f in range(families)]
        assert len(chosen) == sum(-(-size // 10) for size in sizes)
        assert low <= len(chosen) <= high


def test_a_share_is_rounded_up_and_leaves_one():
    assert [validation_count(n, 0.1) for n in (1, 2, 9, 10, 11, 20, 70)] == [0, 1, 1, 1, 2, 2, 7]
    assert validation_count(7, 0.7) == 5  # 4.9 up
    assert validation_count(10, 0.3) == 3  # though 0.3 · 10 may lie a little above 3
    assert validation_count(4, 0.99) == 3


@settings(max_examples=30)
@given(
    st.dictionaries(st.text("abc01", min_size=1, max_size=4), st.sampled_from("xyz"), min_size=4),
    st.floats(0.01, 0.9),
    st.integers(0, 5),
    st.randoms(use_true_random=False),
)
def test_a_draw(families, share, seed, random):
    chosen = validation_classes(families, families, share, seed)
    shuffled = list(families)
    random.shuffle(shuffled)
    assert validation_classes(shuffled, families, share, seed) == chosen
    assert chosen <= families.keys()
    assert len(chosen) >= 2
    assert chosen != families.keys()


def test_another_seed_is_another_draw():
    names = [str(i) for i in range(100)]
    draws = {validation_classes(names, {}, 0.1, seed) for seed in range(5)}
    assert len(draws) == 5


def test_two_are_drawn_where_a_tenth_is_one():
    assert len(validation_classes("abcde", {}, 0.1, 0)) == 2
    with pytest.raises(DataError, match=r"made: 3 classes are too few .*trainval"):
        split_of(pixels_of("abcd", ["train", "train", "train", "test"]))


def pixels_of(labels, parts, **more):
    pixels = torch.arange(len(labels), dtype=torch.uint8)[:, None, None, None]
    return Listing("made", labels, parts, pixels=pixels, **more)


def split_of(listing, **change):
    skip_broken = change.pop("skip_broken", False)
    return divide(listing, Draw(**change), skip_broken=skip_broken)


def test_no_class_is_in_two_parts_and_no_image_is_lost():
    labels = [str(i // 3) for i in range(90)]
    parts = by_halves(labels, in_order(labels))
    splits = split_of(pixels_of(labels, parts))
    found = [splits.train, splits.validation, splits.test]
    assert [len(s) for s in found] == [39, 6, 45]
    assert sorted(int(s.load(i)[0]) for s in found for i in range(len(s))) == list(range(90))
    for images in found:
        for i in range(len(images)):  # the label of an image is still its own
            assert images.classes[int(images.labels[i])] == labels[int(images.load(i)[0])]
    assert len({name for images in found for name in images.classes}) == 30
    assert splits.test.classes == tuple(str(i) for i in range(15, 30))
    assert [s.name for s in found] == ["made train", "made validation", "made test"]


def test_everything_but_the_test_images_can_be_trained_on():
    splits = split_of(pixels_of("abcd", ["train", "validation", "train", "test"]), validation=False)
    assert (splits.train.classes, len(splits.validation)) == (("a", "b", "c"), 0)
    assert splits.test.classes == ("d",)


def test_a_validation_part_that_is_given_is_kept():
    splits = split_of(pixels_of("abcd", ["train", "validation", "train", "test"]))
    assert (splits.train.classes, splits.validation.classes) == (("a", "c"), ("b",))


def test_a_part_without_images_and_too_few_classes_are_told():
    with pytest.raises(DataError, match="made test: there are no images"):
        split_of(pixels_of("abcd", ["train"] * 4))
    with pytest.raises(DataError, match="made: 2 classes are too few"):
        split_of(pixels_of("abc", ["train", "train", "test"]))


def test_galleries_have_the_ids_of_the_test_part():
    parts = ["train"] * 4 + ["test"] * 4
    splits = split_of(pixels_of("abcdeffg", parts, lists={"small": [5, 6], "large": [7, 4]}))
    queries, gallery = splits.galleries["small"]
    assert queries is gallery
    assert [gallery.classes[i] for i in gallery.labels] == ["f", "f"]
    assert torch.equal(splits.galleries["large"][1].labels, torch.tensor([2, 0]))
    assert gallery.name == "made test small"


def test_damage_of_an_archive_ends_it_or_is_handed_on():
    listing = pixels_of(
        "aabbcdee", ["train"] * 6 + ["test"] * 2, broken={1: BrokenImage("x", "why")}
    )
    with pytest.raises(DataError, match="made: 1 image is missing or damaged: x: why"):
        split_of(listing)
    splits = split_of(listing, skip_broken=True)
    assert [str(b) for b in splits.dropped] == ["x: why"]
    parts = (splits.train, splits.validation, splits.test)
    values = sorted(int(s.load(i)[0]) for s in parts for i in range(len(s)))
    assert values == [0, 2, 3, 4, 5, 6, 7]


def test_names_are_in_order_of_their_numbers():
    assert in_order(["c10", "c9", "b", "10", "9", "9"]) == ["9", "10", "b", "c9", "c10"]
    assert by_halves("cabab", ["a", "b", "c"]) == ["test", "train", "test", "train", "test"]


def parts_of(splits):
    return splits.train, splits.validation, splits.test


def counts(splits):
    return [(len(part.classes), len(part)) for part in parts_of(splits)]


def test_test_classes_are_drawn_by_seed_and_not_by_name(tmp_path):
    root = layouts.folders(tmp_path, classes=20)
    drawn = {open_images("folder", root, seed=seed).test.classes for seed in range(4)}
    assert len(drawn) == 4
    halves = open_images("folder", root, test_share=0.5)
    assert counts(halves)[2] == (10, 20)
    assert halves.test.classes != tuple(f"c{i}" for i in range(10, 20))
    assert halves.test.classes == open_images("folder", root, test_share=0.5).test.classes


def test_no_class_of_a_test_image_is_trained_on_and_the_split_is_said(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=20, images=3), seed=7)
    assert counts(splits) == [(14, 42), (2, 6), (4, 12)]
    assert len({name for part in parts_of(splits) for name in part.classes}) == 20
    assert splits.remarks == (
        "split: of 20 classes 4 test, 2 validation and 14 train, drawn by class at random "
        "(data.seed 7)",
    )


def test_a_share_too_large_leaves_two_classes_for_every_part(tmp_path):
    root = layouts.folders(tmp_path, classes=8)
    splits = open_images("folder", root, test_share=0.9, validation_share=0.9)
    assert [classes for classes, _ in counts(splits)] == [2, 2, 4]


def test_few_classes_are_divided_by_images_and_that_is_said(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=3, images=10))
    assert counts(splits) == [(3, 18), (3, 6), (3, 6)]
    seen = [path for part in parts_of(splits) for path in part.paths]
    assert len(set(seen)) == len(seen) == 30
    assert "3 classes with two images or more are too few to keep" in splits.remarks[0]
    assert "3 of 3 test classes are trained on" in splits.describe()


def test_three_classes_of_four_images_can_be_divided(tmp_path):
    splits = open_images("folder", layouts.folders(tmp_path, classes=3, images=4))
    assert counts(splits) == [(3, 6), (0, 0), (3, 6)]
    assert any(line.startswith("no validation: ") for line in splits.remarks)


def test_a_split_by_images_on_request(tmp_path):
    root = layouts.folders(tmp_path, classes=12, images=10)
    splits = open_images("folder", root, split="images", test_share=0.3)
    assert counts(splits) == [(12, 60), (12, 24), (12, 36)]
    with pytest.raises(
        DataError, match=r"split by classes needs 6 classes .*; got 3; set split to"
    ):
        open_images("folder", layouts.folders(tmp_path / "few" / "x", classes=3), split="classes")


def test_a_class_with_one_image_is_trained_on_only_and_named(tmp_path):
    root = layouts.folders(tmp_path, classes=8)
    for name in ("solo", "lone"):
        write_image(root / name / "a.png")
    for seed in range(5):
        splits = open_images("folder", root, seed=seed)
        assert {"solo", "lone"} <= set(splits.train.classes)
    assert splits.remarks[-1] == (
        "2 classes have a single image, which is trained on and never tested: lone, solo"
    )


def test_what_cannot_be_divided_says_what_is_needed(tmp_path):
    with pytest.raises(
        DataError, match=r"two classes with four images or more .* got 0; by classes"
    ):
        open_images("folder", layouts.folders(tmp_path, classes=5, images=1))


def test_published_test_classes_are_not_drawn(tmp_path):
    root = layouts.cub200(tmp_path)
    for how in ({"test_share": 0.3}, {"split": "images"}):
        with pytest.raises(DataError, match="cub200: the test classes are those of the published"):
            open_images("cub200", root, **how)
    with pytest.raises(ValueError, match=r"test_share must be between 0 and 1, got 1.5"):
        open_images("cub200", root, test_share=1.5)


def test_given_parts_of_few_classes_get_their_validation_from_the_images(tmp_path):
    for part in ("train", "test"):
        layouts.folders(tmp_path / part, classes=3, images=6)
    splits = open_images("folder", tmp_path)
    assert counts(splits) == [(3, 12), (3, 6), (3, 18)]
