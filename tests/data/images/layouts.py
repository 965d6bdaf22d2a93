"""Small data sets in the published layouts, with a image of its own color for every image."""

from __future__ import annotations

import gzip
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat


def write_image(path: Path, color: int = 0, size: tuple[int, int] = (6, 4)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (color % 256, 2 * color % 256, 100)).save(path)


def sop(root: Path, classes: int = 20, images: int = 3) -> Path:
    """Classes 1 to ``classes`` to train on, as many to test on, in two super-classes."""
    folder = root / "Stanford_Online_Products"
    number = 0
    for part, first in (("train", 1), ("test", classes + 1)):
        lines = ["image_id class_id super_class_id path"]
        for label in range(first, first + classes):
            family = 1 if label % 2 else 2
            for image in range(images):
                number += 1
                name = f"{'bicycle' if family == 1 else 'sofa'}_final/{label}_{image}.JPG"
                write_image(folder / name, number)
                lines.append(f"{number} {label} {family} {name}")
        (folder / f"Ebay_{part}.txt").write_text("\n".join(lines) + "\n")
    return root


def vehicleid(root: Path) -> Path:
    """Ten vehicles to train on; lists of 2, 3 and 5 to test on, the first within the second."""
    folder = root / "VehicleID_V1.0"
    lists = {
        "train_list": range(10),
        "test_list_800": range(20, 22),
        "test_list_1600": range(20, 23),
        "test_list_2400": range(30, 35),
    }
    (folder / "train_test_split").mkdir(parents=True)
    for name, vehicles in lists.items():
        lines = []
        for vehicle in vehicles:
            for image in range(2):
                number = f"{10 * vehicle + image:07d}"
                write_image(folder / "image" / f"{number}.jpg", vehicle)
                lines.append(f"{number} {vehicle}")
        (folder / "train_test_split" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return root


def inaturalist(root: Path) -> Path:
    """Seven birds and five plants to train on, two birds to test on."""
    species = {
        "train": [("Aves", n) for n in range(7)] + [("Plantae", n) for n in range(10, 15)],
        "test": [("Aves", 7), ("Aves", 8)],
    }
    (root / "Inat_dataset_splits").mkdir(parents=True)
    for part, found in species.items():
        names = [f"train_val2018/{f}/{n}/{i}.jpg" for f, n in found for i in range(1 + n % 3)]
        for name in names:
            write_image(root / name)
        file = root / "Inat_dataset_splits" / f"Inaturalist_{part}_set1.txt"
        file.write_text("\n".join(names) + "\n")
    return root


def cub200(root: Path, classes: int = 12) -> Path:
    folder = root / "CUB_200_2011"
    images, labels, names = [], [], []
    for label in range(1, classes + 1):
        name = f"{label:03d}.Bird_{label}"
        names.append(f"{label} {name}")
        for image in range(2):
            number = len(images) + 1
            images.append(f"{number} {name}/Bird_{image}.jpg")
            labels.append(f"{number} {label}")
            write_image(folder / "images" / name / f"Bird_{image}.jpg", number)
    (folder / "images.txt").write_text("\n".join(images) + "\n")
    (folder / "image_class_labels.txt").write_text("\n".join(labels) + "\n")
    (folder / "classes.txt").write_text("\n".join(names) + "\n")
    return root


def _struct(rows: list[dict[str, object]]) -> np.ndarray:
    made = np.empty((1, len(rows)), dtype=[(name, object) for name in rows[0]])
    for i, row in enumerate(rows):
        made[0, i] = tuple(row.values())
    return made


def _cells(names: list[str]) -> np.ndarray:
    made = np.empty((1, len(names)), dtype=object)
    made[0, :] = names
    return made


def cars_whole(root: Path, classes: int = 10) -> Path:
    """``cars_annos.mat`` with ``car_ims``."""
    rows = []
    for i in range(2 * classes):
        name = f"car_ims/{i + 1:06d}.jpg"
        write_image(root / name, i)
        rows.append({"relative_im_path": name, "bbox_x1": 1, "class": i // 2 + 1, "test": i % 2})
    names = [f"Make Model {i}" for i in range(classes)]
    savemat(root / "cars_annos.mat", {"annotations": _struct(rows), "class_names": _cells(names)})
    return root


def cars_parted(root: Path, classes: int = 10) -> Path:
    """``devkit`` and the two folders of images."""
    (root / "devkit").mkdir()
    files = {
        "cars_train": root / "devkit" / "cars_train_annos.mat",
        "cars_test": root / "cars_test_annos_withlabels.mat",
    }
    for folder, file in files.items():
        rows = []
        for i in range(classes):
            write_image(root / folder / f"{i + 1:05d}.jpg", i)
            rows.append({"bbox_x1": 1, "class": i + 1, "fname": f"{i + 1:05d}.jpg"})
        savemat(file, {"annotations": _struct(rows)})
    names = [f"Make Model {i}" for i in range(classes)]
    savemat(root / "devkit" / "cars_meta.mat", {"class_names": _cells(names)})
    return root


def folders(root: Path, classes: int = 12, images: int = 2) -> Path:
    for label in range(classes):
        for image in range(images):
            write_image(root / f"c{label}" / f"{image}.png", 10 * label + image)
    return root


def csv_file(root: Path, rows: list[str], header: str = "path,label") -> Path:
    root.mkdir(exist_ok=True)
    for row in rows:
        write_image(root / row.split(",")[0])
    (root / "images.csv").write_text("\n".join([header, *rows]) + "\n")
    return root


def idx(path: Path, values: np.ndarray) -> None:
    head = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    data = head + values.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def fashion_mnist(root: Path, ending: str = ".gz") -> Path:
    """Two of every class to train on and one to test on; image ``i`` is all ``i``."""
    for part, labels in (("train", [*range(10), *range(10)]), ("t10k", [*range(10)])):
        pixels = np.arange(len(labels))[:, None, None] * np.ones((1, 28, 28))
        idx(root / f"{part}-images-idx3-ubyte{ending}", pixels)
        idx(root / f"{part}-labels-idx1-ubyte{ending}", np.array(labels))
    return root


def drawing(color: int, size: int = 105) -> bytes:
    held = BytesIO()
    image = Image.new("1", (size, size), 1)
    image.putpixel((color % size, color // size), 0)
    image.save(held, "PNG")
    return held.getvalue()


def omniglot_zip(root: Path, archive: str, alphabets: dict[str, int], damaged: int = 0) -> Path:
    """So many characters of every alphabet, two drawings each; the first few are damaged."""
    with zipfile.ZipFile(root / f"{archive}.zip", "w") as held:
        held.writestr(f"{archive}/", "")
        for alphabet, characters in alphabets.items():
            for character in range(1, characters + 1):
                for image in range(2):
                    name = f"{alphabet}/character{character:02d}/0001_{image:02d}.png"
                    data = drawing(sum(name.encode()))
                    held.writestr(f"{archive}/{name}", data[:40] if damaged > 0 else data)
                    damaged -= 1
    return root


def cifar_binary(root: Path, classes: int) -> Path:
    """Ten images a file; the red of image ``i`` is ``i``, green and blue are 1 and 2."""
    hundred = classes == 100
    files = ["train.bin", "test.bin"] if hundred else [
        *(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]  # fmt: skip
    for number, file in enumerate(files):
        records = []
        for i in range(classes):
            planes = np.repeat(np.array([i, 1, 2], dtype=np.uint8), 1024)
            head = [number, i] if hundred else [i]
            records.append(np.concatenate([np.array(head, dtype=np.uint8), planes]))
        (root / file).write_bytes(np.concatenate(records).tobytes())
    names = "fine_label_names.txt" if hundred else "batches.meta.txt"
    (root / names).write_text("".join(f"class{i}\n" for i in range(classes)) + "\n")
    return root
