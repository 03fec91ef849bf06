"""Write a frame for machines (CSV), papers (LaTeX) and readers (HTML); a file appears complete or not at all."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from outagefl.files import replacing

DASH = "–"  # in place of a value that there is not
NEVER = "—"  # in place of the round at which something happens that never does
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
        NEVER: "---",
        "†": r"$\dagger$",
        "·": r"$\cdot$",
        "×": r"$\times$",
        "…": r"\ldots{}",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "≈": r"$\approx$",
        "→": r"$\to$",
        "∞": r"$\infty$",
        "²": r"$^2$",
        "ᵀ": r"$^T$",
        "\u0302": r"\textasciicircum{}",  # the hat of an estimate: it cannot stand over what is before it
        "α": r"$\alpha$",
        "β": r"$\beta$",
        "γ": r"$\gamma$",
        "δ": r"$\delta$",
        "η": r"$\eta$",
        "ρ": r"$\rho$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
        "Δ": r"$\Delta$",
        "Σ": r"$\Sigma$",
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


def p_value(p: float) -> str:
    """A p-value to be read: three decimals, ``< 0.001``, or a dash where there is none."""
    return DASH if pd.isna(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


# How a cell is marked, and what stands around a marked one.
BOLD, UNDERLINE = "bold", "underline"
HTML_MARKS = {BOLD: ("<b>", "</b>"), UNDERLINE: ("<u>", "</u>")}
LATEX_MARKS = {BOLD: (r"\textbf{", "}"), UNDERLINE: (r"\underline{", "}")}


@dataclass(frozen=True)
class Table:
    """A finding as a table: ``tidy`` for machines, ``shown`` (text) for readers, and what they must know.

    ``marks``, of the shape of ``shown``, says which cells are BOLD or UNDERLINE; None: none is.
    """

    tidy: pd.DataFrame
    shown: pd.DataFrame
    caption: str
    marks: pd.DataFrame | None = None


def write_csv(frame: pd.DataFrame, path: Path | str) -> None:
    """Write a tidy frame: no row numbers, floats at full precision, missing values empty."""
    with replacing(path) as new:
        frame.to_csv(new, index=False)


def write_latex(
    frame: pd.DataFrame, path: Path | str, caption: str, name: str, marks: pd.DataFrame | None = None
) -> None:
    r"""Write a frame of text as a ``table`` to ``\input``, labelled ``tab:name``; needs booktabs and graphicx.

    Every cell, heading and the caption is plain text: characters special to LaTeX are escaped here. ``marks`` as in
    ``Table``. Blocks of rows, where the frame has any, are told apart by lines.
    """
    text = _marked(_escaped(frame, _latex), marks, LATEX_MARKS)
    table = text.style.to_latex(
        hrules=True,
        column_format="l" * frame.index.nlevels + "r" * frame.shape[1],
        multicol_align="c",
        multirow_align="naive",
        clines="skip-last;data" if frame.index.nlevels > 1 else None,
        position_float="centering",
        caption=_latex(caption),
        label=f"tab:{name}",
    )
    table = table.replace(r"\begin{tabular}", f"{FIT}\n\\begin{{tabular}}").replace(r"\end{tabular}", "\\end{tabular}}")
    with replacing(path) as new:
        new.write_text("% needs the packages booktabs and graphicx\n" + table, encoding="utf-8")


def write_html(frame: pd.DataFrame, path: Path | str, caption: str, marks: pd.DataFrame | None = None) -> None:
    """Write a frame of text as one self-contained page; cells, headings and caption are escaped here.

    ``marks`` as in ``Table``.
    """
    text = _marked(_escaped(frame, html.escape), marks, HTML_MARKS)
    prose = [column for column in text if text[column].map(len).max() > PROSE]
    page = (
        text.style.set_properties(subset=prose, **{"min-width": "14em"})
        .set_caption(html.escape(caption))
        .set_table_styles([{"selector": selector, "props": props} for selector, props in CSS.items()])
        .set_uuid("table")
        .to_html(doctype_html=True)
    )
    with replacing(path) as new:
        new.write_text(page, encoding="utf-8")


def _latex(text: object) -> str:
    return str(text).translate(LATEX)


def _marked(text: pd.DataFrame, marks: pd.DataFrame | None, around: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """The text with every marked cell between the two parts that its mark puts around it."""
    if marks is None:
        return text
    before, after = (marks.map(lambda mark, side=side: around.get(mark, ("", ""))[side]) for side in (0, 1))
    return pd.DataFrame(before.to_numpy() + text.to_numpy() + after.to_numpy(), text.index, text.columns)


def _escaped(frame: pd.DataFrame, escape: Callable[[str], str]) -> pd.DataFrame:
    def one(value: object) -> str:
        return escape(str(value))

    return frame.map(one).rename(index=one, columns=one)
