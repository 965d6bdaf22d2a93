from __future__ import annotations

import pytest
import torch
from PIL import Image

from rankwise.data import DataError
from rankwise.data.images._chestxray import FINDINGS, chestxray
from rankwise.data.images.readers import open_classes

HEADER = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age\n"


def made(root, rows=None, *, images=True):
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
    found = chestxray(made(tmp_path))
    assert found.classes == FINDINGS
    assert len(FINDINGS) == 14
    assert found.parts.count("test") == 4
    row = [path.name for path in found.paths].index("00000001_001.png")  # (1 + 1) % 4: two
    assert {FINDINGS[i] for i in found.target[row].nonzero().flatten()} == {"Mass", "Hernia"}
    nothing = [path.name for path in found.paths].index("00000004_000.png")
    assert found.target[nothing].sum() == 0
    assert all(path.is_file() for path in found.paths)


def test_validation_is_by_patient(tmp_path):
    splits = open_classes("chestxray14", made(tmp_path), validation_share=0.375 * 0.9)
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


def test_missing_files_are_named_with_their_count(tmp_path):
    made(tmp_path, images=False)
    with pytest.raises(DataError, match=r"16 images are missing or damaged: .*; and 6 more"):
        open_classes("chestxray14", tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("Data_Entry_2017.csv", "a,b\n1,2\n", "there is no column Image Index"),
        ("Data_Entry_2017.csv", HEADER + "x.png,Cold,0,1,50\n", "line 2: 'Cold' is no finding"),
        ("test_list.txt", "unknown.png\n", "'unknown.png' is not in Data_Entry_2017.csv"),
        ("test_list.txt", "00000001_000.png\n", "'00000001_000.png' is listed already, in"),
        ("test_list.txt", "", "is empty"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, file, text, message):
    made(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(DataError, match=message):
        chestxray(tmp_path)


def test_a_patient_in_both_lists(tmp_path):
    rows = [("a.png", "Mass", 1), ("b.png", "Mass", 7), ("c.png", "Edema", 2)]
    made(tmp_path, rows)
    table = (tmp_path / "Data_Entry_2017.csv").read_text().replace(",7,", ",1,")
    (tmp_path / "Data_Entry_2017.csv").write_text(table)
    with pytest.raises(DataError, match=r"test_list\.txt: 1 patients are both"):
        chestxray(tmp_path)
    (tmp_path / "Data_Entry_2017.csv").unlink()
    with pytest.raises(DataError, match="there is no such file"):
        chestxray(tmp_path)
