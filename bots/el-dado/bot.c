/* el-dado: plays Shanghaien, with any of its expansions, to win the match.
 *
 * Captain Ramon "El Dado" is one of the two captains of the game; el dado is the die. Each action is worth the chance to
 * win after it. `table` solves the rest of the round exactly, the tricks of the base game included; `ending` values
 * what the round can end with; `worth` follows an action to the next turn; `position` reads the view. Of tricks of
 * expansions only those on the table, and the one the player can play now, are seen. There is no chance in here: the
 * same request gets the same answer. */

#include "worth.h"

/* Fill in the worth of each legal action to the seat that is asked: its chance to win, a draw counting half. */
static void evaluate(const json *view, const json *legal, double budget_ms, double *values) {
    Position p = seen(view);
    const json *announced = member(member(member(view, "expansions"), "crazy_captain"), "announced");
    (void)budget_ms;
    for (const json *action = legal->first; action; action = action->next) {
        float value;
        if (is_text(member(action, "do"), "allow")) value = 1 - worth_allowed(&p, announced);
        else if (is_text(member(action, "do"), "veto")) value = 1 - worth_vetoed(&p, announced);
        else value = worth(&p, action);
        *values++ = less(greater(value, 0), 1); /* a sum of chances may be a little more */
    }
}

static const json *choose(const json *view, const json *legal, const json *clock) {
    double values[256];
    int best = 0;
    (void)clock;
    evaluate(view, legal, 0, values);
    for (int index = 1; index < count(legal); index++)
        if (values[index] > values[best]) best = index;
    note("chance to win %.4f", values[best]);
    return element(legal, best);
}

int main(void) {
    make_dice();
    make_endings();
    kit.evaluate = evaluate;
    return play(choose);
}
