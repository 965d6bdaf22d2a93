"""Settings from files of yaml, and the files that ship with the package."""

from __future__ import annotations

import difflib
import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from rankwise.extras import require
from rankwise.tasks.retrieval.settings import Settings, UsageError

__all__ = [
    "CONFIGS",
    "as_yaml",
    "changed",
    "made",
    "quoted",
    "read_as",
    "read_settings",
    "shipped",
    "with_changes",
]

CONFIGS = Path(__file__).parent / "configs"
_DEEPEST = 8  # files that build upon each other

_Kind = TypeVar("_Kind")


def shipped(configs: Path = CONFIGS) -> tuple[str, ...]:
    """Names of the configurations that ship with the package."""
    return tuple(sorted(p.stem for p in configs.glob("*.yaml") if not p.name.startswith("_")))


def read_settings(source: Path | str, changes: Sequence[str] = ()) -> Settings:
    """Settings of a file of yaml, or of a name that ships with the package.

    A file with ``base: other.yaml`` (a file next to it, or one that ships) holds only what differs
    from that file. ``changes`` are ``section.name=value``, the value written as in yaml.
    """
    return read_as(Settings, CONFIGS, source, changes)


def read_as(
    kind: type[_Kind], configs: Path, source: Path | str, changes: Sequence[str] = ()
) -> _Kind:
    """The same for the settings of any task, whose files that ship are in ``configs``."""
    path, known = Path(source), shipped(configs)
    if not path.exists() and str(source) in known:
        path = configs / f"{source}.yaml"
    if not path.is_file():
        near = difflib.get_close_matches(path.stem, known, 1, 0.5)
        hint = f"; did you mean {near[0]}, which ships with the package?" if near else ""
        raise UsageError(f"{source}: there is no such file{hint}")
    try:
        return changed(kind, _merged(path, configs), changes)
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from None


def with_changes(tree: Mapping[str, Any], changes: Sequence[str]) -> Settings:
    """Settings of sections with their values, some of them changed by ``section.name=value``."""
    return changed(Settings, tree, changes)


def changed(kind: type[_Kind], tree: Mapping[str, Any], changes: Sequence[str]) -> _Kind:
    """Settings of a tree of sections after changes, each ``section.name=value``."""
    tree = {name: dict(part) if isinstance(part, Mapping) else part for name, part in tree.items()}
    for change in changes:
        place, equals, text = change.partition("=")
        section, dot, name = place.strip().partition(".")
        if not (equals and dot and section and name):
            raise UsageError(
                f"a change must be section.name=value, such as training.steps=500, got {change!r}"
            )
        inside = tree.setdefault(section, {})
        if not isinstance(inside, dict):
            raise UsageError(f"{section} must be a section with names and values, got {inside!r}")
        inside[name] = _parsed(text, f"{change}: ")
    found: _Kind = made(kind, tree)
    return found


def as_yaml(settings: Any) -> str:
    """The file that gives these settings again."""
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415

    text: str = yaml.safe_dump(_plain(asdict(settings)), sort_keys=False, allow_unicode=True)
    return text


def quoted(text: str) -> str:
    """Words as yaml has them, whatever letters they hold."""
    return json.dumps(text)


def made(kind: Any, tree: Mapping[str, Any], where: str = "") -> Any:
    """A record of its values by name; unknown names are refused with the nearest right one."""
    if not isinstance(tree, Mapping):
        raise UsageError(f"{where or 'the file'} must have names and values, got {tree!r}")
    types_of, known = get_type_hints(kind), [f.name for f in fields(kind)]
    values: dict[str, Any] = {}
    for name, value in tree.items():
        full = f"{where}.{name}" if where else str(name)
        if name not in known:
            inside = [f.name for f in fields(kind) if is_dataclass(types_of[f.name])
                      and name in {g.name for g in fields(types_of[f.name])}]  # fmt: skip
            near = [f"{section}.{name}" for section in inside] or difflib.get_close_matches(
                str(name), known, 1, 0.4
            )
            said = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"{full}: there is no such setting; {said}")
        wanted = types_of[name]
        inner = is_dataclass(wanted)
        values[name] = made(wanted, value or {}, full) if inner else _value(full, value, wanted)
    return kind(**values)


def _value(name: str, value: Any, wanted: Any) -> Any:
    """A value of the type of its setting; raise where it is another."""
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inside:
            return None
        (wanted,) = (part for part in inside if part is not type(None))
        return _value(name, value, wanted)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"{name} must be a list in brackets, got {value!r}")
        return tuple(_value(name, part, inside[0]) for part in value)
    if origin is dict:
        if not isinstance(value, dict):
            raise UsageError(f"{name} must have names and values, got {value!r}")
        return value
    if wanted is float:
        try:  # yaml takes 1e-4, without a point, for a word
            return float(value) if not isinstance(value, bool) else _refuse(name, value, "a number")
        except (TypeError, ValueError):
            _refuse(name, value, "a number")
    words = {int: "a whole number", bool: "true or false", str: "words"}[wanted]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        _refuse(name, value, words)
    return value


def _refuse(name: str, value: Any, wanted: str) -> Any:
    raise UsageError(f"{name} must be {wanted}, got {value!r}")


def _merged(path: Path, configs: Path, depth: int = 0) -> dict[str, Any]:
    """The settings of a file over those of its base, next to it or among the ``configs``."""
    where = f"{path}: " if depth else ""  # the file that was asked for is named by the caller
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}is not yaml: {error}") from None
    tree = _parsed(text, where)
    if not isinstance(tree, dict):
        raise UsageError(f"{where}must have names and values, such as training: {{steps: 500}}")
    base = tree.pop("base", None)
    if base is None:
        return tree
    below = next((p for f in (path.parent, configs) if (p := f / str(base)).is_file()), None)
    if depth == _DEEPEST or below is None:
        why = "refers back to itself" if below else "is neither a file next to this one nor ships"
        raise UsageError(f"base: {base} {why}")
    merged = _merged(below, configs, depth + 1)
    for name, part in tree.items():
        before = merged.get(name)
        both = isinstance(part, dict) and isinstance(before, dict)
        merged[name] = {**before, **part} if both else part  # type: ignore[dict-item]
    return merged


def _parsed(text: str, where: str) -> Any:
    require("rankwise.tasks.retrieval", "yaml")
    import yaml  # noqa: PLC0415

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _require_once(node, where)
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise UsageError(f"{where}is not yaml: {error}") from None


def _require_once(root: Any, where: str) -> None:
    """Raise for a name that is given twice: yaml's own reader lets the last one win, unsaid."""
    waiting, known = [root], set()
    while waiting:
        node = waiting.pop()
        if node.id == "scalar" or id(node) in known:  # an alias may lead back to where it is
            continue
        known.add(id(node))
        if node.id == "sequence":
            waiting += node.value
            continue
        lines: dict[tuple[str, str], int] = {}
        for name, value in node.value:
            waiting += [name, value]
            if name.id != "scalar":
                continue
            line, word = name.start_mark.line + 1, (name.tag, name.value)
            if word in lines:
                raise UsageError(
                    f"{where}line {line}: {name.value} is there already, on line {lines[word]}"
                )
            lines[word] = line


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
