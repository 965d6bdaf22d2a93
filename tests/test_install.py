"""The wheel in environments of its own, one for each extra: every command works or says why not.

Minutes long, and in need of a package index: ``make test-full``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.command_line import commands
from tests.data.detection.layouts import xml
from tests.tasks.classification.cases import SMALL as CLASSIFICATION
from tests.tasks.classification.cases import images as tail
from tests.tasks.contrast.cases import write as write_contrast
from tests.tasks.detection.cases import CLASSES, pictures
from tests.tasks.detection.cases import SMALL as DETECTION
from tests.tasks.ranking.cases import written as write_lists
from tests.tasks.recommendation.cases import written as write_interactions
from tests.tasks.retrieval.cases import SMALL as RETRIEVAL
from tests.tasks.retrieval.cases import images

from rankwise.cli import app
from rankwise.extras import COMMANDS, EXTRAS
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.tasks.retrieval.settings import Settings as Retrieval

ROOT = Path(__file__).parent.parent
NO_CLI = 'rankwise needs typer, rich, pydantic: pip install "rankwise[cli]"\n'

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("install")]


def clean_environment():
    """Nothing of the interpreter that runs the tests may be found by the one under test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONNOUSERSITE": "1", "COLUMNS": "200"}


def run(*words, folder=None):
    return subprocess.run(
        [str(word) for word in words], cwd=folder, env=clean_environment(),
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip


def pip(python, *words):
    constraints = ROOT / "constraints.txt"
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet",
               "--disable-pip-version-check", "-c", constraints, *words)  # fmt: skip
    assert done.returncode == 0, done.stderr


def new_environment(folder):
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def site_packages(python):
    done = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    return Path(done.stdout.strip())


BUILT = (".git", ".venv*", "build", "dist", "site", "out", "runs", "*.egg-info", "__pycache__",
         ".*_cache", ".hypothesis", ".coverage*")  # fmt: skip


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """What `make dist` builds in a copy of the tree: the sdist, and the wheel from it."""
    folder = tmp_path_factory.mktemp("dist") / "tree"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*BUILT))
    done = run("make", "dist", f"PYTHON={sys.executable}", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(distributions):
    return next(distributions.glob("*.whl"))


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """An environment with the core's needs alone; the others look into it rather than copy it."""
    folder = tmp_path_factory.mktemp("core")
    python = new_environment(folder / "env")
    pip(python, "torch==2.13.0", "numpy")
    yield site_packages(python)
    shutil.rmtree(folder)


@pytest.fixture
def installed(request, tmp_path, wheel, core):
    """The interpreter of an environment with the core and one extra, or with the core alone."""
    python = new_environment(tmp_path / "env")
    (site_packages(python) / "core.pth").write_text(f"{core}\n")
    pip(python, f"{wheel}[{request.param}]" if request.param else wheel)
    yield python
    shutil.rmtree(tmp_path / "env")


def write_image(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(path)


def write_table(folder):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(400, 3)), rng.normal(size=400)
    target = (x[:, 0] + noise > 1).astype(int)
    rows = [f"{a:.4f},{b:.4f},{c:.4f},{y}" for (a, b, c), y in zip(x, target, strict=True)]
    (folder / "table.csv").write_text("\n".join(["a,b,c,y", *rows]) + "\n")


def write_images(folder):
    known = images("class", 12)
    for row, label in enumerate(known.labels.tolist()):
        write_image(folder / "images" / f"class{label:02}" / f"{row}.png", known.load(row))
    changes = ["data.kind=folder", "data.validation_share=0.3"]
    (folder / "retrieval.yaml").write_text(Retrieval.changed(RETRIEVAL, changes).as_yaml())
    shares = tail("class", (20, 10, 10))
    for row, label in enumerate(shares.target.tolist()):
        write_image(folder / "tail" / f"class{label}" / f"{row}.png", shares.images.load(row))
    kind = ["data.kind=folder"]
    (folder / "classify.yaml").write_text(Classification.changed(CLASSIFICATION, kind).as_yaml())


def write_boxes(folder):
    root = folder / "boxes"
    for name in ("Annotations", "ImageSets/Main"):
        (root / name).mkdir(parents=True)
    for seed, part in enumerate(("train", "val", "test")):
        known = pictures(part, 4, seed)
        for i, found in enumerate(known.objects):
            write_image(root / "JPEGImages" / f"{part}{i}.png", known.load(i))
            rows = zip(found.boxes.tolist(), found.labels, strict=True)
            objects = [
                (CLASSES[int(c)], (int(b[0]) + 1, int(b[1]) + 1, int(b[2]), int(b[3])), False)
                for b, c in rows
            ]
            (root / "Annotations" / f"{part}{i}.xml").write_text(xml(objects, (80, 60)))
        names = "".join(f"{part}{i}\n" for i in range(4))
        (root / "ImageSets/Main" / f"{part}.txt").write_text(names)
    lists = {"kind": "voc", "train": ["train"], "validation": ["val"], "test": ["test"]}
    (folder / "detect.yaml").write_text(Detection.changed({**DETECTION, "data": lists}).as_yaml())


# Every command on small data, by the words before its first argument. `{out}` is a folder of the
# environment, `given` holds the runs that the same commands made beside the tests.
SMALL = {
    "compare": [
        "compare table.csv --target y --budget 4s --trials 1 --out {out}/compare",
        "compare config",
    ],
    "report": ["report given/compare"],
    "evaluate": ["evaluate table.csv --target y --score a", "evaluate given/compare"],
    "predict": [
        "predict given/compare table.csv --out {out}/predicted.csv",
        "predict given/compare --part test",
    ],
    "fuse": ["fuse table.csv table.csv --id a,b --score c --out {out}/fused.csv"],
    "card": ["card given/compare --out {out}/card.md"],
    "export": ["export given/rank --out {out}/model.onnx"],
    "drift": ["drift table.csv table.csv --score a --target y"],
    "objectives": ["objectives", "objectives --metrics"],
    "contrast config": ["contrast config", "contrast config --schema"],
    "contrast train": [
        "contrast train stripes.npz --batch 8 --epochs 1 --width 2 --dimension 4 "
        "--out {out}/contrast"
    ],
    "recommend config": ["recommend config", "recommend config --schema"],
    "recommend train": [
        "recommend train kinds.csv --dimension 4 --batch 16 --negatives 6 --epochs 1 "
        "--warm-start 1 --metric ndcg@3 --out {out}/recommend"
    ],
    "recommend evaluate": ["recommend evaluate given/recommend"],
    "recommend topk": ["recommend topk given/recommend --k 2 --out {out}/top.csv"],
    "rank config": ["rank config", "rank config --schema"],
    "rank train": [
        "rank train lists.txt --set epochs=2 --out {out}/rank",
        "rank train lists.txt --model boosted --out {out}/boosted",
    ],
    "rank evaluate": [
        "rank evaluate given/rank lists.txt --write-run {out}/run.txt "
        "--write-qrels {out}/qrels.txt",
        "rank evaluate given/boosted lists.txt --write-run {out}/boosted.txt",
    ],
    "rank predict": ["rank predict given/rank lists.txt --out {out}/ranked.csv"],
    "rank compare": ["rank compare given/run.txt given/boosted.txt given/qrels.txt"],
    "rank fuse": ["rank fuse given/run.txt given/boosted.txt --out {out}/fused.txt"],
    "retrieval config": ["retrieval config", "retrieval config --schema"],
    "retrieval configs": ["retrieval configs"],
    "retrieval train": ["retrieval train retrieval.yaml --root images --out {out}/retrieval"],
    "retrieval evaluate": ["retrieval evaluate given/retrieval --root images"],
    "retrieval index": [
        "retrieval index given/retrieval --images images --out {out}/exact.npz",
        "retrieval index given/retrieval --images images --approximate --out {out}/index.npz",
    ],
    "retrieval search": [
        "retrieval search images/class00/0.png --run given/retrieval --index given/index.npz"
    ],
    "classify config": ["classify config", "classify config --schema"],
    "classify configs": ["classify configs"],
    "classify train": ["classify train classify.yaml --root tail --out {out}/classify"],
    "classify evaluate": ["classify evaluate given/classify --root tail"],
    "detect config": ["detect config", "detect config --schema"],
    "detect configs": ["detect configs"],
    "detect train": ["detect train detect.yaml --root boxes --out {out}/detect"],
    "detect evaluate": ["detect evaluate given/detect --root boxes"],
    "detect predict": [
        "detect predict boxes/JPEGImages/test0.png --run given/detect --out {out}/detections"
    ],
    "demo": ["demo --quick --out {out}/demo"],
}
MAKES_RUNS = ("compare", "recommend train", "rank train", "rank evaluate", "retrieval train",
              "retrieval index", "classify train", "detect train")  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small data for every command, and runs for those that read one."""
    folder = tmp_path_factory.mktemp("data")
    write_table(folder)
    write_contrast(folder / "stripes.npz")
    write_interactions(folder / "kinds.csv")
    write_lists(folder / "lists.txt")
    write_images(folder)
    write_boxes(folder)
    for name in MAKES_RUNS:
        for line in SMALL[name]:
            words = line.format(out="given").split()
            done = subprocess.run(
                [sys.executable, "-m", "rankwise", *words], cwd=folder, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_has_the_package_with_its_stubs_and_data_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
        (_,) = (n for n in file.namelist() if n.endswith("dist-info/licenses/LICENSE"))
    source = ROOT / "src"
    assert packed == {
        path.relative_to(source).as_posix()
        for path in (source / "rankwise").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


SUFFIXES = (".md", ".toml", ".txt", ".cff", ".lock")


def test_the_sdist_has_what_its_tests_need(distributions):
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    folders = ("src", "tests", "docs", "examples", "benchmarks", "reproductions", "tools")
    wanted = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()}
    wanted |= {path for path in ROOT.iterdir() if path.suffix in SUFFIXES}
    wanted |= {
        ROOT / name
        for name in (
            "LICENSE",
            "Makefile",
            "mkdocs.yml",
            ".ci/run",
            "recipe/recipe.yaml",
            ".github/dependabot.yml",
        )
    }
    names = {path.relative_to(ROOT).as_posix() for path in wanted}
    kept = {n for n in names if "__pycache__" not in n and ".egg-info" not in n}
    assert kept <= packed


def test_the_data_of_the_demo_are_in_the_wheel_with_their_licenses(wheel):
    with zipfile.ZipFile(wheel) as file:
        packed = {name.rpartition("/")[2] for name in file.namelist() if "/demo/" in name}
    assert packed >= {"flights.csv.gz", "omniglot.npz", "OMNIGLOT_LICENSE.txt", "README.md"}


def test_every_command_is_tried():
    assert set(SMALL) == {" ".join(path) for path, _ in commands(app)}


@pytest.mark.parametrize("installed", [e for e in EXTRAS if e != "fast"], indirect=True)
def test_every_command_works_with_its_extra_and_says_what_is_missing_with_another(
    request, installed, data, tmp_path
):
    extra = request.node.callspec.params["installed"]
    program, out = installed.with_name("rankwise"), tmp_path / "out"
    for name, lines in SMALL.items():
        top = name.split()[0]
        own, _ = COMMANDS[top]
        for line in lines:
            done = run(program, *line.format(out=out).split(), folder=data)
            if own in (extra, "cli"):
                assert done.returncode == 0, f"{line}: {done.stderr}"
            elif done.returncode:
                message = done.stderr.splitlines()[-1]
                assert message.startswith(f"rankwise {top} needs "), f"{line}: {done.stderr}"
                assert message.endswith(f': pip install "rankwise[{own}]"'), f"{line}: {message}"
                assert "Traceback" not in done.stderr
                assert done.returncode == 2


@pytest.mark.parametrize("installed", [""], indirect=True, ids=["core"])
def test_the_core_alone_is_a_library_whose_commands_name_the_extra(installed, data):
    for words in ([installed.with_name("rankwise")], [installed, "-m", "rankwise"]):
        for line in ("--help", "--version", *(SMALL[name][0] for name in SMALL)):
            done = run(*words, *line.split(), folder=data)
            assert (done.stderr, done.stdout, done.returncode) == (NO_CLI, "", 2), line
    code = """
import torch, rankwise
print(rankwise.objective("ap")(torch.tensor([1.0, 0.0]), torch.tensor([1, 0])).item() < 1)
try:
    from rankwise.estimators import LinearRanker
except ImportError as error:
    print(error)
"""
    done = run(installed, "-c", code)
    needs = "rankwise.estimators needs scipy, scikit-learn, threadpoolctl"
    assert done.stdout.splitlines() == ["True", f'{needs}: pip install "rankwise[tabular]"']
