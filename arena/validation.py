"""Plain data (YAML, JSON, options) -> a frozen struct, or a SpecError that names the place.

Rule: nothing is ignored and nothing is guessed. An unknown key, a missing key and a wrong type are errors that say
where they are, what was found, and what is known there. A person is told all of them at once, a bot the first.
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
"""The words of msgspec in those of a person. `null` is left out: whoever gives a value does not mean it."""
_MOST_MISTAKES: Final = 20
"""Mistakes that are told one by one; of the others their number."""
_DIGITS_BITS: Final = 64
"""Longer numbers are not written out: nobody counts their digits, and Python refuses to write some."""


def read_struct(raw: object, kind: type[T], *, place: str) -> T:
    """`raw` as a `kind`. `place` names the data for the reader: a file, or the path of an option.

    SpecError tells all its mistakes: one in a line with the place, several in a line each below it.
    """
    return _read(raw, kind, _Place(printable(place)))


def read_options(raw: dict[str, object], kind: type[T]) -> T:
    """Values of options of the command line, by their fields, as a `kind`; SpecError names `--move-ms`."""
    return _read(raw, kind, _CommandLine("command line"))


def _read(raw: object, kind: type[T], where: "_Place") -> T:
    if mistakes := list(dict.fromkeys(_mistakes(raw, kind, where))):
        raise SpecError(where.listed(mistakes))
    return msgspec.convert(raw, type=kind)


def first_mistake(raw: object, kind: Any, *, place: str) -> str:
    """The reason why `raw`, which came over the wire, is no `kind` (also a union), in JSON's words, in ASCII.

    Empty if it is one. For a message that msgspec has refused; it takes too long for every message.
    """
    return next(_mistakes(raw, kind, _Message(place)), "")


class _Place:
    """The source of data, its word for a key, and the form in which its author would write a value."""

    key = "key"
    no_text = "a text in it is no Unicode: it has half of a surrogate pair"

    def __init__(self, name: str) -> None:
        self._name = name

    def at(self, path: str) -> str:
        """The beginning of a sentence about what lies there."""
        return f"{self._name}: {self.word(path.lstrip('.'))}: " if path else f"{self._name}: "

    def listed(self, mistakes: list[str]) -> str:
        """One mistake as it is, several as a list below the name."""
        if len(mistakes) == 1:
            return mistakes[0]
        told = [each.removeprefix(f"{self._name}: ") for each in mistakes[:_MOST_MISTAKES]]
        left = len(mistakes) - len(told)
        more = [f"... and {left} more"] if left else []
        return "\n  ".join([f"{self._name}: {len(mistakes)} mistakes:", *told, *more])

    def word(self, value: object) -> str:
        """A key or one of a closed set of values: a text without quotes."""
        return printable(str(value))

    def shown(self, value: object) -> str:
        """A value, cut where it is long."""
        return "nothing" if value is None else cut(repr(value))


class _CommandLine(_Place):
    """Options, in the form in which they are given."""

    key = "option"

    def at(self, path: str) -> str:
        return f"--{path.lstrip('.').replace('_', '-')}: " if path else f"{self._name}: "


class _Message(_Place):
    """A message of a bot: JSON, told in ASCII."""

    key = "field"
    no_text = "a text in it is no UTF-8"

    def word(self, value: object) -> str:
        return json.dumps(value)[1:-1] if isinstance(value, str) else self.shown(value)

    def shown(self, value: object) -> str:
        match value:
            case dict():
                return "an object"
            case list() | tuple():
                return f"a list of length {len(value)}"
            case int() if value.bit_length() > _DIGITS_BITS:
                return "a number of 20 digits or more"
        return cut(json.dumps(value))


def _mistakes(raw: object, kind: Any, place: _Place, path: str = "") -> Iterator[str]:
    """All that is wrong with `raw`, to which `path` leads: keys, then values one by one; else the word of msgspec."""
    refusal: Exception | None = None
    try:
        msgspec.convert(raw, type=kind)
        if not _has_keys(kind):  # in a list of 30 000 numbers there is nothing to be found
            return
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        refusal = error
    struct = _struct_meant(raw, kind)
    inner = _items(raw, kind) if struct is None else _values(raw, struct)
    found = chain(
        () if struct is None else _key_mistakes(raw, struct, place, path),
        (each for value, of, step in inner for each in _mistakes(value, of, place, path + step)),
    )
    first = next(found, None)
    if first is not None:
        yield first
        yield from found
    elif refusal is not None:
        yield _sentence(raw, kind, refusal, place, path)


def _alternatives(kind: Any) -> list[Any]:
    """The types that a value of `kind` may have, None left out."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [each for member in get_args(kind) for each in _alternatives(member)]
    return [] if kind is NoneType else [kind]


def _structs(kind: Any) -> list[type[msgspec.Struct]]:
    return [each for each in _alternatives(kind) if isinstance(each, type) and issubclass(each, msgspec.Struct)]


@lru_cache(maxsize=256)
def _has_keys(kind: Any) -> bool:
    """Whether there are keys in such values, however deep: msgspec passes over unknown ones."""
    return bool(_structs(kind)) or any(map(_has_keys, get_args(kind)))


@lru_cache(maxsize=256)
def _fields(struct: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(struct)}


def _struct_meant(raw: Any, kind: Any) -> type[msgspec.Struct] | None:
    """The struct that a mapping is meant to be: the only one, or the one its tag names. None if it is none."""
    structs = _structs(kind) if isinstance(raw, dict) else []
    if len(structs) > 1:
        structs = [each for each in structs if raw.get(each.__struct_config__.tag_field) == each.__struct_config__.tag]
    return structs[0] if len(structs) == 1 else None


def _values(raw: Any, struct: type[msgspec.Struct]) -> list[tuple[object, Any, str]]:
    """The values of known keys, each with its type and the step that leads to it."""
    known = _fields(struct)
    return [(value, known[key].type, f".{key}") for key, value in raw.items() if key in known]


def _items(raw: object, kind: Any) -> list[tuple[object, Any, str]]:
    """The same for the items of a list; and for the values of a mapping with any keys."""
    for each in _alternatives(kind):
        inner = get_args(each)
        if get_origin(each) is dict and isinstance(raw, dict):
            return [(value, inner[1], f".{key}") for key, value in raw.items()]
        if get_origin(each) in (list, tuple) and isinstance(raw, list | tuple):
            of_all = get_origin(each) is list or inner[1:] == (...,)
            kinds = [inner[0]] * len(raw) if of_all else list(inner)
            return [(value, of, f"[{at}]") for at, (value, of) in enumerate(zip(raw, kinds, strict=False))]
    return []


def _key_mistakes(raw: Any, struct: type[msgspec.Struct], place: _Place, path: str) -> Iterator[str]:
    """Unknown keys, then missing ones; a missing one that an unknown one resembles has been told."""
    fields = _fields(struct)
    strangers = [key for key in raw if key not in fields and key != struct.__struct_config__.tag_field]
    for key in strangers:
        yield place.at(path) + unknown(place.key, place.word(key), fields)
    meant = {name for key in strangers for name in difflib.get_close_matches(cut(str(key)), fields, n=1)}
    for name, field in fields.items():
        if field.required and name not in raw and name not in meant:
            yield f'{place.at(path)}the {place.key} "{name}" is missing'


def _sentence(raw: Any, kind: Any, refusal: Exception, place: _Place, path: str) -> str:
    """The message of msgspec about `raw`, to which `path` leads, in the words of its author."""
    what = str(refusal).partition(" - at `$")[0]
    if missing := re.match(r"Object missing required field `(.*)`", what):
        return f'{place.at(path)}the {place.key} "{missing[1]}" is missing'
    choices = _choices(kind)
    configs = [each.__struct_config__ for each in _structs(kind)] if isinstance(raw, dict) else []
    tags, tag_field = [each.tag for each in configs], configs[0].tag_field if configs else None
    if tag_field is not None and tag_field in raw and raw[tag_field] not in tags:
        raw, kind, choices, path = raw[tag_field], Any, tags, f"{path}.{tag_field}"
    where = place.at(path)
    if type(raw) in set(map(type, choices)) - {bool}:
        return where + unknown("value", place.word(raw), map(place.word, choices))
    if isinstance(refusal, UnicodeEncodeError):
        return where + place.no_text
    shown, takes_text = place.shown(raw), place.key == "key" and _takes_text(kind)
    if takes_text and choices and isinstance(raw, bool):
        reads = f"found {shown.lower()} (YAML reads off, no, yes and on as true or false)"
        return f"{where}{reads}; write it in quotes; known: {', '.join(map(str, choices))}"
    in_quotes = "; put it in quotes" if takes_text and not choices and isinstance(raw, int | float | date) else ""
    described = _described(kind, place)
    is_told = described and (choices or what.startswith("Expected `"))
    return f"{where}{f'expected {described}' if is_told else _expected(what)}, found {shown}{in_quotes}"


def _expected(what: str) -> str:
    """`expected a whole number >= 1` for msgspec's "Expected `int` >= 1, got `str`"."""
    matched = re.match(r"Expected `([^`]*)`(.*?)(?:, got .*)?$", what, re.DOTALL)
    if matched is None:
        what = what.replace("`", "")
        return what[:1].lower() + what[1:]
    names = [name for name in matched[1].split(" | ") if name != "null"]
    return "expected " + " or ".join(_TYPES.get(name, name) for name in names) + matched[2]


def _described(kind: Any, place: _Place) -> str:
    """The description of a type: one in its Meta, the keys of a struct, choices. Empty if nothing."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) is Annotated:
        return next((each.description for each in inner[1:] if each.description), "") or _described(inner[0], place)
    if get_origin(kind) in (Union, UnionType):
        return _described(inner[0], place) if len(inner) == 1 else ""
    if structs := _structs(kind):
        fields = _fields(structs[0])
        return f"an object with the {place.key}{'' if len(fields) == 1 else 's'} {', '.join(fields)}"
    choices = [place.word(choice) for choice in _choices(kind)]
    return f"one of {', '.join(choices)}" if len(choices) > 1 else "".join(choices)


def _choices(kind: Any) -> list[Any]:
    """The values of a closed set; none for other types."""
    match _alternatives(kind):
        case [one] if get_origin(one) is Literal:
            return sorted(get_args(one))
        case [type() as one] if issubclass(one, Enum):
            return [each.value for each in one]
    return []


def _takes_text(kind: Any) -> bool:
    return any(each is str or any(isinstance(one, str) for one in _choices(each)) for each in _alternatives(kind))
