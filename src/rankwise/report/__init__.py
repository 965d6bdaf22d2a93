"""Reports that stand on their own: text, tables and figures in one HTML file."""

from rankwise.files import write_csv, write_json, write_whole
from rankwise.report.html import Figure, Section, Table, render_report

__all__ = [
    "Figure",
    "Section",
    "Table",
    "render_report",
    "write_csv",
    "write_json",
    "write_whole",
]
