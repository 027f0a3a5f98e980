"""What a tournament's schedule setting stands for. Rule: a new kind of schedule is named here and in `settings`."""

from arena.league.schedules import tables
from arena.league.schedules.cycles import cycles, until_decided
from arena.league.schedules.knockout import knockout
from arena.league.schedules.plan import Course, Table
from arena.league.schedules.settings import Gauntlet, Knockout, Swiss, decided
from arena.league.schedules.swiss import swiss
from arena.league.tournament import Tournament


def course_of(tournament: Tournament) -> Course:
    """The rounds of the tournament, by the schedule of its file."""
    schedule = tournament.schedule
    names = [player.name for player in tournament.players]
    if isinstance(schedule, Swiss):
        return swiss(names, schedule.rounds)
    if isinstance(schedule, Knockout):
        return knockout(names, schedule.blocks_per_tie, schedule.cap_blocks or schedule.blocks_per_tie)
    rule = decided(schedule)
    if rule is None:
        return cycles(tables_of(tournament), tournament.cycles)
    return until_decided(names, tables_of(tournament), tournament.cycles, rule, tournament.rating)


def tables_of(tournament: Tournament) -> tuple[Table, ...]:
    """All who can meet: the tables of one cycle; for schedules without cycles, all pairs."""
    names = [player.name for player in tournament.players]
    if not isinstance(tournament.schedule, Gauntlet):
        return tables.cycle(names, tournament.seats)
    challengers = tournament.schedule.challengers
    return tables.gauntlet(challengers, [name for name in names if name not in challengers], tournament.seats)


def most_blocks(tournament: Tournament) -> int:
    """Blocks of the whole tournament; where results decide how many, at most."""
    schedule, players = tournament.schedule, len(tournament.players)
    if isinstance(schedule, Swiss):
        return schedule.rounds * (players // 2)
    if isinstance(schedule, Knockout):
        return (players - 1) * (schedule.cap_blocks or schedule.blocks_per_tie)
    rule, blocks = decided(schedule), tournament.cycles
    if rule is not None:
        blocks += (rule.cap_blocks - blocks) // rule.step_blocks * rule.step_blocks
    return len(tables_of(tournament)) * blocks
