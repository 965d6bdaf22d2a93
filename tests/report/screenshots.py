"""Screenshots of every kind of report, for the documentation.

``python -m tests.report.screenshots FOLDER --data DATA [KIND …]`` trains one run of each kind on
the data sets in DATA, a few minutes each, and writes FOLDER/KIND.png: the first 900 pixels in light
colors, 1280 pixels wide. Without ``--data`` the runs are the small ones of the tests. ``--runs``
keeps them in a folder, and takes those that are there.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from PIL import Image
from tests.report.browser import Browser
from tests.report.kinds import KINDS

COMMANDS = {
    "compare": "rankwise compare {data}/tabular/aloi.parquet --target target --budget 5m "
    "--candidates boosted",
    "recommend": "rankwise recommend train {here}/train.tsv --model ease "
    "--user-column user_procid --item-column item_procid",
    "rank": "rankwise rank train {data}/ranking/lightgbm_lambdarank/rank.train "
    "--test {data}/ranking/lightgbm_lambdarank/rank.test --model boosted",
    "retrieval": "rankwise retrieval train omniglot --root {data}/images/omniglot_small "
    "--set training.steps=300 --set objective.name=soprc",
    "classify": "rankwise classify train cifar10_lt_small --root {data}/images/cifar10_subset.npz "
    "--set data.positive=[] --set batches.positives=null --set training.steps=300",
    "detect": "rankwise detect train bccd --root {data}/detection/bccd/BCCD "
    "--set network.weights={data}/weights/mobilenet_v2-b0353104.pth --set training.steps=300",
    "contrast": "rankwise contrast train {data}/images/cifar10_subset.npz --epochs 3",
    "study": "reproductions saturation --quick",
    "demo": "rankwise demo",
}
WIDTH, HEIGHT, MOST = 1280, 900, 80_000  # pixels, bytes


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--data", type=Path)
    options.add_argument("--runs", type=Path)
    options.add_argument("kinds", nargs="*")
    asked = options.parse_intermixed_args()
    kinds = asked.kinds or list(KINDS if asked.data is None else COMMANDS)
    asked.folder.mkdir(parents=True, exist_ok=True)
    with Browser() as browser, tempfile.TemporaryDirectory() as scratch:
        for kind in kinds:
            out = (asked.runs or Path(scratch)) / kind
            report = _report_in(out)
            if report is None:
                report = KINDS[kind](out) if asked.data is None else _trained(kind, asked.data, out)
            browser.look(WIDTH, HEIGHT)
            browser.open(report)
            path = asked.folder / f"{kind}.png"
            browser.screenshot(path, whole=False)
            _shrink(path)
            print(path, path.stat().st_size)
            if browser.errors:
                raise SystemExit("\n".join(browser.errors))


def _trained(kind: str, data: Path, out: Path) -> Path:
    if kind == "recommend":
        with ZipFile(data / "recommendation" / "amazon2014-health.zip") as held:
            held.extract("train.tsv", out.parent)
    words = COMMANDS[kind].format(data=data, here=out.parent).split()
    subprocess.run([sys.executable, "-m", *words, "--out", str(out)], check=True)
    report = _report_in(out)
    assert report is not None, f"{COMMANDS[kind]} wrote no report"
    return report


def _report_in(out: Path) -> Path | None:
    """Return the report of a run, the outermost: the demo has one of its table as well."""
    return min(out.rglob("index.html"), key=lambda path: len(path.parts), default=None)


def _shrink(path: Path) -> None:
    """Reduce the colors until the file is small: those of the page stay, its images have fewer."""
    image = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    head = image.crop((0, 0, WIDTH, HEIGHT // 3)).quantize(20)
    for colors in (216, 88, 56, 40, 24, 16, 12):
        palette = Image.new("P", (1, 1))
        used = [each.getpalette() or [] for each in (head, image.quantize(colors))]
        palette.putpalette([*used[0][:60], *used[1][: 3 * colors]])
        image.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= MOST:
            return
    raise SystemExit(f"{path} has more than {MOST} bytes")


if __name__ == "__main__":
    main()
