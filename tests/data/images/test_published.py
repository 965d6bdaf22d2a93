"""Stanford Online Products, VehicleID, iNaturalist: their files as published, and damaged ones."""

import pytest
import torch
from PIL import Image
from scipy.io import savemat
from tests.data.images import layouts

from rankwise.data import DataError
from rankwise.data.images import open_classes, open_images
from rankwise.data.images._published import FINDINGS, chestxray


def refused(kind, root, *words):
    with pytest.raises(DataError) as caught:
        open_images(kind, root)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


def test_products(tmp_path):
    splits = open_images("sop", layouts.sop(tmp_path))
    # 10 classes of either super-class: one of each to choose by
    assert (len(splits.train), len(splits.train.classes)) == (18 * 3, 18)
    assert (len(splits.validation), len(splits.validation.classes)) == (2 * 3, 2)
    assert sorted(int(name) % 2 for name in splits.validation.classes) == [0, 1]
    assert splits.test.classes == tuple(str(i) for i in range(21, 41))
    assert splits.galleries is None
    assert splits.test.load(0).shape == (3, 4, 6)
    inside = open_images("sop", tmp_path / "Stanford_Online_Products")
    assert inside.train.paths == splits.train.paths
    trainval = open_images("sop", tmp_path, trainval=True)
    assert (len(trainval.train), len(trainval.validation), len(trainval.test)) == (60, 0, 60)


def test_the_draw_of_the_products_goes_by_the_seed(tmp_path):
    root = layouts.sop(tmp_path)
    draws = {open_images("sop", root, seed=seed).validation.classes for seed in range(4)}
    assert len(draws) > 1
    assert (
        open_images("sop", root, seed=3).train.paths == open_images("sop", root, seed=3).train.paths
    )
    assert len(open_images("sop", root, validation_share=0.3).validation.classes) == 6


def test_missing_files_are_named_and_counted_or_left_out(tmp_path):
    root = layouts.sop(tmp_path)
    whole = open_images("sop", root)
    folder = root / "Stanford_Online_Products" / "bicycle_final"
    for path in sorted(folder.glob("1?_*.JPG"))[:12]:  # 11, 13, 15, 17
        path.unlink()
    (folder / "1_0.JPG").write_bytes(b"")
    with pytest.raises(DataError) as caught:
        open_images("sop", root)
    message = str(caught.value)
    assert message.startswith("sop: 13 images are missing or damaged: ")
    assert message.endswith("and 3 more; leave them out with skip_broken (--skip-broken)")
    assert message.count(".JPG") == 10
    assert "1_0.JPG: is empty" in message
    splits = open_images("sop", root, skip_broken=True)
    assert len(splits.dropped) == 13
    assert len(splits.train) + len(splits.validation) == 60 - 13
    gone = {"11", "13", "15", "17"}  # the draw is the same as with all files
    assert set(splits.validation.classes) == set(whole.validation.classes) - gone
    assert "left out: 13 files" in splits.describe()


def test_no_file_at_all_is_an_error_even_when_broken_ones_are_skipped(tmp_path):
    root = layouts.sop(tmp_path)
    for path in root.rglob("*.JPG"):
        path.unlink()
    with pytest.raises(DataError, match=r"sop train: there are no images; 120 images are missing"):
        open_images("sop", root, skip_broken=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("999 1", ["Ebay_test.txt: line 62", "2 fields where 4 belong", "'999 1'"]),
        ("999 99 1 bicycle_final/21_0.JPG", ["line 62", "is listed already", "line 2"]),
        ("999 99 1 bicycle_final/1_0.JPG", ["Ebay_test.txt: line 62", "Ebay_train.txt: line 2"]),
        ("999 22 1 bicycle_final/x.JPG", ["line 62", "class 22 is of super-class 1 here"]),
        ("999 1 1 bicycle_final/x.JPG", ["Ebay_train.txt and", "both to train on and", "'1'"]),
    ],
)
def test_a_wrong_line_of_the_products(tmp_path, line, words):
    root = layouts.sop(tmp_path)
    with (root / "Stanford_Online_Products" / "Ebay_test.txt").open("a") as file:
        file.write(f"{line}\n")
    refused("sop", root, *words)


def test_wrong_files_of_the_products(tmp_path):
    refused("sop", tmp_path / "nowhere", "nowhere: there is no such folder")
    refused("sop", tmp_path, "there is no Ebay_train.txt or Ebay_test.txt here")
    root = layouts.sop(tmp_path)
    file = root / "Stanford_Online_Products" / "Ebay_train.txt"
    whole = file.read_text()
    file.write_text(whole.replace("image_id", "id"))
    refused("sop", root, "Ebay_train.txt: line 1: the header must be 'image_id", "got 'id class_id")
    file.write_text(whole.splitlines()[0])
    refused("sop", root, "Ebay_train.txt: is empty")
    file.write_bytes(b"\xff\xfe\x00")
    refused("sop", root, "Ebay_train.txt: cannot be read as text")
    file.unlink()
    refused("sop", root, "Ebay_train.txt: there is no such file")


def test_vehicles(tmp_path):
    splits = open_images("vehicleid", layouts.vehicleid(tmp_path))
    assert (len(splits.train.classes), len(splits.validation.classes)) == (8, 2)
    assert len(splits.test) == 2 * 3 + 2 * 5  # the small list is within the medium one
    sizes = {name: len(gallery) for name, (_, gallery) in splits.galleries.items()}
    assert sizes == {"small": 4, "medium": 6, "large": 10}
    for queries, gallery in splits.galleries.values():
        assert queries is gallery
        for path, label in zip(gallery.paths, gallery.labels, strict=True):
            assert path in splits.test.paths
            assert int(path.stem) // 10 == int(splits.test.classes[label])
    assert splits.train.paths[0].parent.name == "image"


def test_wrong_lines_of_the_vehicles(tmp_path):
    root = layouts.vehicleid(tmp_path)
    lists = root / "VehicleID_V1.0" / "train_test_split"
    small, large = lists / "test_list_800.txt", lists / "test_list_2400.txt"
    before = small.read_text(), large.read_text()
    large.write_text(before[1] + "0000200 33\n")
    refused("vehicleid", root, "test_list_2400.txt", "0000200 is vehicle 33 here and vehicle 20")
    large.write_text(before[1] + "0000000 0\n")
    refused("vehicleid", root, "test_list_2400.txt: 0000000 is in train_list.txt, too")
    large.write_text(before[1] + "0000999 0\n")
    refused("vehicleid", root, "train_list.txt and", "1 classes are both to train on")
    large.write_text(before[1])
    small.write_text(before[0] + "0000200 20\n")
    refused("vehicleid", root, "test_list_800.txt: line 5", "is listed already")
    small.unlink()
    refused("vehicleid", root, "test_list_800.txt: there is no such file")


def test_species(tmp_path):
    splits = open_images("inaturalist", layouts.inaturalist(tmp_path))
    # ⌈0.7⌉ birds and ⌈0.5⌉ plants to choose by
    assert sorted(name.split("/")[0] for name in splits.validation.classes) == ["Aves", "Plantae"]
    assert len(splits.train.classes) == 10
    assert splits.test.classes == ("Aves/7", "Aves/8")
    assert splits.test.counts.tolist() == [2, 3]
    splits.test.load(0)


def test_the_lists_of_species_may_lie_beside_the_images_with_other_paths(tmp_path):
    root = layouts.inaturalist(tmp_path)
    before = open_images("inaturalist", root)
    for file in (root / "Inat_dataset_splits").iterdir():
        text = file.read_text().replace("train_val2018", "/elsewhere/train_val2018")
        (root / file.name).write_text(text)
        file.unlink()
    assert open_images("inaturalist", root).train.paths == before.train.paths


def test_wrong_lines_of_the_species(tmp_path):
    root = layouts.inaturalist(tmp_path)
    file = root / "Inat_dataset_splits" / "Inaturalist_test_set1.txt"
    before = file.read_text()
    file.write_text(before + "Aves/8/0.jpg\n")
    refused("inaturalist", root, "test_set1.txt: line 6", "train_val2018/super-class/class/file")
    file.write_text(before + "train_val2018/Aves/1/new.jpg\n")
    refused("inaturalist", root, "both to train on and to test on", "'Aves/1'")
    file.write_text("")
    refused("inaturalist", root, "test_set1.txt: is empty")


def test_birds(tmp_path):
    splits = open_images("cub200", layouts.cub200(tmp_path))
    assert splits.test.classes == tuple(f"{i:03d}.Bird_{i}" for i in range(7, 13))
    assert (len(splits.train.classes), len(splits.validation.classes)) == (4, 2)
    assert splits.test.paths[0].name == "Bird_0.jpg"
    assert splits.test.load(0)[0].unique().tolist() == [13]


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("images.txt", "25 new/a.jpg", "image_class_labels.txt: there is no image 25, which"),
        ("image_class_labels.txt", "25 1", "images.txt: there is no image 25, which"),
        ("image_class_labels.txt", "24 1", "image_class_labels.txt: line 25: '24' is listed"),
        ("classes.txt", "13", "classes.txt: line 13: 1 fields where 2 belong"),
    ],
)
def test_wrong_files_of_the_birds(tmp_path, file, line, message):
    root = layouts.cub200(tmp_path)
    with (root / "CUB_200_2011" / file).open("a") as text:
        text.write(f"{line}\n")
    with pytest.raises(DataError, match=message):
        open_images("cub200", root)


def test_a_bird_of_no_class(tmp_path):
    root = layouts.cub200(tmp_path)
    file = root / "CUB_200_2011" / "image_class_labels.txt"
    file.write_text(file.read_text().replace("24 12\n", "24 77\n"))
    with pytest.raises(DataError, match=r"there is no class 77, .* gives to image 24"):
        open_images("cub200", root)


@pytest.mark.parametrize("layout", [layouts.cars_whole, layouts.cars_parted])
def test_cars(tmp_path, layout):
    splits = open_images("cars196", layout(tmp_path))
    assert splits.test.classes == tuple(f"Make Model {i}" for i in range(5, 10))
    assert (len(splits.train.classes), len(splits.validation.classes)) == (3, 2)
    assert splits.test.counts.tolist() == [2] * 5
    splits.test.load(9)


def test_wrong_files_of_the_cars(tmp_path):
    root = layouts.cars_parted(tmp_path)
    test = root / "cars_test_annos_withlabels.mat"
    labeled = test.read_bytes()
    (root / "devkit" / test.name).write_bytes(labeled)
    test.unlink()
    assert len(open_images("cars196", root).test) == 10  # it may be in the devkit, too
    (root / "devkit" / test.name).unlink()
    with pytest.raises(DataError, match=r"annos_withlabels\.mat: there is no such file"):
        open_images("cars196", root)
    test.write_bytes(labeled[:200])
    with pytest.raises(DataError, match=r"cannot be read as a MATLAB file|holds no variable"):
        open_images("cars196", root)
    savemat(test, {"annotations": layouts._struct([{"fname": "1.jpg", "bbox_x1": 1}])})
    with pytest.raises(DataError, match="annotation 1 has no fields 'fname' and 'class'"):
        open_images("cars196", root)
    savemat(test, {"annotations": layouts._struct([{"fname": "1.jpg", "class": 11}])})
    with pytest.raises(DataError, match="annotation 1: the class must be a number 1 to 10, got 11"):
        open_images("cars196", root)
    savemat(test, {"other": 1})
    with pytest.raises(DataError, match="holds no variable 'annotations'"):
        open_images("cars196", root)
    savemat(root / "devkit" / "cars_meta.mat", {"class_names": layouts._cells(["a", "a"])})
    with pytest.raises(DataError, match="two classes have the same name"):
        open_images("cars196", root)


HEADER = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age\n"


def chest(root, rows=None, *, images=True):
    """The published layout: patients 1 to 6 to train on, 7 and 8 to test on."""
    if rows is None:
        labels = ["No Finding", "Mass", "Mass|Hernia", "Edema"]
        rows = [
            (f"{patient:08}_{visit:03}.png", labels[(patient + visit) % 4], patient)
            for patient in range(1, 9)
            for visit in range(2)
        ]
    table = "".join(f"{name},{label},0,{patient},50\n" for name, label, patient in rows)
    (root / "Data_Entry_2017.csv").write_text(HEADER + table)
    train = [name for name, _, patient in rows if patient < 7]
    (root / "train_val_list.txt").write_text("\n".join(train) + "\n")
    (root / "test_list.txt").write_text("\n".join(n for n, _, p in rows if p >= 7))
    for number, (name, _, _) in enumerate(rows):
        place = root / f"images_00{number % 2 + 1}" / "images"
        place.mkdir(parents=True, exist_ok=True)
        if images:
            Image.new("L", (6, 6), number).save(place / name)
    return root


def test_findings_parts_and_files(tmp_path):
    found = chestxray(chest(tmp_path))
    assert found.classes == FINDINGS
    assert len(FINDINGS) == 14
    assert found.parts.count("test") == 4
    row = [path.name for path in found.paths].index("00000001_001.png")  # (1 + 1) % 4: two
    assert {FINDINGS[i] for i in found.target[row].nonzero().flatten()} == {"Mass", "Hernia"}
    nothing = [path.name for path in found.paths].index("00000004_000.png")
    assert found.target[nothing].sum() == 0
    assert all(path.is_file() for path in found.paths)


def test_validation_is_by_patient(tmp_path):
    splits = open_classes("chestxray14", chest(tmp_path), validation_share=0.375 * 0.9)
    patients = [
        {path.name[:8] for path in part.images.paths}
        for part in (splits.train, splits.validation, splits.test)
    ]
    assert [len(part) for part in patients] == [4, 2, 2]
    assert not patients[0] & patients[1]
    assert patients[2] == {"00000007", "00000008"}
    assert splits.train.multi_label
    # Images of one label number have the same labels.
    for number in splits.train.images.labels.unique():
        same = splits.train.target[splits.train.images.labels == number]
        assert torch.equal(same, same[:1].expand_as(same))


def test_missing_xrays_are_named_with_their_count(tmp_path):
    chest(tmp_path, images=False)
    with pytest.raises(DataError, match=r"16 images are missing or damaged: .*; and 6 more"):
        open_classes("chestxray14", tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("Data_Entry_2017.csv", "a,b\n1,2\n", "there is no column Image Index"),
        ("Data_Entry_2017.csv", HEADER + "x.png,Cold,0,1,50\n", "line 2: 'Cold' is not a finding"),
        ("test_list.txt", "unknown.png\n", "'unknown.png' is not in Data_Entry_2017.csv"),
        ("test_list.txt", "00000001_000.png\n", "'00000001_000.png' is listed already, in"),
        ("test_list.txt", "", "is empty"),
    ],
)
def test_what_is_wrong_with_the_findings_is_said(tmp_path, file, text, message):
    chest(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(DataError, match=message):
        chestxray(tmp_path)


def test_a_patient_in_both_lists(tmp_path):
    rows = [("a.png", "Mass", 1), ("b.png", "Mass", 7), ("c.png", "Edema", 2)]
    chest(tmp_path, rows)
    table = (tmp_path / "Data_Entry_2017.csv").read_text().replace(",7,", ",1,")
    (tmp_path / "Data_Entry_2017.csv").write_text(table)
    with pytest.raises(DataError, match=r"test_list\.txt: 1 patients are both"):
        chestxray(tmp_path)
    (tmp_path / "Data_Entry_2017.csv").unlink()
    with pytest.raises(DataError, match="there is no such file"):
        chestxray(tmp_path)
