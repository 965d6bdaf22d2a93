"""Small pages that stand on their own: text, tables and figures in one file of HTML."""

from rankwise.report.files import write_csv, write_json, write_whole
from rankwise.report.html import Figure, Section, Table, page

__all__ = ["page", "Section", "Table", "Figure", "write_whole", "write_csv", "write_json"]
