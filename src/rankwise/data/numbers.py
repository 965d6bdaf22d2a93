"""Numbers as people write them: ``2,231.55``, ``$6.06``, ``39.0%``, ``(1,234.50)``."""

from __future__ import annotations

import polars as pl

__all__ = ["currency_of", "numbers_in"]

_CURRENCY = r"(?:US|CA|AU|NZ|HK|[ACR])?\$|[€£¥₹₽₩₺₴₪฿]|USD|EUR|GBP|JPY|CHF|INR|CNY|CAD|AUD"
_DIGITS = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:[ '’]\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+"
_NUMBER = (
    rf"^(?P<open>\()?\s*(?P<minus>[+-])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[+-])?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][+-]?\d+)?\s*(?P<percent>%)?\s*"
    rf"(?P<after>{_CURRENCY})?\s*(?P<close>\))?$"
)
_MINUS = "[\u2212\ufe63\uff0d]"


def numbers_in(words: pl.Series, currency: str | None = None) -> pl.Series:
    """Read words as float64; null where a word is no number.

    Thousands may be separated by commas, spaces or apostrophes. A percent sign divides by 100, and
    parentheses are a minus, as in accounting. A word with another currency than ``currency`` is no
    number: amounts of different currencies must not become comparable.
    """
    plain = words.str.strip_chars().cast(pl.Float64, strict=False)
    if plain.null_count() == words.null_count():
        return plain
    parts = _parts(words)
    sign = pl.col("minus").fill_null("") + pl.col("inner").fill_null("")
    negative = sign.str.contains("-", literal=True) | pl.col("open").is_not_null()
    digits = pl.col("digits").str.replace_all(r"[, '’]", "") + pl.col("power").fill_null("")
    value = digits.cast(pl.Float64, strict=False)
    value = pl.when(pl.col("percent").is_not_null()).then(value / 100).otherwise(value)
    known = pl.col("currency").is_null()
    if currency is not None:
        known |= pl.col("currency") == currency
    whole = (
        known
        & (pl.col("open").is_null() == pl.col("close").is_null())
        & (sign.str.len_chars() + pl.col("open").is_not_null().cast(pl.UInt32) <= 1)
        & (pl.col("before").is_null() | pl.col("after").is_null())
    )
    read = parts.select(pl.when(whole).then(pl.when(negative).then(-value).otherwise(value)))
    return pl.Series(words.name, plain.fill_null(read.to_series()))


def currency_of(words: pl.Series) -> str | None:
    """The most frequent currency of the words; None where there is none."""
    found = _parts(words)["currency"].drop_nulls()
    if not len(found):
        return None
    counts = found.value_counts(sort=True)
    return str(counts[counts.columns[0]][0])


def _parts(words: pl.Series) -> pl.DataFrame:
    tidy = words.str.replace_all(r"\s+", " ").str.strip_chars().str.replace_all(_MINUS, "-")
    parts = tidy.str.extract_groups(_NUMBER).struct.unnest()
    return parts.with_columns(currency=pl.coalesce("before", "after"))
