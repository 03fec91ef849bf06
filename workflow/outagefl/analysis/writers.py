"""Write a frame for machines (CSV), papers (LaTeX) and readers (HTML); a file appears complete or not at all."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from outagefl.files import replacing

DASH = "–"  # in place of a value that there is not
NO_BREAK = "\u00a0"  # a space at which no line ends

LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"$<$",
        ">": r"$>$",
        "±": r"$\pm$",
        "−": r"$-$",
        DASH: "--",
        "·": r"$\cdot$",
        "×": r"$\times$",
        "α": r"$\alpha$",
        "γ": r"$\gamma$",
        "Δ": r"$\Delta$",
        NO_BREAK: "~",
    }
)
# Shrinks a table that is wider than the line, and leaves others alone.
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"

PROSE = 40  # characters; a column with a longer cell is text to be read and gets room

CSS = {
    "": "border-collapse: collapse; font: 15px/1.4 sans-serif; color: #1a1a1a; margin: 1em",
    "caption": "caption-side: top; text-align: left; padding: 0 0.7em 0.8em; max-width: 60em",
    "th, td": "padding: 0.35em 0.7em; text-align: left; vertical-align: top",
    "thead th": "border-bottom: 1px solid #999",
    "tbody th, td": "border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums",
    "tbody th": "position: sticky; left: 0; background: white; white-space: nowrap",
}


def write_csv(frame: pd.DataFrame, path: Path | str) -> None:
    """Write a tidy frame: no row numbers, floats at full precision, missing values empty."""
    with replacing(path) as new:
        frame.to_csv(new, index=False)


def write_latex(frame: pd.DataFrame, path: Path | str, caption: str, name: str) -> None:
    r"""Write a frame of text as a ``table`` to ``\input``, labelled ``tab:name``; needs booktabs and graphicx.

    Every cell, heading and the caption is plain text: characters special to LaTeX are escaped here.
    """
    text = _escaped(frame, _latex)
    table = text.style.to_latex(
        hrules=True,
        column_format="l" * frame.index.nlevels + "r" * frame.shape[1],
        multicol_align="c",
        position_float="centering",
        caption=_latex(caption),
        label=f"tab:{name}",
    )
    table = table.replace(r"\begin{tabular}", f"{FIT}\n\\begin{{tabular}}").replace(r"\end{tabular}", "\\end{tabular}}")
    with replacing(path) as new:
        new.write_text("% needs the packages booktabs and graphicx\n" + table)


def write_html(frame: pd.DataFrame, path: Path | str, caption: str) -> None:
    """Write a frame of text as one self-contained page; cells, headings and caption are escaped here."""
    text = _escaped(frame, html.escape)
    prose = [column for column in text if text[column].map(len).max() > PROSE]
    page = (
        text.style.set_properties(subset=prose, **{"min-width": "14em"})
        .set_caption(html.escape(caption))
        .set_table_styles([{"selector": selector, "props": props} for selector, props in CSS.items()])
        .set_uuid("table")
        .to_html(doctype_html=True)
    )
    with replacing(path) as new:
        new.write_text(page)


def _latex(text: object) -> str:
    return str(text).translate(LATEX)


def _escaped(frame: pd.DataFrame, escape: Callable[[str], str]) -> pd.DataFrame:
    def one(value: object) -> str:
        return escape(str(value))

    return frame.map(one).rename(index=one, columns=one)
