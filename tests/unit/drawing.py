"""What every figure must keep: nothing is cut off, and no panel or legend lies over another."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from outagefl.analysis import style


def assert_nothing_is_cut_off_or_overlaps(figure: Figure) -> None:
    """Draw the figure and look at the boxes of all its parts."""
    canvas = FigureCanvasAgg(figure)
    with style.theme():
        canvas.draw()
    whole = figure.get_tightbbox(canvas.get_renderer())
    assert whole.x0 >= 0
    assert whole.y0 >= 0
    assert whole.x1 <= figure.get_figwidth()
    assert whole.y1 <= figure.get_figheight()
    boxes = [part.get_tightbbox(canvas.get_renderer()) for part in (*figure.axes, *figure.legends)]
    for one, other in combinations(boxes, 2):
        assert min(one.x1, other.x1) <= max(one.x0, other.x0) or min(one.y1, other.y1) <= max(one.y0, other.y0)
