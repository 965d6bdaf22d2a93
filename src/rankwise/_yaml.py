"""Yaml for settings: names once, numbers as they are usually written, and a bounded size."""

from __future__ import annotations

import re
from typing import Any

import yaml

from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.limits import MAX_YAML_DEPTH, MAX_YAML_VALUES

_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_LONGEST = 1000  # digits of a number


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """The safe loader without the numbers of yaml 1.1 that are none elsewhere.

    These are ``1_0``, ``0b1``, ``010`` (8) and ``1:30`` (90).
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Raise for a name that is given twice, of which yaml's own reader keeps the last."""
        lines: dict[tuple[str, str], int] = {}
        for name in (name for name, _ in node.value if name.id == "scalar"):
            line, word = name.start_mark.line + 1, (name.tag, name.value)
            if word in lines:
                raise UsageError(
                    f"line {line}: {name.value[:80]} is there already, on line {lines[word]}; "
                    "keep one of them"
                )
            lines[word] = line
        return dict(super().construct_mapping(node, deep))


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, form) for tag, form in known if tag not in (_INT, _FLOAT)]
    for letter, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_INT, re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))$"
        r"|^\.(?:nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)


def parse_yaml(text: str | bytes, where: str = "") -> object:
    """Parse yaml; errors begin with ``where``, a place that ends with a colon and a space.

    Raises:
        UsageError: It is not yaml, has a name twice, or is larger than it may be.
    """
    try:
        with foreign_errors("is not yaml"):
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                if node is None:
                    return None
                _require_small(node)
                return loader.construct_document(node)
            except yaml.YAMLError as error:
                raise UsageError(f"is not yaml: {error}") from None
            finally:
                loader.dispose()
    except UsageError as error:
        raise UsageError(f"{where}{error}") from None


def _require_small(root: yaml.Node) -> None:
    """Raise where there are too many values with all aliases written out, or too deep ones.

    A file of some hundred bytes can have aliases of aliases that are billions of values.
    """
    sizes: dict[int, int] = {}  # of a node that is complete
    above: set[int] = set()  # nodes that the current one is in

    def size(node: yaml.Node, depth: int) -> int:
        key = id(node)
        if key in sizes:
            return sizes[key]
        if key in above or depth > MAX_YAML_DEPTH:
            why = "an alias refers to what it is in" if key in above else "it is nested too deeply"
            raise UsageError(f"line {node.start_mark.line + 1}: {why}; write the settings out")
        if isinstance(node, yaml.ScalarNode):
            if node.tag == _INT and len(node.value) > _LONGEST:
                raise UsageError(f"{short_repr(node.value)} has too many digits")
            return 1
        parts = node.value
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in parts for part in pair]
        above.add(key)
        total = 1 + sum(size(part, depth + 1) for part in parts)
        above.discard(key)
        if total > MAX_YAML_VALUES:
            raise UsageError(
                f"line {node.start_mark.line + 1}: holds more than {MAX_YAML_VALUES:,} values with "
                "its aliases written out; settings have some dozens: remove the aliases"
            )
        sizes[key] = total
        return total

    size(root, 0)
