"""Names and parameters of games of OpenSpiel that cannot be played: each is a sentence, and arena lives on."""

import pytest
from support.cli_arena import Terminal
from support.golden import Golden

from arena.errors import SpecError
from arena.games import is_plugin, known_names, load_game, openspiel

pytestmark = pytest.mark.slow


def refusal(name: str) -> str:
    """The sentence with which `openspiel:name` is refused, without the name: one line."""
    with pytest.raises(SpecError) as caught:
        load_game(f"openspiel:{name}")
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.isprintable()
    return sentence.removeprefix(f"openspiel:{name}: ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("2048", "a game for one player; arena plays games of 2 to 10 seats"),
        ("mfg_garnet", "a mean-field game has a crowd in place of players"),
        ("tarok", "OpenSpiel draws its luck itself (sampled stochastic)"),
        ("misere(game=tarok())", "OpenSpiel draws its luck itself (sampled stochastic)"),
        ("nfg_game", "it reads a file (filename), which no record of a match holds"),
        ("efg_game(filename=/etc/passwd)", "it reads a file (filename)"),
        ("repeated_game(stage_game=nfg_game(filename=/x),num_repetitions=2)", "it reads a file (filename)"),
        ("misere", "it needs parameters; its parameters: game={}"),
    ],
)
def test_a_game_that_no_match_can_be_played_of_is_refused_by_name(name: str, told: str) -> None:
    """One player, a crowd, its own luck, a file, or an unfinished game are refused by name."""
    found = refusal(name)

    assert told in found


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("kuhn_poker(playrs=3)", "Unknown parameter 'playrs'"),
        ("kuhn_poker(players=x)", "Wrong type for parameter players. Expected type: kInt, got kString with x"),
        ("kuhn_poker(players=11)", "num_players_ = 11"),
        ("hex(board_size=1000000)", "OpenSpiel refuses it"),
        ("breakthrough(rows=100000,columns=100000)", "OpenSpiel refuses it: std::bad_alloc"),
        ("connect_four(rows=0)", "its code dies of SIGSEGV"),
    ],
)
def test_unknown_and_impossible_parameters_are_named_with_the_known_ones(name: str, told: str, golden: Golden) -> None:
    """Parameters that end the process or take its memory are refused, too, without paths of the build."""
    found = refusal(name)

    assert told in found
    golden(found)
    assert "/project/" not in found


@pytest.mark.parametrize(
    "name", ["", "()", "leduc_poker(", "leduc-poker", "../x", "go(\n)", "go(\x1b[2J)", "go(" + "x" * 500 + ")"]
)
def test_a_name_of_another_form_is_refused_with_the_form(name: str, golden: Golden) -> None:
    """The refusal prints the name without its escapes, and not at full length."""
    found = refusal(name)

    golden(found)
    assert len(found) < 300


def test_an_unknown_name_is_refused_with_the_nearest(golden: Golden) -> None:
    """And an unknown game of arena with the form of those of OpenSpiel."""
    golden(refusal("backgamon"))
    with golden.raises(SpecError):
        load_game("qqqq")
    assert not any(name.startswith("openspiel") for name in known_names())
    assert is_plugin("openspiel:go(board_size=9)")


def test_a_view_larger_than_a_line_is_refused(golden: Golden) -> None:
    """A board of 100 by 100 is: its sentence has the size and the limit."""
    found = refusal("dots_and_boxes(num_rows=100,num_cols=100)")

    golden(found)


def test_commands_know_the_games_of_openspiel(terminal: Terminal, golden: Golden) -> None:
    """A line in the list of games; a bot that names no other than OpenSpiel's plays them all, and nothing else."""
    (line,) = [each for each in terminal.arena("games").out.splitlines() if "openspiel" in each]
    assert line.split()[:5] == ["openspiel:NAME", openspiel.rules_version(), "2", "to", "10"]

    refused = terminal.arena("match montecarlo random --game nim --isolation none")
    played = terminal.arena("match random random --game openspiel:leduc_poker(players=2) --isolation none")
    unknown = terminal.arena("match random random --game openspiel:kuhn --isolation none")

    assert (refused.code, refused.err) == (2, "error: montecarlo plays openspiel, not nim\n")
    assert played.code == 0, played.err
    assert unknown.code == 2
    golden(unknown.err)
