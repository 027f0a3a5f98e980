"""A YAML file -> a frozen struct, or a SpecError that names the place.

Rule: time and memory follow from the size of a file, and that is limited before anything is parsed. Plain data only: a
key given twice, a value of Python's and a text that is no Unicode are errors with their line and column.
"""

import re
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from arena import validation
from arena.errors import SpecError
from arena.text import printable

T = TypeVar("T")

_DEEPEST: Final = 32
"""The most levels of lists and mappings, aliases written out."""
_LARGER: Final = 2
"""The most times by which a file with its aliases written out may exceed the limit of its size."""
_LONGEST_NUMBER: Final = 40
_LONGEST_PROBLEM: Final = 300
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PLAIN_TAGS: Final = ("null", "bool", "int", "float", "timestamp", "seq", "map", "str")


def read_yaml(path: Path, kind: type[T], *, limit: int) -> T:
    """Read the YAML file at `path`, of at most `limit` bytes, as a `kind`. SpecError names the place of a mistake."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise SpecError(f"{printable(str(path))}: {error.strerror}") from None
    return parse_yaml(content, kind, place=str(path), limit=limit)


def parse_yaml(content: bytes, kind: type[T], *, place: str, limit: int) -> T:
    """Parse YAML text, of at most `limit` bytes, as a `kind`. SpecError names `place` and lists all mistakes."""
    where = printable(place)
    if len(content) > limit:
        raise SpecError(f"{where}: larger than {limit >> 10} KiB")
    try:
        raw = _Loader(content.decode("utf-8"), _LARGER * limit).get_single_data()
    except UnicodeDecodeError as error:
        raise SpecError(f"{where}: not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}") from None
    except yaml.YAMLError as error:
        raise SpecError(f"{where}: {_describe_yaml_error(error)}") from None
    return validation.read_struct(raw, kind, place=place)


class _Loader(yaml.SafeLoader):
    """A loader of plain values, for which a key that is given twice is an error.

    An alias counts as the value that it stands for: `_sizes` and `_heights` are the characters and the levels of each
    value, by its node. A file may have `most` characters.
    """

    def __init__(self, text: str, most: int) -> None:
        super().__init__(text)
        self._most = most
        self._size = self._depth = self._deepest = 0
        self._sizes: dict[int, int] = {}
        self._heights: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """See yaml.composer.Composer: the next value; YAMLError where it is too large, too deep, or within itself."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            node = super().compose_node(parent, index)
            if id(node) not in self._sizes:
                raise _error("an alias within the value that it stands for", mark)
            self._count_size(self._sizes[id(node)], self._depth + self._heights[id(node)], mark)
            return node
        size, deepest, self._deepest = self._size, self._deepest, self._depth
        self._depth += 1
        self._count_size(1, self._depth, mark)
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode):
            self._count_size(len(node.value), self._depth, mark)
        self._depth -= 1
        self._sizes[id(node)] = self._size - size
        self._heights[id(node)] = self._deepest - self._depth
        self._deepest = max(self._deepest, deepest)
        return node

    def _count_size(self, size: int, depth: int, mark: yaml.Mark) -> None:
        """Count `size` more characters and a value at `depth`; raise a YAML error at `mark` beyond a limit."""
        self._size += size
        self._deepest = max(self._deepest, depth)
        if self._deepest > _DEEPEST:
            raise _error("nested too deeply", mark)
        if self._size > self._most:
            raise _error("too much text with all aliases written out", mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's signature
        """See yaml.constructor.BaseConstructor: the value of a node."""
        kind = str(node.tag).rpartition(":")[2]
        if kind == "merge":
            raise _error("<< merges mappings, which is not done here: write its keys out", node.start_mark)
        if node.tag not in _TAGS:
            raise _error(f"{kind} is not a kind of plain data", node.start_mark)
        if kind in ("int", "float") and len(node.value) > _LONGEST_NUMBER:
            raise _error(f"a number of more than {_LONGEST_NUMBER} characters", node.start_mark)
        try:
            value = super().construct_object(node, deep)
        except (ValueError, KeyError, IndexError, AttributeError, OverflowError):
            # what PyYAML's own constructors let out for, say, the date 2026-99-99 or an explicit !!bool maybe
            raise _error(f"not a valid {kind}", node.start_mark) from None
        if isinstance(value, str) and _SURROGATE.search(value):
            raise _error("text with half of a surrogate pair: write the character itself", node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """See yaml.constructor.SafeConstructor: the mapping of a node; keys are different texts."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _error(f"a {key_node.id} as a key; keys are text", key_node.start_mark)
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _error(f"key {key!r} is not text", key_node.start_mark)
            if key in seen:
                raise _error(f'key "{printable(key)}" is given twice', key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


_TAGS: Final = {f"tag:yaml.org,2002:{kind}" for kind in _PLAIN_TAGS}


def _error(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    """Return a YAML error with the place of the mistake."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _describe_yaml_error(error: yaml.YAMLError) -> str:
    """Return what is wrong and where, in words for the author of the file, with the usual cause if it is known."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    if "'\\t'" in problem:
        problem = "a tab: YAML wants spaces"
    elif problem.startswith("expected <block end>"):
        problem += "; perhaps this line is not indented like those above it"
    elif problem.startswith("could not find expected ':'"):
        problem += "; perhaps a colon above it has no space after it"
    elif problem.startswith("found unexpected end of stream"):
        problem += "; perhaps a quotation mark above it is not closed"
    problem = printable(problem if len(problem) <= _LONGEST_PROBLEM else f"{problem[:_LONGEST_PROBLEM]}...")
    return problem if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
