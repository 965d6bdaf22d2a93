from rankwise.files import write_csv, write_json, write_whole
from rankwise.report.html import (
    Figure,
    Headline,
    Mean,
    Section,
    Table,
    settings_section,
    write_html,
)

__all__ = [
    "Figure",
    "Headline",
    "Mean",
    "Section",
    "Table",
    "settings_section",
    "write_csv",
    "write_json",
    "write_html",
    "write_whole",
]
