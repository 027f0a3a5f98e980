"""A page in every format: the parts of a text for people, the records of CSV, the document of JSON.

Rule: CSV and JSON have all columns unless somebody chooses some; the look of the text changes nothing in them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from arena.errors import SpecError
from arena.report.columns import Definition, select_fields
from arena.report.formats import FORMATS, PLAIN, Style, csv_pieces, json_text
from arena.text import unknown

Records = tuple[Sequence[str], Iterable[Mapping[str, object]]]
"""The columns of CSV, and the rows with values by column."""


class Page(msgspec.Struct, frozen=True):
    """A page of a league: the parts of the text in a style, the records of CSV, the document of JSON.

    `luck`, the sentence on the origin of luck, stands below the text, in a column of its own, or under the key `luck`.
    `definitions` are the columns of its tables that may be chosen in CSV and JSON, too.
    """

    text: Callable[[Style], Iterable[str]]
    records: Callable[[], Records]
    document: Callable[[], Mapping[str, object]]
    luck: str | None = None
    definitions: Sequence[Definition] = ()

    def render(self, form: str, style: Style = PLAIN) -> str:
        """Format the page in one of `FORMATS`, without a final newline. SpecError for other formats and columns.

        With chosen columns JSON is a list of the records of CSV.
        """
        of_luck = {} if self.luck is None else {"luck": self.luck}
        if form == "csv" or (form == "json" and style.columns):
            columns, rows = self._chosen_records(style.columns, of_luck)
            if form == "json":
                return json_text([{column: row.get(column) for column in columns} for row in rows])
            lines = ([row.get(column) for column in columns] for row in rows)
            return "".join(csv_pieces(columns, lines)).removesuffix("\n")
        if form == "json":
            return json_text({**self.document(), **of_luck})
        if form not in FORMATS:
            raise SpecError(unknown("format", form, FORMATS))
        style = replace(style, is_markdown=form == "markdown", width=None if form == "markdown" else style.width)
        return "\n\n".join(filter(None, [*self.text(style), style.sentences([self.luck] if self.luck else [])]))

    def _chosen_records(self, names: Sequence[str], of_luck: Mapping[str, str]) -> Records:
        """Return the records of CSV with the sentence on luck, with the columns of these names or all."""
        columns, rows = self.records()
        columns = (*columns, *of_luck)
        groups = {column.name: column.fields for column in self.definitions if column.fields}
        return select_fields(groups, names, columns) if names else columns, ({**row, **of_luck} for row in rows)
