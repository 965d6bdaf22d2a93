"""``rankwise card`` and ``rankwise export``: a run for others, and for other programs."""

from __future__ import annotations

from pathlib import Path

from rankwise.commands.console import refuse, require_other, say


def card(
    run: Path, out: Path | None = None, push_to_hub: str | None = None, public: bool = False
) -> None:
    """Write the model card of a finished run, in the format of the Hugging Face Hub.

    Args:
        run: Folder of a finished run of compare, rank, recommend, classify or retrieval.
        out: File to write. Default: README.md in the folder.
        push_to_hub: Repository of the Hugging Face Hub (such as me/fraud) to upload the card and
            the model to. Default: nothing is uploaded.
        public: Make a new repository public rather than private.
    """
    from rankwise.report.card import write_card  # noqa: PLC0415  (the results need numpy)

    if public and push_to_hub is None:
        refuse("--public is for --push-to-hub REPO; add it, or leave --public out")
    say([str(write_card(run, out))], style="bold")
    if push_to_hub is not None:
        from rankwise.report.hub import push_to_hub as push  # noqa: PLC0415  (an extra)

        say([push(run, push_to_hub, private=not public)], style="bold")


def export(model: Path, out: Path = Path("model.onnx")) -> None:
    """Write a saved linear, boosted or neural model as an ONNX graph: score and probability.

    Args:
        model: Folder of a run of compare or rank, or file of an estimator.
        out: File to write (.onnx).
    """
    from rankwise.serving import export_onnx  # noqa: PLC0415  (an extra)

    if out.suffix != ".onnx":
        refuse(f"--out must be a file *.onnx, got {out}")
    require_other("--out", out, model)
    say([str(export_onnx(model, out))], style="bold")
