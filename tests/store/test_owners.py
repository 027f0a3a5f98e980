"""Names that readers take for each other, and whose they are."""

import unicodedata
from pathlib import Path

import pytest
from support.golden import Golden

from arena.errors import SpecError
from arena.store.owners import NameTaken, look_alike, normalize_owner, owner_of_folder, owner_of_user, require_free


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("gina", "gina", True),
        ("gina", "GINA", True),
        ("gina", "Gina", True),
        ("paul", "pau1", True),
        ("paul", "pauI", True),
        ("lan", "Ian", True),
        ("ian", "IAN", True),
        ("bob", "b0b", True),
        ("BOB", "B0B", True),
        ("otto", "0tt0", True),
        ("marmot", "rnarrnot", True),
        ("will", "vvill", True),
        ("gina-2", "gina_2", True),
        ("gina-2", "gina.2", True),
        ("gina2", "gina-2", True),
        ("Anna Schmidt", "anna-schmidt", True),
        ("jos\u00e9", "jose", True),
        ("jose\u0301", "jose", True),
        ("\uff47ina", "gina", True),
        ("ian", "lan", False),
        ("kai", "kal", False),
        ("gina", "gina2", False),
        ("c", "c++", False),
        ("ann", "anna", False),
        ("tina", "gina", False),
        ("\u65e5\u672c", "nihon", False),
    ],
)
def test_names_that_look_alike(first: str, second: str, expected: bool) -> None:
    """The comparison gives the same result in either order."""
    assert look_alike(first, second) is look_alike(second, first) is expected


OWNED = {"gina": "gina", "shark": "tina", "random": "bots/random"}


@pytest.mark.parametrize(
    ("name", "owner", "sentence"),
    [
        ("gina", "gina", ""),
        ("gina-2", "gina", ""),
        ("Gina", "gina", ""),
        ("gina", "tina", 'the name "gina" belongs to gina; choose another name, or give --owner'),
        ("GINA", "tina", 'the name "GINA" looks like "gina", which belongs to gina'),
        ("g1na", "tina", ""),
        ("shark", "gina", 'the name "shark" belongs to tina'),
        ("sharK", "gina", 'the name "sharK" looks like "shark", which belongs to tina'),
        ("tina", "gina", 'the name "tina" is for bots of tina'),
        ("T.INA", "gina", 'the name "T.INA" is for bots of tina'),
        ("Random", "gina", 'the name "Random" looks like "random", which belongs to bots/random'),
        ("paul", "gina", 'the name "paul" is for bots of Paul'),
        ("paul", "Paul", ""),
        ("whale", "user/root", ""),
        ("gina", "user/gina", 'the name "gina" belongs to gina'),
    ],
)
def test_a_name_is_free_for_its_owner_alone(name: str, owner: str, sentence: str) -> None:
    """Owners are taken from the list of names, and from those who hand in without a name so far."""
    if not sentence:
        require_free(name, owner, OWNED, ["Paul"])
        return
    with pytest.raises(NameTaken) as caught:
        require_free(name, owner, OWNED, ["Paul"])
    assert str(caught.value).startswith(sentence)
    assert caught.value.for_author.startswith(f'the name "{name}" ')
    others = {*OWNED, *OWNED.values(), "Paul"} - {name}
    assert not any(
        f" {other}" in caught.value.for_author or f'"{other}"' in caught.value.for_author for other in others
    )


def test_two_owners_with_names_that_look_alike_have_their_own_names(golden: Golden) -> None:
    """Owners may use the names of their own folders, even if these look alike."""
    require_free("lan", "lan", {}, ["Ian"])
    require_free("Ian", "Ian", {}, ["lan"])
    with golden.raises(NameTaken):
        require_free("lan", "lan", {"Ian": "Ian"}, [])


@pytest.mark.parametrize("text", ["", " ", "a/b", "/", "a\nb", "\x1b[31m", "\u202egnp", "x" * 101, "caf\udce9"])
def test_an_owner_has_a_name_that_prints(text: str, golden: Golden) -> None:
    """An owner's name has no slash: with one it could be that of a user."""
    with golden.raises(SpecError):
        normalize_owner(text)


def test_an_owner_is_the_folder_as_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever way a file system or an archive writes its letters; no folder is a user."""
    monkeypatch.chdir(tmp_path)

    assert owner_of_folder(Path("in/tina")) == "tina"
    assert owner_of_folder(Path()) == tmp_path.name
    assert owner_of_folder(Path(unicodedata.normalize("NFD", "in/jos\u00e9"))) == "jos\u00e9"
    assert owner_of_user().startswith("user/")
