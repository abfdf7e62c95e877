"""Pieces of the panel beside a scene, as HTML."""

from collections.abc import Mapping
from html import escape

from cylcollide.limbs.outlines import group_colors

STYLE = "white-space:pre-wrap;font-size:12px;line-height:1.35;margin:0 12px 8px;overflow-wrap:anywhere"
SQUARE = "display:inline-block;width:10px;height:10px;margin:0 4px 0 10px;background:"


def preformatted(words: str, is_html: bool = False) -> str:
    """Words with their line breaks."""
    return f'<pre style="{STYLE}">{words if is_html else escape(words)}</pre>'


def legend(groups: Mapping[str, int]) -> str:
    """Names of hit groups with their colours."""
    colors = group_colors(groups)
    words = "".join(f'<span style="{SQUARE}{colors[n]}"></span>{escape(name)}' for name, n in groups.items())
    return f'<div style="font-size:12px;margin:4px">{words}</div>'
