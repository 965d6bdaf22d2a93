"""The readers that are fuzzed, each with valid files it makes itself."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import polars as pl
import sklearn.datasets
import torch
import xgboost
from PIL import Image
from safetensors.torch import save
from scipy.io import savemat
from torch import nn

from rankwise import _parquet, _yaml, estimators
from rankwise.boosting.engines import with_lightgbm, with_xgboost
from rankwise.data import interactions, letor, read_table
from rankwise.data.detection import readers as detection
from rankwise.data.images import arrays, image_file, readers
from rankwise.data.letor import _cache
from rankwise.distributed import load_sharded, save_sharded
from rankwise.errors import foreign_errors
from rankwise.estimators import LinearRanker, Ranker, _files
from rankwise.files import read_npz, write_npz
from rankwise.objectives import SOPRC
from rankwise.report.comparison import run_files as comparison
from rankwise.serving import load_scorer
from rankwise.serving.trees.read import read_trees
from rankwise.serving.trees.tables import TreeTables
from rankwise.settings import TaskSettings
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.tasks.retrieval.index import read_index
from rankwise.training import command_of
from rankwise.vision import files as vision

# Imported before the processes are forked, not by each of them again.
WARM = (_parquet, _yaml, lightgbm, xgboost, sklearn.datasets, detection, readers)
WARM += (letor.read_letor, letor.read_run, letor.read_qrels, estimators.BoostedRanker)
WARM += (interactions.read_interactions, interactions.read_features)

Files = dict[str, bytes]


@dataclass(frozen=True)
class Target:
    """A reader: valid contents of the file ``name``, and a call with the folder it is in.

    ``around`` are the other files of the folder.
    """

    name: str
    seeds: Callable[[Path], list[bytes]]
    read: Callable[[Path], object]
    around: Callable[[Path], None] = lambda folder: None
    slow: bool = False  # it starts a process


def _text(*texts: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: [text.encode() for text in texts]


def _json(value: object) -> Callable[[Path], list[bytes]]:
    return lambda folder: [json.dumps(value).encode()]


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


def _npz(**values: np.ndarray) -> Callable[[Path], list[bytes]]:
    return lambda folder: [write_npz(folder / "seed.npz", values).read_bytes()]


def _medmnist(folder: Path) -> list[bytes]:
    values: dict[str, np.ndarray] = {}
    for part in ("train", "val", "test"):
        values[f"{part}_images"] = np.zeros((4, 6, 6), np.uint8)
        values[f"{part}_labels"] = np.arange(4)[:, None] % 2
    return _npz(**values)(folder)


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


_X = np.random.default_rng(0).normal(size=(2000, 4))
_X[:, 3] = np.arange(2000) % 10  # LightGBM splits categories of some hundred rows only
_Y = (_X[:, 0] + 2 * np.sin(5 * _X[:, 3]) > 0.5).astype(float)


def _boosted(name: str) -> Callable[[Path], list[bytes]]:
    def make(folder: Path) -> list[bytes]:
        made = []
        for categories in ((), (3,)):
            trees = with_lightgbm.Trees(0.1, 6, 2, 1.0, 1.0, 1.0, 1, 0, categories)
            rows = with_lightgbm.Rows(_Y, None, None, _X)
            engine = {"lightgbm": with_lightgbm.LightGBM, "xgboost": with_xgboost.XGBoost}[name]
            grown = engine(trees, rows, None, 0.0)
            for _ in range(3):
                grown.grow(lambda s, _: (1 / (1 + np.exp(-s)) - _Y, np.full(len(_Y), 0.25)))
            made.append(grown.text().encode())
        return made

    return make


def _score(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        engine = {"lightgbm": with_lightgbm.LightGBM, "xgboost": with_xgboost.XGBoost}[name]
        text = (folder / "trees").read_bytes().decode(errors="replace")
        scores = engine.read(text, 1)
        with foreign_errors("scores"):  # other columns than those of the rows are an error of both
            return scores(_X)

    return read


def _tables(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        text = (folder / "trees").read_bytes().decode(errors="replace")
        with foreign_errors("trees in numpy"):
            trees = read_trees(name, text)
            if trees.columns != _X.shape[1]:
                raise ValueError("other columns")
            return TreeTables(trees)(_X[:50])

    return read


def _rankers(folder: Path) -> list[bytes]:
    frame = pl.DataFrame({"a": _X[:, 0], "b": ["u", "v"] * 1000, "c": _X[:, 1]})
    made = []
    for ranker in (
        LinearRanker("auc", random_state=0, max_iter=5),
        estimators.BoostedRanker("auc", random_state=0, n_estimators=3),
    ):
        path = ranker.fit(frame.to_pandas(), _Y).save(folder / "seed.ranker")
        made.append(Path(path).read_bytes())
    return made


def _state(folder: Path) -> list[bytes]:
    return [save({"weight": torch.ones(2, 3), "bias": torch.zeros(2)})]


def _checkpoint(folder: Path) -> list[bytes]:
    _files.Checkpoint(folder / "a.pt", {"x": 1}).save({"w": torch.ones(3), "n": 2, "t": "text"})
    return [(folder / "a.pt").read_bytes()]


def _model_folder(folder: Path) -> None:
    (folder / "0.ranker").write_bytes(_rankers(folder)[0])
    write_npz(folder / "ranks.npz", {"0": np.arange(5.0)})


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


def _shards(folder: Path) -> list[bytes]:
    save_sharded(SOPRC(prior=0.1), folder / "shards")
    return [next((folder / "shards").glob("*.json")).read_bytes()]


def _load_shards(folder: Path) -> object:
    from rankwise.errors import UsageError

    try:
        return load_sharded(SOPRC(prior=0.1), folder)
    except ValueError as error:  # the library's own kind of error there
        if type(error) is ValueError and str(folder) in str(error):
            raise UsageError(str(error)) from error
        raise


def _user_images(folder: Path) -> None:
    _write_pngs(folder, *(f"{i}.png" for i in range(12)))


def _sop_folder(folder: Path) -> None:
    _user_images(folder)
    (folder / "Ebay_test.txt").write_text(_SOP_TEST)


def _shard_folder(folder: Path) -> None:
    save_sharded(SOPRC(prior=0.1), folder)


_LISTED = "path,label,split\n" + "".join(f"{i}.png,{'ab'[i % 2]},train\n" for i in range(6))
_SOP = "image_id class_id super_class_id path\n" + "".join(
    f"{i} {1 + i // 2} 1 {i}.png\n" for i in range(8)
)
_SOP_TEST = "image_id class_id super_class_id path\n" + "".join(
    f"{i} {1 + i // 2} 1 {i}.png\n" for i in range(8, 12)
)

TARGETS: dict[str, Target] = {
    "csv": Target(
        "a.csv", _text(_CSV, _CSV.replace(",", ";")), lambda f: read_table(f / "a.csv", target="y")
    ),
    "csv_gzip": Target(
        "a.csv.gz", _gzipped(_CSV), lambda f: read_table(f / "a.csv.gz", target="y")
    ),
    "parquet": Target("a.parquet", _parquets, lambda f: read_table(f / "a.parquet", target="y")),
    "svmlight": Target(
        "a.svm", _text(_SVM, _LETOR), lambda f: read_table(f / "a.svm", target=None, graded=True)
    ),
    "unknown": Target("a.data", _text(_SVM), lambda f: read_table(f / "a.data", target="y")),
    "letor": Target(
        "a.txt",
        _text(_LETOR, _LETOR.replace(" #docid = ", " # ")),
        lambda f: letor.read_letor(f / "a.txt"),
    ),
    "letor_gzip": Target("a.txt.gz", _gzipped(_LETOR), lambda f: letor.read_letor(f / "a.txt.gz")),
    "letor_cache": Target("letor.cache", _cache_seed, _read_cache),
    "run": Target(
        "a.run",
        _text("q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.5 t\n"),
        lambda f: letor.read_run(f / "a.run"),
    ),
    "qrels": Target(
        "a.qrels",
        _text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"),
        lambda f: letor.read_qrels(f / "a.qrels"),
    ),
    "interactions": Target(
        "a.csv",
        _text("user,item,rating,time\n" + "".join("{},{},{},{}\n".format(*r) for r in _RATINGS)),
        lambda f: interactions.read_interactions(f / "a.csv", duplicates="last"),
    ),
    "ml_100k": Target(
        "u.data",
        _text("".join("{}\t{}\t{}\t{}\n".format(*r) for r in _RATINGS)),
        lambda f: interactions.read_interactions(f / "u.data", duplicates="last"),
    ),
    "ml_1m": Target(
        "ratings.dat",
        _text("".join("{}::{}::{}::{}\n".format(*r) for r in _RATINGS)),
        lambda f: interactions.read_interactions(f / "ratings.dat", duplicates="last"),
    ),
    "recbole": Target(
        "a.inter",
        _text(
            "user_id:token\titem_id:token\trating:float\n"
            + "".join("{}\t{}\t{}\n".format(*r) for r in _RATINGS)
        ),
        lambda f: interactions.read_interactions(f / "a.inter", duplicates="last"),
    ),
    "adjacency": Target(
        "a.txt",
        _text("0 1 2 3\n1 2 5\n7 0\n"),
        lambda f: interactions.read_interactions(f / "a.txt"),
    ),
    "features": Target(
        "a.item",
        _text(
            "item_id:token\tyear:float\tgenre:token_seq\n1\t1990\ta b\n2\t2000\ta\n3\t1995\tb a\n"
        ),
        lambda f: interactions.read_features(f / "a.item", ["1", "2", "9"]),
    ),
    "image": Target("a.png", _images, lambda f: image_file.read_image(f / "a.png")),
    "image_list": Target(
        "a.csv", _text(_LISTED), lambda f: readers.open_classes("csv", f / "a.csv"), _user_images
    ),
    "sop": Target(
        "Ebay_train.txt",
        _text(_SOP),
        lambda f: readers.open_images("sop", f),
        _sop_folder,
    ),
    "coco": Target(
        "a.json",
        _json(_COCO),
        _detect("coco", "a.json"),
        lambda f: _write_pngs(f, *(f"{i}.png" for i in range(4))),
    ),
    "voc": Target("Annotations/0.xml", _text(_VOC), _detect("voc", "all"), _voc_folder),
    "idx": Target("a.idx", _idx, lambda f: arrays.read_idx(f / "a.idx", 3)),
    "npz": Target(
        "a.npz", _npz(a=np.arange(6.0), b=np.array(["x", "yy"])), lambda f: read_npz(f / "a.npz")
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
    "lightgbm": Target("trees", _boosted("lightgbm"), _score("lightgbm")),
    "xgboost": Target("trees", _boosted("xgboost"), _score("xgboost")),
    "lightgbm_tables": Target("trees", _boosted("lightgbm"), _tables("lightgbm")),
    "xgboost_tables": Target("trees", _boosted("xgboost"), _tables("xgboost")),
    "scorer": Target("a.ranker", _rankers, lambda f: load_scorer(f / "a.ranker")),
    "ranker": Target("a.ranker", _rankers, lambda f: Ranker.load(f / "a.ranker")),
    "compare_model": Target(
        "model.json",
        _json(
            {
                "format": "rankwise model",
                "version": 2,
                "about": {},
                "members": 1,
                "reading": [
                    {"name": name, "kind": kind, "format": None, "currency": None}
                    for name, kind in (("a", "numeric"), ("b", "categorical"))
                ],
            }
        ),
        load_model,
        _model_folder,
    ),
    "index": Target(
        "a.npz",
        _npz(
            embeddings=np.eye(3, dtype=np.float32),
            paths=np.array(list("abc")),
            labels=np.array(list("xyx")),
            network=np.array("f"),
        ),
        lambda f: read_index(f / "a.npz"),
    ),
    "report_json": Target(
        "config.json",
        _json({"a": [1, {"b": "c"}], "n": 2.5}),
        lambda f: comparison.read_object(f / "config.json"),
    ),
    "predictions": Target(
        "a.npz",
        _npz(target=np.array([0.0, 1, 1]), score_0=np.arange(3.0), probability_0=np.ones(3) / 2),
        lambda f: comparison.read_predictions(f / "a.npz", 1),
    ),
    "run_json": Target(
        "run.json",
        _json(
            {
                "format": 1,
                "command": "rankwise rank",
                "version": "0.1",
                "finished": True,
                "parts": {"a": ["b"]},
            }
        ),
        command_of,
    ),
    "safetensors": Target(
        "model.safetensors", _state, lambda f: vision.load_state(f, lambda state: nn.Linear(3, 2))
    ),
    "checkpoint": Target(
        "a.pt", _checkpoint, lambda f: _files.Checkpoint(f / "a.pt", {"x": 1}).load()
    ),
    "split": Target(
        "split.csv",
        _text("path,label,part\na.png,x,train\nb.png,y,test\n"),
        vision.read_split,
    ),
    "shards": Target("memory.index.json", _shards, _load_shards, _shard_folder),
}
