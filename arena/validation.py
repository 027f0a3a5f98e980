"""Plain data (YAML, JSON, options) -> a frozen struct, or a SpecError that names the place.

Rule: nothing is ignored and nothing is guessed. An unknown key, a missing key and a wrong type are errors that say
where they are, what was found, and what is known there. A person is told all of them at once, a bot the first.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from arena.errors import SpecError
from arena.text import cut, printable, unknown

T = TypeVar("T")

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_TYPES: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
"""The words of msgspec in those of a person. `null` is left out: whoever gives a value does not mean it."""
_SCALARS: Final = (
    msgspec.inspect.BoolType,
    msgspec.inspect.IntType,
    msgspec.inspect.FloatType,
    msgspec.inspect.StrType,
)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_NO_UNICODE: Final = "a text in it is no Unicode: it has half of a surrogate pair"
_MOST_MISTAKES: Final = 20
"""Mistakes that are told one by one; of the others their number."""
_DIGITS_BITS: Final = 64
"""Longer numbers are not written out: nobody counts their digits, and Python refuses to write some."""
_type_info: Final = lru_cache(maxsize=256)(msgspec.inspect.type_info)
"""Each match reads its game's options: to look at a type takes longer than to look at a value."""


def read_struct(raw: object, kind: type[T], *, place: str) -> T:
    """`raw` as a `kind`. `place` names the data for the reader: a file, or the path of an option.

    SpecError tells all its mistakes: one in a line with the place, several in a line each below it.
    """
    return _read_for_person(raw, kind, _Place(printable(place)))


def read_options(raw: dict[str, object], kind: type[T]) -> T:
    """Values of options of the command line, by their fields, as a `kind`; SpecError names `--move-ms`."""
    return _read_for_person(raw, kind, _CommandLine("command line"))


def _read_for_person(raw: object, kind: type[T], where: "_Place") -> T:
    try:
        known: T = _read(raw, kind, where)
    except (SpecError, UnicodeEncodeError):
        mistakes = list(dict.fromkeys(_mistakes(raw, kind, where, "")))
        raise SpecError(where.listed(mistakes)) from None
    return known


def why_not(raw: object, kind: Any, *, place: str) -> str:
    """Why `raw`, which came over the wire, is no `kind` (also a union); empty if it is one. In JSON's words, in ASCII.

    For a message that msgspec has refused; it takes too long for every message.
    """
    try:
        _read(raw, kind, _Message(place))
    except SpecError as error:
        return str(error)
    except UnicodeEncodeError:
        return f"{place}: a text in it is no UTF-8"
    return ""


class _Place:
    """The source of data, its word for a key, and the form in which its author would write a value."""

    key = "key"

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


def _read(raw: object, kind: Any, place: _Place, path: str = "") -> Any:
    """`raw` as a `kind`, or SpecError with the first mistake; `path` leads to `raw`."""
    _refuse_unknown(raw, _type_info(kind), place, path)
    try:
        return msgspec.convert(raw, type=kind)
    except msgspec.ValidationError as error:
        raise SpecError(_sentence(raw, kind, str(error), place, path)) from None


def _mistakes(raw: object, kind: Any, place: _Place, path: str) -> Iterator[str]:
    """All that is wrong with `raw`: every key and every item is looked at by itself, all else has one mistake."""
    struct = _struct_meant(raw, kind)
    inner = _items(raw, kind) if struct is None else _values(raw, struct)
    found = [] if struct is None else list(_key_mistakes(raw, struct, place, path))
    found += [each for value, of, step in inner for each in _mistakes(value, of, place, path + step)]
    if not found:
        try:
            _read(raw, kind, place, path)
        except SpecError as error:
            found = [str(error)]
        except UnicodeEncodeError:
            found = [f"{place.at(path)}{_NO_UNICODE}"]
    yield from found


def _alternatives(kind: Any) -> list[Any]:
    """The types that a value of `kind` may have, None left out."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [each for member in get_args(kind) for each in _alternatives(member)]
    return [] if kind is type(None) else [kind]


def _struct_meant(raw: object, kind: Any) -> type[msgspec.Struct] | None:
    """The struct that a mapping is meant to be: the only one, or the one its tag names. None if it is none."""
    if not isinstance(raw, dict):
        return None
    structs = [each for each in _alternatives(kind) if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    if len(structs) > 1:
        structs = [each for each in structs if raw.get(each.__struct_config__.tag_field) == each.__struct_config__.tag]
    return structs[0] if len(structs) == 1 else None


def _values(raw: Any, struct: type[msgspec.Struct]) -> list[tuple[object, Any, str]]:
    """The values of known keys, each with its type and the step that leads to it."""
    hints = get_type_hints(struct, include_extras=True)
    known = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(struct)}
    return [(value, known[key], f".{key}") for key, value in raw.items() if key in known]


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
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    strangers = [key for key in raw if key not in fields and key != struct.__struct_config__.tag_field]
    meant = {name for key in strangers for name in difflib.get_close_matches(cut(str(key)), fields, n=1)}
    for key in strangers:
        yield place.at(path) + unknown(place.key, place.word(key), fields)
    for name, field in fields.items():
        if field.required and name not in raw and name not in meant:
            yield f'{place.at(path)}the {place.key} "{name}" is missing'


def _refuse_unknown(raw: object, kind: msgspec.inspect.Type, place: _Place, path: str) -> None:
    """Keys and choices nobody knows, wherever they lie; what msgspec finds by itself is left to it."""
    if _is_plain(kind):  # in a list of 30 000 numbers there is nothing to be found
        return
    for value, inner, step in _parts(raw, kind, place, path):
        _refuse_unknown(value, inner, place, path + step)


def _is_plain(kind: msgspec.inspect.Type) -> bool:
    """Whether there are no keys and no choices in such values, however deep."""
    match kind:
        case msgspec.inspect.CollectionType():
            return _is_plain(kind.item_type)
        case msgspec.inspect.TupleType():
            return all(map(_is_plain, kind.item_types))
        case msgspec.inspect.Metadata():
            return _is_plain(kind.type)
    return isinstance(kind, _SCALARS)


def _parts(  # noqa: PLR0911 - a table of types
    raw: object, kind: msgspec.inspect.Type, place: _Place, path: str
) -> Iterable[tuple[object, msgspec.inspect.Type, str]]:
    """The values inside `raw`, each with its type and the step of the path that leads to it."""
    match kind:
        case msgspec.inspect.StructType() if isinstance(raw, dict):
            return _fields(raw, kind, place, path)
        case msgspec.inspect.CollectionType() if isinstance(raw, list | tuple):
            return [(item, kind.item_type, f"[{index}]") for index, item in enumerate(raw)]
        case msgspec.inspect.TupleType() if isinstance(raw, list | tuple):
            return [(item, inner, f"[{i}]") for i, (item, inner) in enumerate(zip(raw, kind.item_types, strict=False))]
        case msgspec.inspect.DictType() if isinstance(raw, dict):
            return [(value, kind.value_type, f".{key}") for key, value in raw.items()]
        case msgspec.inspect.Metadata():
            return [(raw, kind.type, "")]
        case msgspec.inspect.UnionType():
            return [(raw, member, "") for member in _members(raw, kind, place, path)]
        case msgspec.inspect.LiteralType():
            _refuse_other(raw, kind.values, place, path)
        case msgspec.inspect.EnumType():
            _refuse_other(raw, [member.value for member in kind.cls], place, path)
    return []


def _fields(
    raw: dict[Any, Any], kind: msgspec.inspect.StructType, place: _Place, path: str
) -> list[tuple[object, msgspec.inspect.Type, str]]:
    fields = {field.encode_name: field.type for field in kind.fields}
    keys = [key for key in raw if key != kind.tag_field]
    for key in keys:
        if key not in fields:
            raise SpecError(place.at(path) + unknown(place.key, place.word(key), fields))
    return [(raw[key], fields[key], f".{key}") for key in keys]


def _members(
    raw: object, kind: msgspec.inspect.UnionType, place: _Place, path: str
) -> tuple[msgspec.inspect.Type, ...]:
    """The members of a union that `raw` can be: of several structs, the one that its tag names."""
    tagged = {m.tag: m for m in kind.types if isinstance(m, msgspec.inspect.StructType) and m.tag_field}
    if not tagged or not isinstance(raw, dict):
        return kind.types
    tag_field = next(iter(tagged.values())).tag_field
    if tag_field not in raw:
        return ()
    _refuse_other(raw[tag_field], list(tagged), place, f"{path}.{tag_field}")
    return tuple(member for tag, member in tagged.items() if tag == raw[tag_field])


def _refuse_other(raw: object, known: Iterable[object], place: _Place, path: str) -> None:
    """A text or number that is none of the `known` ones; another type is msgspec's to refuse."""
    choices = list(known)
    is_kin = type(raw) in set(map(type, choices)) and not isinstance(raw, bool)
    if raw not in choices and is_kin:
        raise SpecError(place.at(path) + unknown("value", place.word(raw), map(place.word, choices)))


def _sentence(raw: object, kind: Any, error: str, place: _Place, before: str) -> str:
    """The message of msgspec about `raw`, to which the path `before` leads, in the words of its author."""
    matched = _PLACE.match(error)
    assert matched is not None, "the pattern takes any text"
    what, path = matched["what"], matched["path"] or ""
    where = place.at(before + path)
    missing = re.match(r"Object missing required field `(.*)`", what)
    if missing:
        return f'{where}the {place.key} "{missing[1]}" is missing'
    steps = _STEP.findall(path)
    wanted = _kind_at(_type_info(kind), steps)
    expected = _expected(what, wanted, place)
    if any(index == "..." for _, index in steps):
        return where + expected  # msgspec does not tell which value of a mapping it means
    found: Any = raw
    for name, index in steps:
        found = found[name] if name else found[int(index)]
    shown = place.shown(found)
    if place.key == "key" and _takes_text(wanted):
        choices = _choices(wanted)
        if isinstance(found, bool) and choices:
            reads = f"found {shown.lower()} (YAML reads off, no, yes and on as true or false)"
            return f"{where}{reads}; write it in quotes; known: {', '.join(map(str, choices))}"
        if isinstance(found, int | float | date) and not choices:
            return f"{where}{expected}, found {shown}; put it in quotes"
    return f"{where}{expected}, found {shown}"


def _expected(what: str, kind: msgspec.inspect.Type, place: _Place) -> str:
    """`expected a whole number >= 1` for msgspec's "Expected `int` >= 1, got `str`", with what `kind` knows better."""
    matched = re.match(r"Expected `([^`]*)`(.*?)(?:, got .*)?$", what, re.DOTALL)
    words = _described(kind, place)
    if words and (matched is not None or _choices(kind)):
        return f"expected {words}"
    if matched is None:
        what = what.replace("`", "")
        return what[:1].lower() + what[1:]
    names = [name for name in matched[1].split(" | ") if name != "null"]
    return "expected " + " or ".join(_TYPES.get(name, name) for name in names) + matched[2]


def _described(kind: msgspec.inspect.Type, place: _Place) -> str:
    """The description of a type: one in its Meta, the keys of a struct, choices. Empty if nothing."""
    match kind:
        case msgspec.inspect.Metadata():
            return (kind.extra_json_schema or {}).get("description") or _described(kind.type, place)
        case msgspec.inspect.StructType():
            fields = [field.encode_name for field in kind.fields]
            return f"an object with the {place.key}{'' if len(fields) == 1 else 's'} {', '.join(fields)}"
        case msgspec.inspect.UnionType():
            member = _only_member(kind)
            return "" if member is None else _described(member, place)
    choices = [place.word(choice) for choice in _choices(kind)]
    return f"one of {', '.join(choices)}" if len(choices) > 1 else "".join(choices)


def _only_member(kind: msgspec.inspect.UnionType) -> msgspec.inspect.Type | None:
    """The member of a union beside None, if there is one only."""
    members = [member for member in kind.types if not isinstance(member, msgspec.inspect.NoneType)]
    return members[0] if len(members) == 1 else None


def _choices(kind: msgspec.inspect.Type) -> list[object]:
    """The values of a closed set; none for other types."""
    match kind:
        case msgspec.inspect.Metadata():
            return _choices(kind.type)
        case msgspec.inspect.UnionType():
            member = _only_member(kind)
            return [] if member is None else _choices(member)
        case msgspec.inspect.LiteralType():
            return list(kind.values)
        case msgspec.inspect.EnumType():
            return [each.value for each in kind.cls]
    return []


def _takes_text(kind: msgspec.inspect.Type) -> bool:
    match kind:
        case msgspec.inspect.Metadata():
            return _takes_text(kind.type)
        case msgspec.inspect.UnionType():
            return any(map(_takes_text, kind.types))
    return isinstance(kind, msgspec.inspect.StrType) or any(isinstance(value, str) for value in _choices(kind))


def _kind_at(  # noqa: PLR0911 - a table of types
    kind: msgspec.inspect.Type, steps: list[tuple[str, str]]
) -> msgspec.inspect.Type:
    """The type that the path leads to; where it forks, any type."""
    match kind:
        case _ if not steps:
            return kind
        case msgspec.inspect.Metadata():
            return _kind_at(kind.type, steps)
        case msgspec.inspect.UnionType():
            return _kind_at(_only_member(kind) or msgspec.inspect.AnyType(), steps)
        case msgspec.inspect.StructType():
            inner = [field.type for field in kind.fields if field.encode_name == steps[0][0]]
            return _kind_at(inner[0], steps[1:]) if inner else msgspec.inspect.AnyType()
        case msgspec.inspect.CollectionType():
            return _kind_at(kind.item_type, steps[1:])
        case msgspec.inspect.TupleType():
            return _kind_at(kind.item_types[int(steps[0][1])], steps[1:])
        case msgspec.inspect.DictType():
            return _kind_at(kind.value_type, steps[1:])
    return msgspec.inspect.AnyType()
