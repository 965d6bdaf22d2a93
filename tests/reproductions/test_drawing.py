from __future__ import annotations

from reproductions.drawing import COLORS, canvas, logarithmic_x, plain, png


def test_a_figure_is_a_png_and_the_same_again():
    def draw() -> bytes:
        figure, axes = canvas(1, 2)
        axes[0, 0].plot([1, 10, 100], [1, 2, 3], color=COLORS[0])
        plain(axes[0, 0], title="rise", x="n", y="change")
        logarithmic_x(axes[0, 0], [1, 10, 100])
        assert [label.get_text() for label in axes[0, 0].get_xticklabels()] == ["1", "10", "100"]
        return png(figure)

    first = draw()
    assert first.startswith(b"\x89PNG")
    assert draw() == first
