"""Settings as frozen pydantic models, and the one reader of their yaml files."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import UnionType
from typing import Annotated, ClassVar, Literal, Self, Union, Unpack, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.extras import require
from rankwise.limits import MAX_YAML_BYTES

MAX_SEED = 2**32 - 1  # of numpy's RandomState and scikit-learn; the other libraries take more

Count = Annotated[int, Ge(1)]
CountFromZero = Annotated[int, Ge(0)]
Seed = Annotated[int, Ge(0), Le(MAX_SEED)]
Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Gt(0), Lt(1)]

_MAX_BASES = 8  # files that build on each other
_PLAIN: dict[object, str] = {bool: "true or false", str: "a string", Path: "a path"}


class Section(BaseModel):
    """Settings that belong together, frozen and checked; errors are one line that names them."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )
    section: ClassVar[str] = ""  # prefix of the names in errors

    def __init_subclass__(cls, section: str | None = None, **options: Unpack[ConfigDict]) -> None:
        super().__init_subclass__(**options)
        if section is not None:
            cls.section = section

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _usage_error(type(self), error) from None

    @field_validator("*", mode="before")
    @classmethod
    def _from_yaml(cls, value: object, info: ValidationInfo) -> object:
        """Make of a value what its type needs: yaml has lists, and takes 1e-4 for a string."""
        return _converted(value, cls.model_fields[str(info.field_name)].annotation)

    def replace(self, **changes: object) -> Self:
        """Return the same settings with some changed, checked again."""
        return type(self)(**{**dict(self), **changes})

    def plain(self) -> dict[str, object]:
        """Return the settings as JSON has them: dicts, lists, strings and numbers."""
        return self.model_dump(mode="json")


class TaskSettings(Section):
    """All settings of a command, read from yaml."""

    configs: ClassVar[Path | None] = None  # folder of the configurations that ship

    @classmethod
    def defaults(cls) -> Self:
        """Return the default settings; those that must be given are left out."""
        if any(field.is_required() for field in cls.model_fields.values()):
            return cls.model_construct()  # type: ignore[return-value]  # the plugin forgets Self
        return cls()

    @classmethod
    def shipped(cls) -> tuple[str, ...]:
        """Return the names of the configurations that ship with the package."""
        files = [] if cls.configs is None else cls.configs.glob("*.yaml")
        return tuple(sorted(path.stem for path in files if not path.name.startswith("_")))

    @classmethod
    def read(
        cls,
        source: Path | str,
        changes: Sequence[str] = (),
        values: Mapping[str, object] | None = None,
    ) -> Self:
        """Read a yaml file, or a configuration that ships by its name.

        A file with ``base: other.yaml`` (a file next to it, or one that ships) contains only what
        differs from that file. ``changes`` are ``section.name=value``, the value as in yaml;
        ``values`` replace whole settings of the file.
        """
        path, known = Path(source), cls.shipped()
        if cls.configs is not None and not path.is_file() and str(source) in known:
            path = cls.configs / f"{source}.yaml"
        if not path.is_file():
            near = difflib.get_close_matches(path.stem, known, 1, 0.5)
            hint = f"; the configurations of the package are: {', '.join(known)}" if known else ""
            if near:
                hint = f"; did you mean {near[0]}, which ships with the package?"
            raise UsageError(f"{source}: there is no such file or folder{hint}")
        try:
            with foreign_errors("cannot be read as settings"):
                return cls.changed({**_merged(path, cls.configs), **(values or {})}, changes)
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from None

    @classmethod
    def changed(cls, tree: Mapping[str, object], changes: Sequence[str] = ()) -> Self:
        """Return the settings of a tree of sections after changes, each ``section.name=value``."""
        tree = {str(k): dict(v) if isinstance(v, Mapping) else v for k, v in tree.items()}
        for change in changes:
            place, equals, text = change.partition("=")
            section, dot, name = place.strip().partition(".")
            if not (equals and dot and section and name):
                raise UsageError(
                    "a change must be section.name=value, such as training.steps=500, "
                    f"got {short_repr(change)}"
                )
            inside = tree.setdefault(section, {})
            if not isinstance(inside, dict):
                raise UsageError(f"{section} must be names and values, got {short_repr(inside)}")
            inside[name] = _parsed(text, f"{change}: ")
        return cls(**tree)

    def as_yaml(self) -> str:
        """Return the file that gives these settings again."""
        import yaml  # noqa: PLC0415

        return str(yaml.safe_dump(self.plain(), sort_keys=False, allow_unicode=True))

    def documented(self) -> str:
        """Return the same file with the description of every setting as a comment."""
        return "\n".join(_documented(self)) + "\n"

    @classmethod
    def json_schema(cls) -> dict[str, object]:
        """Return the JSON schema of the yaml files, by which editors complete and check them."""
        schema = cls.model_json_schema()
        base = {"type": "string", "description": "File whose settings these ones change."}
        schema["properties"] = {"base": base, **schema["properties"]}
        return schema


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless an option is one of some words."""
    if value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, got {short_repr(value)}")


def _bare(annotation: object) -> tuple[object, list[object]]:
    """Return a type without ``Annotated`` and ``None``, and the bounds that it had."""
    if get_origin(annotation) is Annotated:
        inner, *bounds = get_args(annotation)
        return inner, bounds
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = (part for part in get_args(annotation) if part is not type(None))
        return _bare(inner)
    return annotation, []


def without_bounds(annotation: object) -> object:
    """Return the type of a setting without its bounds and None."""
    return _bare(annotation)[0]


def _section_of(annotation: object) -> type[Section] | None:
    bare, _ = _bare(annotation)
    return bare if isinstance(bare, type) and issubclass(bare, Section) else None


def _converted(value: object, annotation: object) -> object:
    section, (bare, _) = _section_of(annotation), _bare(annotation)
    if section is not None and (value is None or isinstance(value, Mapping)):
        return section(**{str(name): part for name, part in (value or {}).items()})
    if get_origin(bare) is tuple and isinstance(value, (list, tuple)):
        return tuple(_converted(part, get_args(bare)[0]) for part in value)
    if bare is Path and isinstance(value, str):
        return Path(value)
    if bare is float and isinstance(value, str) and "_" not in value:
        with suppress(ValueError):
            return float(value)
    return value


def _usage_error(kind: type[Section], found: ValidationError) -> UsageError:
    """Return the first error of pydantic as a line that names the setting."""
    error = found.errors()[0]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ValueError):  # of a section inside, or of a check of our own
        return UsageError(str(cause))
    field = str(error["loc"][0])
    name = f"{kind.section}.{field}" if kind.section else field
    if error["type"] == "extra_forbidden":
        return UsageError(f"{name}: there is no such setting; {_hint(kind, field)}")
    if error["type"] == "missing":
        return UsageError(f"{name} is missing")
    info = kind.model_fields[field]
    annotation: object = info.annotation
    if len(error["loc"]) > 1:
        annotation = get_args(_bare(annotation)[0])[0]
    return UsageError(
        f"{name} must be {_expected(annotation, info.metadata)}, got {short_repr(error['input'])}"
    )


def _hint(kind: type[Section], name: str) -> str:
    known = list(kind.model_fields)
    near = [f"{field}.{name}" for field, info in kind.model_fields.items()
            if (inner := _section_of(info.annotation)) and name in inner.model_fields]  # fmt: skip
    near = near or difflib.get_close_matches(name, known, 1, 0.4)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def _expected(annotation: object, bounds: Sequence[object]) -> str:
    """Return what a setting must be: its type and bounds in words."""
    bare, more = _bare(annotation)
    if bare in _PLAIN:
        return _PLAIN[bare]
    if get_origin(bare) is Literal:
        return f"one of {', '.join(map(str, get_args(bare)))}"
    if bare not in (int, float):
        listed = get_origin(bare) is tuple
        return "a list in brackets" if listed else "names and values"
    limits: dict[str, object] = {}
    for bound in (*bounds, *more):
        if isinstance(bound, (Ge, Gt, Le, Lt)):
            limits |= asdict(bound)
    low, high = limits.get("gt", limits.get("ge")), limits.get("lt", limits.get("le"))
    what = "a whole number" if bare is int else "a finite number"
    if low is None or high is None:
        return what if low is None else f"{what} {'>' if 'gt' in limits else '>='} {low}"
    between = f"{'(' if 'gt' in limits else '['}{low}, {high}{')' if 'lt' in limits else ']'}"
    return f"{what} from {low} to {high}" if bare is int else f"in {between}"


def _documented(settings: Section, indent: str = "") -> list[str]:
    import yaml  # noqa: PLC0415

    lines: list[str] = []
    plain = settings.model_dump(mode="json", warnings=False)
    for name, field in type(settings).model_fields.items():
        if field.is_required():
            continue  # an argument of the command
        value = getattr(settings, name)
        if isinstance(value, Section):
            about = (type(value).__doc__ or "").partition("\n")[0]
            lines += [f"{indent}{name}:  # {about}", *_documented(value, f"{indent}  ")]
            continue
        flow = yaml.safe_dump(
            [plain[name]], default_flow_style=True, allow_unicode=True, width=math.inf
        )
        lines.append(f"{indent}{name}: {flow.strip()[1:-1]}  # {field.description}")
    return lines


def _merged(path: Path, configs: Path | None, depth: int = 0) -> dict[str, object]:
    """Return the settings of a file over those of its base, next to it or one that ships."""
    where = f"{path}: " if depth else ""  # the file that was asked for is named by the caller
    if path.stat().st_size > MAX_YAML_BYTES:
        raise UsageError(
            f"{where}has {path.stat().st_size:,} bytes, settings have at most {MAX_YAML_BYTES:,}"
        )
    tree = _parsed(path.read_bytes(), where)
    if not isinstance(tree, dict):
        raise UsageError(f"{where}must have names and values, such as training: {{steps: 500}}")
    base = tree.pop("base", None)
    if base is None:
        return tree
    folders = [path.parent, *([] if configs is None else [configs])]
    below = next((p for folder in folders if (p := folder / str(base)).is_file()), None)
    if depth == _MAX_BASES or below is None:
        why = "refers back to itself" if below else "is neither a file next to this one nor ships"
        raise UsageError(f"base: {base} {why}")
    merged = _merged(below, configs, depth + 1)
    for name, part in tree.items():
        before = merged.get(name)
        both = isinstance(part, dict) and isinstance(before, dict)
        merged[name] = {**before, **part} if both else part  # type: ignore[dict-item]
    return merged


def _parsed(text: str | bytes, where: str) -> object:
    require("rankwise.settings", "yaml")
    from rankwise._yaml import parse_yaml  # noqa: PLC0415  (needs yaml)

    return parse_yaml(text, where)
