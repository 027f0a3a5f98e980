/* The rule of arena's own value of a position: the margin in points to be expected, and what it is as a chance to win.
 * Its constants are those of arena/games/shanghaien/value. */

#include "ending.h"

#include <math.h>

enum { POOLS = 32, STRENGTHS = 32 };

static const float share = 0.33f, slope = 0.88f; /* the part of an expected margin that comes true */
static const float trick_worth[] = {1.0f, 1.4f, 2.2f, 2.6f, 2.8f, 2.8f, 2.7f, 2.6f};
static const float first_joker[] = {0.0f, 0.65f, 0.5f, 0.4f, 0.4f, 0.3f, 0.2f, 0.1f};
static const float second_joker[] = {0.0f, 0.0f, 0.6f, 0.6f, 0.4f, 0.2f, 0.2f, 0.2f};
static const float start_worth[] = {0.0f, 0.2f, 0.3f, 0.3f, 0.4f, 0.4f, 0.4f, 0.7f, 1.1f};
static const float deviation[] = {0.0f, 9.6f, 9.5f, 9.2f, 8.8f, 8.4f, 7.9f, 7.1f, 4.3f * 0.88f};

/* An unused card of an expansion: so many points, and so many more for each round left. */
static const float card_worth[EXPANSIONS][2] = {{1.2f, 0.25f}, {2.2f, 0.15f}, {2.0f, 0.1f}, {1.0f, 0.1f}};

const int sailor_values[5] = {1, 2, 3, 3, 4};
static float margins[POOLS][STRENGTHS][STRENGTHS];

/* The points of a nation, mine minus theirs. */
static int points(int mine, int theirs) {
    int least = mine < theirs ? mine : theirs, most = mine + theirs - least;
    if (mine == theirs) return 0;
    return (mine > theirs ? 1 : -1) * (least ? least : most);
}

/* Each sailor to come goes to either side with the chance `share`. A pool comes after those with fewer sailors. */
void make_endings(void) {
    for (int pool = 0; pool < POOLS; pool++) {
        int first = 0;
        while (pool && !(pool >> first & 1)) first++;
        int value = sailor_values[first], others = pool & (pool - 1);
        for (int mine = 0; mine < STRENGTHS; mine++)
            for (int theirs = 0; theirs < STRENGTHS; theirs++) {
                int more = mine + value < STRENGTHS ? mine + value : STRENGTHS - 1;
                int more_theirs = theirs + value < STRENGTHS ? theirs + value : STRENGTHS - 1;
                margins[pool][mine][theirs] =
                    !pool ? (float)points(mine, theirs)
                          : share * (margins[others][more][theirs] + margins[others][mine][more_theirs]) +
                                (1 - 2 * share) * margins[others][mine][theirs];
            }
    }
}

/* Student's distribution with 8 degrees of freedom. */
static float chance_of(float deviations) {
    float u = deviations / sqrtf(8 + deviations * deviations), v = u * u;
    return 0.5f + u * (35 - v * (35 - v * (21 - 5 * v))) / 32;
}

/* ---- after a round: the sides as the seat that ended it sees them, itself first ---- */

typedef struct {
    const uint8_t *to_come;
    int rounds_left;
    int strength[2][NATIONS], tricks[2];
    float others; /* the margin by cards of expansions */
} After;

static float margin_of(const After *after, int nation, int more, int more_theirs) {
    int mine = after->strength[0][nation], theirs = after->strength[1][nation];
    return margins[after->to_come[nation]][mine + (mine ? more : 0)][theirs + (theirs ? more_theirs : 0)];
}

/* The gain by a joker of the side; if `answers`, after one that the other side laid there. */
static float gain_of(const After *after, int side, int nation, int answers) {
    int other = answers ? JOKER_VALUE : 0;
    if (side == 0) return margin_of(after, nation, JOKER_VALUE, other) - margin_of(after, nation, 0, other);
    return margin_of(after, nation, other, 0) - margin_of(after, nation, other, JOKER_VALUE);
}

/* The worth of the unused tricks of a side by rule of thumb. */
static float tricks_worth(const After *after, int side) {
    int held = after->tricks[side], left = after->rounds_left;
    float first = 0, second = 0;
    for (int nation = 0; held && nation < NATIONS; nation++) {
        float gain = gain_of(after, side, nation, 0);
        if (gain > first) second = first, first = gain;
        else if (gain > second) second = gain;
    }
    return (float)held * trick_worth[left] + (held ? first_joker[left] * first : 0) +
           (held > 1 ? second_joker[left] * second : 0);
}

/* The margin by the tricks in the last round, if each side lays a joker that helps; the other side starts. */
static float last_tricks(const After *after) {
    float worth[2] = {(float)after->tricks[0], (float)after->tricks[1]};
    int laid = -1;
    for (int side = 2; side--;) {
        float best = trick_worth[0];
        int best_nation = -1;
        for (int nation = 0; after->tricks[side] && nation < NATIONS; nation++) {
            float gain = gain_of(after, side, nation, side == 0 && nation == laid);
            if (gain > best) best = gain, best_nation = nation;
        }
        worth[side] += best - trick_worth[0];
        laid = best_nation;
    }
    return worth[0] - worth[1];
}

static float payoff_after(const After *after) {
    float margin = after->others;
    int left = after->rounds_left;
    for (int nation = 0; nation < NATIONS; nation++) margin += margin_of(after, nation, 0, 0);
    if (!left) {
        margin += (float)(after->tricks[0] - after->tricks[1]);
        return margin > 0 ? 1 : margin < 0 ? 0 : 0.5f;
    }
    float by_tricks = tricks_worth(after, 0) - tricks_worth(after, 1);
    if (left == 1) by_tricks = (by_tricks + last_tricks(after)) / 2;
    int next = ROUNDS + 1 - left;
    return chance_of((margin + by_tricks - start_worth[next]) * slope / deviation[next]);
}

void fill_payoffs(const Terms *terms, int seat, float payoffs[WINNINGS]) {
    After before = {.to_come = terms->to_come, .rounds_left = ROUNDS - terms->round};
    for (int side = 0; side < 2; side++) {
        int of = side ? 1 - seat : seat;
        before.tricks[side] = terms->tricks[of];
        for (int nation = 0; nation < NATIONS; nation++) before.strength[side][nation] = terms->strength[of][nation];
        for (int card = 0; card < EXPANSIONS; card++) {
            float worth = card_worth[card][0] + card_worth[card][1] * (float)before.rounds_left;
            before.others += (float)((side ? -1 : 1) * terms->cards[of][card]) * (before.rounds_left ? worth : 1);
        }
    }
    for (int won = 0; won < WINNINGS; won++) {
        After after = before;
        for (int number = 0; number < FACES; number++) {
            int winner = winner_of[won][number];
            if (winner == NOBODY || terms->face_down >> number & 1) continue;
            if (terms->nation[number] == TRICK) after.tricks[winner - ME]++;
            else after.strength[winner - ME][terms->nation[number]] += terms->value[number];
        }
        payoffs[won] = payoff_after(&after);
    }
}

float joker_gain(const Terms *terms, int seat, int nation) {
    int mine = terms->strength[seat][nation], theirs = terms->strength[1 - seat][nation];
    uint8_t pool = terms->to_come[nation];
    for (int number = 0; number < FACES; number++)
        if (terms->nation[number] == nation)
            for (int bit = 0; bit < 5; bit++)
                if (sailor_values[bit] == terms->value[number] && !(pool >> bit & 1)) {
                    pool |= (uint8_t)(1 << bit);
                    break;
                }
    return mine ? margins[pool][mine + JOKER_VALUE][theirs] - margins[pool][mine][theirs] : 0;
}
