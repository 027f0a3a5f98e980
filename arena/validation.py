"""Plain data (YAML, JSON, options) -> a frozen struct, or a SpecError that names the place.

Rule: nothing is ignored and nothing is guessed. An unknown key, a missing key and a wrong type are errors that say
where they are, what was found, and what is known there. A person gets all mistakes at once, a bot the first.
"""

import difflib
import json
import re
from collections.abc import Iterator
from datetime import date
from enum import Enum
from functools import lru_cache
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from arena.errors import SpecError
from arena.text import cut, printable, unknown

T = TypeVar("T")

_TYPES: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
"""The types of msgspec in the words of a message. `null` is left out: whoever gives a value does not mean it."""
_MOST_MISTAKES: Final = 20
"""The most mistakes that are listed; the others are counted."""
_DIGITS_BITS: Final = 64
"""Longer numbers are not written out: nobody counts their digits, and Python refuses to write some."""


def read_struct(raw: object, kind: type[T], *, place: str) -> T:
    """Convert `raw` to a `kind`. `place` names the data in errors: a file, or the path of an option.

    SpecError lists all mistakes: one in a line with the place, several in a line each below it.
    """
    return _read(raw, kind, _Place(printable(place)))


def read_options(raw: dict[str, object], kind: type[T]) -> T:
    """Convert values of command-line options, by field, to a `kind`; SpecError names options as `--move-ms`."""
    return _read(raw, kind, _CommandLine("command line"))


def _read(raw: object, kind: type[T], where: "_Place") -> T:
    """Convert `raw` to a `kind`; SpecError lists all its mistakes, each once."""
    if mistakes := list(dict.fromkeys(_mistakes(raw, kind, where))):
        raise SpecError(where.list_mistakes(mistakes))
    return msgspec.convert(raw, type=kind)


def first_mistake(raw: object, kind: Any, *, place: str) -> str:
    """Return the first reason why `raw`, a decoded message, is no `kind` (also a union), in ASCII; empty if it is one.

    It is slow: call it when msgspec has refused a message.
    """
    return next(_mistakes(raw, kind, _Message(place)), "")


class _Place:
    """The source of the data: its name, its word for a key, and the form in which its author would write a value."""

    key = "key"
    no_text = "a text in it is no Unicode: it has half of a surrogate pair"

    def __init__(self, name: str) -> None:
        self._name = name

    def at(self, path: str) -> str:
        """Return the beginning of a sentence about the value at `path`."""
        return f"{self._name}: {self.word(path.lstrip('.'))}: " if path else f"{self._name}: "

    def list_mistakes(self, mistakes: list[str]) -> str:
        """Return one mistake as it is, several as a list below the name of the source."""
        if len(mistakes) == 1:
            return mistakes[0]
        sentences = [mistake.removeprefix(f"{self._name}: ") for mistake in mistakes[:_MOST_MISTAKES]]
        count = len(mistakes) - len(sentences)
        more = [f"... and {count} more"] if count else []
        return "\n  ".join([f"{self._name}: {len(mistakes)} mistakes:", *sentences, *more])

    def word(self, value: object) -> str:
        """Return a key, or one of a closed set of values, as text without quotes."""
        return printable(str(value))

    def show(self, value: object) -> str:
        """Return a value as text, cut where it is long."""
        return "nothing" if value is None else cut(repr(value))


class _CommandLine(_Place):
    """The options of a command line, as a source of data."""

    key = "option"

    def at(self, path: str) -> str:
        return f"--{path.lstrip('.').replace('_', '-')}: " if path else f"{self._name}: "


class _Message(_Place):
    """A message of a bot, as a source of data: JSON, described in ASCII."""

    key = "field"
    no_text = "a text in it is no UTF-8"

    def word(self, value: object) -> str:
        return json.dumps(value)[1:-1] if isinstance(value, str) else self.show(value)

    def show(self, value: object) -> str:
        """Return a value as JSON, cut where it is long; of objects, lists and huge numbers only the kind."""
        match value:
            case dict():
                return "an object"
            case list() | tuple():
                return f"a list of length {len(value)}"
            case int() if value.bit_length() > _DIGITS_BITS:
                return "a number of 20 digits or more"
        return cut(json.dumps(value))


def _mistakes(raw: object, kind: Any, place: _Place, path: str = "") -> Iterator[str]:
    """Yield the mistakes in `raw`, to which `path` leads: keys first, then values one by one.

    If neither has one, yield the refusal of msgspec.
    """
    refusal: Exception | None = None
    try:
        msgspec.convert(raw, type=kind)
        if not _has_keys(kind):  # in a list of 30 000 numbers there is nothing to be found
            return
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        refusal = error
    struct = _select_struct(raw, kind)
    parts = _items(raw, kind) if struct is None else _values(raw, struct)
    mistakes = chain(
        () if struct is None else _key_mistakes(raw, struct, place, path),
        (mistake for value, part_kind, key in parts for mistake in _mistakes(value, part_kind, place, path + key)),
    )
    first = next(mistakes, None)
    if first is not None:
        yield first
        yield from mistakes
    elif refusal is not None:
        yield _describe_refusal(raw, kind, refusal, place, path)


def _alternatives(kind: Any) -> list[Any]:
    """Return the types that a value of `kind` may have, without None."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [inner for member in get_args(kind) for inner in _alternatives(member)]
    return [] if kind is NoneType else [kind]


def _structs(kind: Any) -> list[type[msgspec.Struct]]:
    """Return the structs among the types that a value of `kind` may have."""
    return [cls for cls in _alternatives(kind) if isinstance(cls, type) and issubclass(cls, msgspec.Struct)]


@lru_cache(maxsize=256)
def _has_keys(kind: Any) -> bool:
    """Return True if values of this type contain keys at any depth, since msgspec accepts unknown ones."""
    return bool(_structs(kind)) or any(map(_has_keys, get_args(kind)))


@lru_cache(maxsize=256)
def _fields(struct: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields of a struct by their key in the data."""
    return {field.encode_name: field for field in msgspec.structs.fields(struct)}


def _select_struct(raw: Any, kind: Any) -> type[msgspec.Struct] | None:
    """Return the struct that a mapping stands for: the only one, or the one that its tag names; else None."""
    structs = _structs(kind) if isinstance(raw, dict) else []
    if len(structs) > 1:
        structs = [cls for cls in structs if raw.get(cls.__struct_config__.tag_field) == cls.__struct_config__.tag]
    return structs[0] if len(structs) == 1 else None


def _values(raw: Any, struct: type[msgspec.Struct]) -> list[tuple[object, Any, str]]:
    """Return the values of known keys, each with its type and the step of the path to it."""
    known = _fields(struct)
    return [(value, known[key].type, f".{key}") for key, value in raw.items() if key in known]


def _items(raw: object, kind: Any) -> list[tuple[object, Any, str]]:
    """Return the items of a list, or the values of a mapping with free keys, as `_values` does."""
    for variant in _alternatives(kind):
        inner = get_args(variant)
        if get_origin(variant) is dict and isinstance(raw, dict):
            return [(value, inner[1], f".{key}") for key, value in raw.items()]
        if get_origin(variant) in (list, tuple) and isinstance(raw, list | tuple):
            is_uniform = get_origin(variant) is list or inner[1:] == (...,)
            kinds = [inner[0]] * len(raw) if is_uniform else list(inner)
            return [(value, item, f"[{index}]") for index, (value, item) in enumerate(zip(raw, kinds, strict=False))]
    return []


def _key_mistakes(raw: Any, struct: type[msgspec.Struct], place: _Place, path: str) -> Iterator[str]:
    """Yield unknown keys, then missing ones, but for missing keys that an unknown one resembles."""
    fields = _fields(struct)
    unknown_keys = [key for key in raw if key not in fields and key != struct.__struct_config__.tag_field]
    for key in unknown_keys:
        yield place.at(path) + unknown(place.key, place.word(key), fields)
    resembled = {name for key in unknown_keys for name in difflib.get_close_matches(cut(str(key)), fields, n=1)}
    for name, field in fields.items():
        if field.required and name not in raw and name not in resembled:
            yield f'{place.at(path)}the {place.key} "{name}" is missing'


def _describe_refusal(raw: Any, kind: Any, refusal: Exception, place: _Place, path: str) -> str:
    """Return msgspec's refusal of `raw`, to which `path` leads, as a sentence in the words of the author of `raw`."""
    problem = str(refusal).partition(" - at `$")[0]
    if missing := re.match(r"Object missing required field `(.*)`", problem):
        return f'{place.at(path)}the {place.key} "{missing[1]}" is missing'
    choices = _choices(kind)
    configs = [struct.__struct_config__ for struct in _structs(kind)] if isinstance(raw, dict) else []
    tags, tag_field = [struct.tag for struct in configs], configs[0].tag_field if configs else None
    if tag_field is not None and tag_field in raw and raw[tag_field] not in tags:
        raw, kind, choices, path = raw[tag_field], Any, tags, f"{path}.{tag_field}"
    where = place.at(path)
    if type(raw) in set(map(type, choices)) - {bool}:
        return where + unknown("value", place.word(raw), map(place.word, choices))
    if isinstance(refusal, UnicodeEncodeError):
        return where + place.no_text
    shown, takes_text = place.show(raw), place.key == "key" and _takes_text(kind)
    if takes_text and choices and isinstance(raw, bool):
        reading = f"found {shown.lower()} (YAML reads off, no, yes and on as true or false)"
        return f"{where}{reading}; write it in quotes; known: {', '.join(map(str, choices))}"
    in_quotes = "; put it in quotes" if takes_text and not choices and isinstance(raw, int | float | date) else ""
    expected = _describe_type(kind, place)
    is_described = expected and (choices or problem.startswith("Expected `"))
    return f"{where}{f'expected {expected}' if is_described else _reword(problem)}, found {shown}{in_quotes}"


def _reword(problem: str) -> str:
    """Return `expected a whole number >= 1` for msgspec's "Expected `int` >= 1, got `str`"."""
    match = re.match(r"Expected `([^`]*)`(.*?)(?:, got .*)?$", problem, re.DOTALL)
    if match is None:
        problem = problem.replace("`", "")
        return problem[:1].lower() + problem[1:]
    names = [name for name in match[1].split(" | ") if name != "null"]
    return "expected " + " or ".join(_TYPES.get(name, name) for name in names) + match[2]


def _describe_type(kind: Any, place: _Place) -> str:
    """Return a description of a type: of its Meta, the keys of a struct, or its choices; empty if it has none."""
    args = [arg for arg in get_args(kind) if arg is not NoneType]
    if get_origin(kind) is Annotated:
        return next((arg.description for arg in args[1:] if arg.description), "") or _describe_type(args[0], place)
    if get_origin(kind) in (Union, UnionType):
        return _describe_type(args[0], place) if len(args) == 1 else ""
    if structs := _structs(kind):
        fields = _fields(structs[0])
        return f"an object with the {place.key}{'' if len(fields) == 1 else 's'} {', '.join(fields)}"
    choices = [place.word(choice) for choice in _choices(kind)]
    return f"one of {', '.join(choices)}" if len(choices) > 1 else "".join(choices)


def _choices(kind: Any) -> list[Any]:
    """Return the values of a closed set; none for other types."""
    match _alternatives(kind):
        case [cls] if get_origin(cls) is Literal:
            return sorted(get_args(cls))
        case [type() as cls] if issubclass(cls, Enum):
            return [member.value for member in cls]
    return []


def _takes_text(kind: Any) -> bool:
    """Return True if a value of this type may be text, freely or as one of its choices."""
    return any(cls is str or any(isinstance(choice, str) for choice in _choices(cls)) for cls in _alternatives(kind))
