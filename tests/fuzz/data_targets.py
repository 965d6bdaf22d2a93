"""The readers of data: tables, lists, images and settings."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import polars as pl
import sklearn.datasets
import xgboost
from PIL import Image
from scipy.io import savemat
from tests.fuzz.target import Target, json_seeds, npz_seeds, text_seeds

from rankwise import _parquet, _yaml, estimators
from rankwise.data import interactions, letor, read_table
from rankwise.data.detection import readers as detection
from rankwise.data.images import arrays, image_file, readers
from rankwise.data.letor import _cache
from rankwise.files import read_npz
from rankwise.settings import TaskSettings
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.tasks.detection.settings import Settings as Detection

# Imported before the processes are forked, not by each of them again.
WARM = (_parquet, _yaml, lightgbm, xgboost, sklearn.datasets, detection, readers)
WARM += (letor.read_letor, letor.read_run, letor.read_qrels, estimators.BoostedRanker)
WARM += (interactions.read_interactions, interactions.read_features)

_ROWS = 24
_CSV = "\n".join(
    ["x,word,when,price,y"]
    + [f"{i / 3},{'abc'[i % 3]},2023-01-{i + 1:02d},$1,{i:03d}.5,{i % 2}" for i in range(_ROWS)]
).replace("$1,", "$1")
_LETOR = "".join(
    f"{i % 3} qid:{i // 6} 1:{i / 7} 2:{i} 5:0.5 #docid = d{i}\n" for i in range(_ROWS)
)
_SVM = "".join(f"{i % 2} 1:{i / 7} {2 + i % 3}:{i} 7:0.5\n" for i in range(_ROWS))
_RATINGS = [(1 + i % 5, 1 + i * 7 % 11, 1 + i % 5, 1000 + i) for i in range(_ROWS)]


def _gzipped(text: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: [gzip.compress(text.encode())]


def _parquets(folder: Path) -> list[bytes]:
    frame = pl.DataFrame(
        {
            "x": [1.5, 2.5, None, 4.5] * 6,
            "word": ["a", "b", "c", "dd"] * 6,
            "lists": [[1], [2, 3], [], None] * 6,
            "flag": [True, False] * 12,
            "y": [0, 1] * 12,
        }
    )
    made = []
    for compression, rows in (("uncompressed", None), ("snappy", 10), ("zstd", None), ("gzip", 7)):
        file = io.BytesIO()
        frame.write_parquet(file, compression=compression, row_group_size=rows)  # type: ignore[arg-type]
        made.append(file.getvalue())
    return made


def _images(folder: Path) -> list[bytes]:
    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    made = []
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "TGA", "ICO", "PCX"):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, kind)
        made.append(file.getvalue())
    for mode in ("P", "LA", "RGBA", "1"):
        file = io.BytesIO()
        Image.fromarray(pixels).convert(mode).save(file, "PNG")
        made.append(file.getvalue())
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "TIFF", compression="tiff_lzw")
    return [*made, file.getvalue()]


def _write_pngs(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (number, 0, 0)).save(path)


_COCO = {
    "images": [{"id": i, "file_name": f"{i}.png", "width": 8, "height": 8} for i in range(4)],
    "annotations": [
        {"id": 9, "image_id": i, "category_id": 1, "bbox": [1, 1, 4.5, 4], "area": 18, "iscrowd": 0}
        for i in range(4)
    ],
    "categories": [{"id": 1, "name": "cell"}, {"id": 3, "name": "rest"}],
}
_VOC = """<annotation><folder>V</folder><filename>0.jpg</filename>
<size><width>8</width><height>8</height><depth>3</depth></size>
<object><name>cat</name><difficult>0</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>6</ymax></bndbox></object></annotation>"""


def _voc_folder(folder: Path) -> None:
    _write_pngs(folder, *(f"JPEGImages/{i}.png" for i in range(3)))
    (folder / "ImageSets/Main").mkdir(parents=True)
    (folder / "ImageSets/Main/all.txt").write_text("0\n1\n2\n")
    (folder / "Annotations").mkdir()
    for i in (1, 2):
        (folder / f"Annotations/{i}.xml").write_text(_VOC)


def _detect(kind: str, part: str) -> Callable[[Path], object]:
    return lambda folder: detection.open_detection(kind, folder, train=[part], test=[part])


def _idx(folder: Path) -> list[bytes]:
    return [bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 3, 4) + bytes(range(24))]


def _medmnist(folder: Path) -> list[bytes]:
    values: dict[str, np.ndarray] = {}
    for part in ("train", "val", "test"):
        values[f"{part}_images"] = np.zeros((4, 6, 6), np.uint8)
        values[f"{part}_labels"] = np.arange(4)[:, None] % 2
    return npz_seeds(**values)(folder)


def _cars(folder: Path) -> list[bytes]:
    entries = [{"relative_im_path": f"{i}.png", "class": i % 2 + 1} for i in range(4)]
    kinds = [("relative_im_path", object), ("class", object)]
    table = np.array([tuple(one.values()) for one in entries], dtype=kinds)
    savemat(folder / "a.mat", {"annotations": table, "class_names": np.array(["a", "b"], object)})
    return [(folder / "a.mat").read_bytes()]


def _omniglot(folder: Path) -> list[bytes]:
    png = io.BytesIO()
    Image.new("1", (105, 105), 1).save(png, "PNG")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name in ("Latin/a/1", "Latin/a/2", "Greek/b/1", "Greek/b/2"):
            file.writestr(f"images_background/{name}.png", png.getvalue())
    return [made.getvalue()]


def _yaml(kind: type[TaskSettings]) -> Callable[[Path], list[bytes]]:
    plain = "data:\n  root: /tmp\ntraining:\n  steps: 500\nnetwork: {backbone: small}\n"
    alias = "data: &a\n  root: x\n  seed: 3\n"
    return lambda folder: [kind.defaults().documented().encode(), plain.encode(), alias.encode()]


def _cache_seed(folder: Path) -> list[bytes]:
    (folder / "a.txt").write_text(_LETOR)
    letor.read_letor(folder / "a.txt", cache=folder / "cache")
    (made,) = (folder / "cache").iterdir()
    return [made.read_bytes()]


def _read_cache(folder: Path) -> object:
    """Read it as its text has it, whatever time the text was written at."""
    content = (folder / "letor.cache").read_bytes()
    try:
        with (folder / "letor.cache").open("rb") as file:
            wanted = dict(json.loads(_cache._mapped(file).tobytes()))
        wanted = {name: wanted.get(name) for name in ("version", "options", "size", "sample")}
    except Exception:
        wanted = {}
    found = _cache._load(folder / "letor.cache", wanted)
    return found and (np.asarray(found.features.sum()), len(content))


def _user_images(folder: Path) -> None:
    _write_pngs(folder, *(f"{i}.png" for i in range(12)))


def _sop_folder(folder: Path) -> None:
    _user_images(folder)
    (folder / "Ebay_test.txt").write_text(_SOP_TEST)


_LISTED = "path,label,split\n" + "".join(f"{i}.png,{'ab'[i % 2]},train\n" for i in range(6))
_SOP = "image_id class_id super_class_id path\n" + "".join(
    f"{i} {1 + i // 2} 1 {i}.png\n" for i in range(8)
)
_SOP_TEST = "image_id class_id super_class_id path\n" + "".join(
    f"{i} {1 + i // 2} 1 {i}.png\n" for i in range(8, 12)
)

DATA: dict[str, Target] = {
    "csv": Target(
        "a.csv",
        text_seeds(_CSV, _CSV.replace(",", ";")),
        lambda f: read_table(f / "a.csv", target="y"),
    ),
    "csv_gzip": Target(
        "a.csv.gz", _gzipped(_CSV), lambda f: read_table(f / "a.csv.gz", target="y")
    ),
    "parquet": Target("a.parquet", _parquets, lambda f: read_table(f / "a.parquet", target="y")),
    "svmlight": Target(
        "a.svm",
        text_seeds(_SVM, _LETOR),
        lambda f: read_table(f / "a.svm", target=None, graded=True),
    ),
    "unknown": Target("a.data", text_seeds(_SVM), lambda f: read_table(f / "a.data", target="y")),
    "letor": Target(
        "a.txt",
        text_seeds(_LETOR, _LETOR.replace(" #docid = ", " # ")),
        lambda f: letor.read_letor(f / "a.txt"),
    ),
    "letor_gzip": Target("a.txt.gz", _gzipped(_LETOR), lambda f: letor.read_letor(f / "a.txt.gz")),
    "letor_cache": Target("letor.cache", _cache_seed, _read_cache),
    "run": Target(
        "a.run",
        text_seeds("q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.5 t\n"),
        lambda f: letor.read_run(f / "a.run"),
    ),
    "qrels": Target(
        "a.qrels",
        text_seeds("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"),
        lambda f: letor.read_qrels(f / "a.qrels"),
    ),
    "interactions": Target(
        "a.csv",
        text_seeds(
            "user,item,rating,time\n" + "".join("{},{},{},{}\n".format(*r) for r in _RATINGS)
        ),
        lambda f: interactions.read_interactions(f / "a.csv", duplicates="last"),
    ),
    "ml_100k": Target(
        "u.data",
        text_seeds("".join("{}\t{}\t{}\t{}\n".format(*r) for r in _RATINGS)),
        lambda f: interactions.read_interactions(f / "u.data", duplicates="last"),
    ),
    "ml_1m": Target(
        "ratings.dat",
        text_seeds("".join("{}::{}::{}::{}\n".format(*r) for r in _RATINGS)),
        lambda f: interactions.read_interactions(f / "ratings.dat", duplicates="last"),
    ),
    "recbole": Target(
        "a.inter",
        text_seeds(
            "user_id:token\titem_id:token\trating:float\n"
            + "".join("{}\t{}\t{}\n".format(*r) for r in _RATINGS)
        ),
        lambda f: interactions.read_interactions(f / "a.inter", duplicates="last"),
    ),
    "adjacency": Target(
        "a.txt",
        text_seeds("0 1 2 3\n1 2 5\n7 0\n"),
        lambda f: interactions.read_interactions(f / "a.txt"),
    ),
    "features": Target(
        "a.item",
        text_seeds(
            "item_id:token\tyear:float\tgenre:token_seq\n1\t1990\ta b\n2\t2000\ta\n3\t1995\tb a\n"
        ),
        lambda f: interactions.read_features(f / "a.item", ["1", "2", "9"]),
    ),
    "image": Target("a.png", _images, lambda f: image_file.read_image(f / "a.png")),
    "image_list": Target(
        "a.csv",
        text_seeds(_LISTED),
        lambda f: readers.open_classes("csv", f / "a.csv"),
        _user_images,
    ),
    "sop": Target(
        "Ebay_train.txt",
        text_seeds(_SOP),
        lambda f: readers.open_images("sop", f),
        _sop_folder,
    ),
    "coco": Target(
        "a.json",
        json_seeds(_COCO),
        _detect("coco", "a.json"),
        lambda f: _write_pngs(f, *(f"{i}.png" for i in range(4))),
    ),
    "voc": Target("Annotations/0.xml", text_seeds(_VOC), _detect("voc", "all"), _voc_folder),
    "idx": Target("a.idx", _idx, lambda f: arrays.read_idx(f / "a.idx", 3)),
    "npz": Target(
        "a.npz",
        npz_seeds(a=np.arange(6.0), b=np.array(["x", "yy"])),
        lambda f: read_npz(f / "a.npz"),
    ),
    "medmnist": Target("a.npz", _medmnist, lambda f: readers.open_classes("medmnist", f / "a.npz")),
    "cars196": Target(
        "cars_annos.mat",
        _cars,
        lambda f: readers.open_images("cars196", f, trainval=True),
        _user_images,
        slow=True,
    ),
    "omniglot": Target(
        "images_background.zip",
        _omniglot,
        lambda f: readers.open_images("omniglot", f, trainval=True),
    ),
    "settings": Target(
        "a.yaml", _yaml(Classification), lambda f: Classification.read(f / "a.yaml")
    ),
    "settings_detection": Target(
        "a.yaml", _yaml(Detection), lambda f: Detection.read(f / "a.yaml")
    ),
}
