#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Functions with loops over rows, compiled twice: for processors with AVX2 and for all others. Results are the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_ROWS __attribute__((target_clones("avx2", "default")))
#else
#define FOR_ROWS
#endif

enum { LAYERS = HANDS * HANDS, COUNTS = MOST_DICE + 1, MAY_END = 2, MUST_END = 5, STRIPE = 8 };
enum { MOST_BYTES = 64 << 20 }; /* of tables made before */

/* A block has the values for all ways in which the seat to move and the waiting one have so many dice: a row for each
 * way of the waiting one. They are chances to win of the seat to move. */
struct Table {
    Terms terms;
    Dice root[2];            /* all ways in this table hold these dice, by seat */
    uint16_t ways[2][WAYS];  /* the ways by the dice added to these, by seat */
    int joker[2];            /* the nation of the hand LAID by seat, or -1 */
    float *payoffs[LAYERS][2]; /* by layer and seat to move */
    float *blocks[LAYERS][2][COUNTS][COUNTS]; /* by layer, seat to move, dice of the waiting seat, dice of the other */
    size_t bytes;
    Table *older;
};

typedef struct {
    Table *t;
    int mover;
    Hand hands[2];
} Turn;

static Table *newest;
static const float none[MOST_WAYS];

static float *floats(Table *t, int count) {
    float *made = malloc((size_t)count * sizeof *made);
    if (!made) exit(1);
    t->bytes += (size_t)count * sizeof *made;
    return made;
}

/* ---- which dice ---- */

/* Ways in which the seat can have so many dice. */
static int ways_with(const Table *t, int seat, int count) { return ways_of[count - dice_count[t->root[seat]]]; }

/* The length of a row: whole stripes, for the rows of a block are written in stripes of columns. */
static int stride_of(int ways) { return (ways + STRIPE - 1) / STRIPE * STRIPE; }

static int index_of(const Table *t, int seat, Dice dice) {
    Dice added = without(dice, t->root[seat]);
    return added - first_of[dice_count[added]];
}

/* Those ways, in the order of their indices. */
static const uint16_t *ways_at(const Table *t, int seat, int count) {
    return t->ways[seat] + first_of[count - dice_count[t->root[seat]]];
}

/* ---- the end of a round ---- */

static Terms terms_with(const Table *t, const Hand hands[2]) {
    Terms terms = t->terms;
    for (int seat = 0; seat < 2; seat++) {
        if (hands[seat] != KEPT) terms.tricks[seat]--;
        if (hands[seat] == LAID) terms.strength[seat][t->joker[seat]] += JOKER_VALUE;
    }
    return terms;
}

static int layer_of(const Hand hands[2]) { return (int)(hands[0] * HANDS + hands[1]); }

/* The payoffs of the seat to move if it ends the round, by the winners as it sees them, and then as the other does. */
static const float *payoffs_of(const Turn *turn) {
    float **payoffs = &turn->t->payoffs[layer_of(turn->hands)][turn->mover];
    if (!*payoffs) {
        Terms terms = terms_with(turn->t, turn->hands);
        *payoffs = floats(turn->t, 2 * WINNINGS);
        fill_payoffs(&terms, turn->mover, *payoffs);
        for (int won = 0; won < WINNINGS; won++) (*payoffs)[WINNINGS + mirrored[won]] = (*payoffs)[won];
    }
    return *payoffs;
}

/* The payoffs if the round ends when one seat has these dice, for all these ways of the other. */
FOR_ROWS static void end_row(const float *payoffs, Dice dice, const uint16_t *others, int ways, float *row) {
    for (int way = 0; way < ways; way++) row[way] = payoffs[winners[dice][others[way]]];
}

/* ---- a roll: rows have a value for each way of the other seat, which will be to move; it wants the greatest ---- */

static const float *block_of(const Turn *turn, int waiting_count, int mover_count);

/* The row after the seat to move has placed dice, so that it has `mine`, and its hand is `hand`. */
static const float *row_after(const Turn *turn, Hand hand, Dice mine, int their_count) {
    Turn next = *turn;
    next.mover = 1 - turn->mover;
    next.hands[turn->mover] = hand;
    return block_of(&next, dice_count[mine], their_count) +
           index_of(turn->t, turn->mover, mine) * stride_of(ways_with(turn->t, next.mover, their_count));
}

FOR_ROWS static void take_less(float *row, const float *other, int ways) {
    for (int way = 0; way < ways; way++) row[way] = less(row[way], other[way]);
}

float chance_of_pair(int face, int other, int has_doubles) {
    if (has_doubles) return face == other ? 0 : 1 / 15.0f;
    return face == other ? 1 / 36.0f : 1 / 18.0f;
}

/* Rows after each way to place the dice of a roll: after the best that can be done with a die of each face, and, for a
 * seat that may place both dice, after each pair. */
typedef struct {
    const float *one[FACES], *both[FACES][FACES];
    int may_both, has_doubles, ways;
    float with_tricks[FACES][MOST_WAYS]; /* room for rows */
} Roll;

static inline void order(float *low, float *high) {
    float least = less(*low, *high);
    *high = greater(*low, *high);
    *low = least;
}

/* The mean over all rolls, of which the seat to move places the better die: that of the best face falls in 11 of 36
 * rolls, the next one in 9... If the other seat vetoes values below `least`, it gets these. */
FOR_ROWS static void fill_mean_of_faces(const Roll *roll, const float *least, float *mean) {
    float chance[FACES];
    for (int rank = 0; rank < FACES; rank++)
        chance[rank] = roll->has_doubles ? (float)(5 - rank) / 15 : (float)(11 - 2 * rank) / 36;
    for (int way = 0; way < roll->ways; way++) {
        float a = roll->one[0][way], b = roll->one[1][way], c = roll->one[2][way], d = roll->one[3][way],
              e = roll->one[4][way], f = roll->one[5][way], limit = least[way];
        order(&a, &f), order(&b, &d), order(&c, &e);
        order(&b, &c), order(&d, &e);
        order(&a, &d), order(&c, &f);
        order(&a, &b), order(&c, &d), order(&e, &f);
        order(&b, &c), order(&d, &e);
        mean[way] = chance[0] * greater(a, limit) + chance[1] * greater(b, limit) + chance[2] * greater(c, limit) +
                    chance[3] * greater(d, limit) + chance[4] * greater(e, limit) + chance[5] * greater(f, limit);
    }
}

FOR_ROWS static void fill_mean_of_pairs(const Roll *roll, const float *least, float *mean) {
    memset(mean, 0, (size_t)roll->ways * sizeof *mean);
    for (int face = 0; face < FACES; face++)
        for (int other = 0; other <= face; other++) {
            const float *first = roll->one[face], *second = roll->one[other], *both = roll->both[face][other];
            float chance = chance_of_pair(face, other, roll->has_doubles);
            for (int way = 0; way < roll->ways; way++)
                mean[way] += chance * greater(less(less(first[way], second[way]), both[way]), least[way]);
        }
}

static void fill_mean(const Roll *roll, const float *least, float *mean) {
    if (roll->may_both) fill_mean_of_pairs(roll, least, mean);
    else fill_mean_of_faces(roll, least, mean);
}

/* Fill in the rows after a die of each face, with this hand after it. */
static void place_one(const Turn *turn, Hand hand, Dice mine, int their_count, Roll *roll) {
    const Table *t = turn->t;
    roll->may_both = 0, roll->has_doubles = t->terms.has_doubles, roll->ways = ways_with(t, 1 - turn->mover, their_count);
    for (int face = 0; face < FACES; face++)
        roll->one[face] = row_after(turn, hand, with_die(mine, face), their_count);
}

/* Let the seat to move use a trick where that is better than a placement without one. */
static void use_tricks(const Turn *turn, Dice mine, int their_count, Roll *roll) {
    int kinds = turn->t->terms.kinds[turn->mover], may_lay = turn->t->joker[turn->mover] >= 0;
    float rerolled[MOST_WAYS];
    Roll spent;
    place_one(turn, SPENT, mine, their_count, &spent);
    fill_mean(&spent, none, rerolled);
    roll->may_both = kinds & BOTH;
    for (int face = 0; face < FACES; face++) {
        Dice placed = with_die(mine, face);
        float *row = roll->with_tricks[face];
        memcpy(row, roll->one[face], (size_t)roll->ways * sizeof *row);
        roll->one[face] = row;
        if (may_lay) take_less(row, row_after(turn, LAID, placed, their_count), roll->ways);
        if (kinds & REROLL) take_less(row, rerolled, roll->ways);
        if (kinds & ADJUST && face > 0) take_less(row, spent.one[face - 1], roll->ways);
        if (kinds & ADJUST && face < FACES - 1) take_less(row, spent.one[face + 1], roll->ways);
        for (int other = 0; kinds & BOTH && other <= face; other++)
            roll->both[face][other] = row_after(turn, SPENT, with_die(placed, other), their_count);
    }
}

/* Values for the seat to move if it rolls, for all ways of the waiting seat. */
static void roll_row(const Turn *turn, Dice mine, int their_count, int is_safe, float *row) {
    const Terms *terms = &turn->t->terms;
    Hand hand = turn->hands[turn->mover];
    float freely[MOST_WAYS], vetoed[MOST_WAYS], *mean = freely;
    Roll roll;
    place_one(turn, hand, mine, their_count, &roll);
    if (hand == KEPT && terms->kinds[turn->mover]) use_tricks(turn, mine, their_count, &roll);
    fill_mean(&roll, none, freely);
    if (!is_safe && terms->captain == 1 - turn->mover) fill_mean(&roll, freely, mean = vetoed);
    for (int way = 0; way < roll.ways; way++) row[way] = 1 - mean[way];
}

/* Values for the seat to move at the beginning of a turn in which it may roll. */
static void turn_row(const Turn *turn, Dice mine, int their_count, float *row) {
    const Terms *terms = &turn->t->terms;
    int other = 1 - turn->mover, ways = ways_with(turn->t, other, their_count);
    float ended[MOST_WAYS];
    roll_row(turn, mine, their_count, 0, row);
    if (dice_count[mine] < MAY_END || terms->is_banned) return;
    end_row(payoffs_of(turn), mine, ways_at(turn->t, other, their_count), ways, ended);
    if (terms->captain == other) { /* who may veto it, and a roll follows */
        float rolled[MOST_WAYS];
        roll_row(turn, mine, their_count, 1, rolled);
        take_less(ended, rolled, ways);
    }
    for (int way = 0; way < ways; way++) row[way] = greater(row[way], ended[way]);
}

/* Fill in a block whose seat to move has to end the round. */
static void end_block(const Turn *turn, const uint16_t *mine, int ways, const uint16_t *theirs, int their_ways,
                      float *block) {
    const float *payoffs = payoffs_of(turn) + WINNINGS;
    for (int way = 0; way < their_ways; way++)
        end_row(payoffs, theirs[way], mine, ways, block + way * stride_of(ways));
}

/* Fill in any other block. */
static void turn_block(const Turn *turn, const uint16_t *mine, int ways, int waiting_count, int their_ways,
                       float *block) {
    float rows[STRIPE][MOST_WAYS] = {{0}};
    for (int first = 0; first < ways; first += STRIPE) {
        for (int way = first; way < first + STRIPE && way < ways; way++)
            turn_row(turn, mine[way], waiting_count, rows[way - first]);
        for (int theirs = 0; theirs < their_ways; theirs++)
            for (int way = 0; way < STRIPE; way++) block[theirs * stride_of(ways) + first + way] = rows[way][theirs];
    }
}

static const float *block_of(const Turn *turn, int waiting_count, int mover_count) {
    Table *t = turn->t;
    float **block = &t->blocks[layer_of(turn->hands)][turn->mover][waiting_count][mover_count];
    if (!*block) {
        int other = 1 - turn->mover, ways = ways_with(t, turn->mover, mover_count);
        int their_ways = ways_with(t, other, waiting_count);
        const uint16_t *mine = ways_at(t, turn->mover, mover_count), *theirs = ways_at(t, other, waiting_count);
        *block = floats(t, stride_of(ways) * their_ways);
        if (mover_count >= MUST_END) end_block(turn, mine, ways, theirs, their_ways, *block);
        else turn_block(turn, mine, ways, waiting_count, their_ways, *block);
    }
    return *block;
}

/* ---- values for one position ---- */

static Turn turn_of(Table *t, int mover, const Hand hands[2]) { return (Turn){t, mover, {hands[0], hands[1]}}; }

float turn_value(Table *t, int mover, const Hand hands[2], const Dice dice[2]) {
    Turn turn = turn_of(t, mover, hands);
    int mover_count = dice_count[dice[mover]];
    const float *block = block_of(&turn, dice_count[dice[1 - mover]], mover_count);
    return block[index_of(t, 1 - mover, dice[1 - mover]) * stride_of(ways_with(t, mover, mover_count)) +
                 index_of(t, mover, dice[mover])];
}

float roll_value(Table *t, int mover, const Hand hands[2], const Dice dice[2], int is_safe) {
    Turn turn = turn_of(t, mover, hands);
    float row[MOST_WAYS];
    roll_row(&turn, dice[mover], dice_count[dice[1 - mover]], is_safe, row);
    return row[index_of(t, 1 - mover, dice[1 - mover])];
}

float end_value(Table *t, int mover, const Hand hands[2], const Dice dice[2]) {
    Turn turn = turn_of(t, mover, hands);
    return payoffs_of(&turn)[winners[dice[mover]][dice[1 - mover]]];
}

/* ---- tables made before ---- */

/* Forget the tables used longest ago, all but so many bytes. */
static void forget_tables(size_t kept) {
    for (Table **at = &newest; *at;) {
        Table *t = *at;
        if (t->bytes <= kept) {
            kept -= t->bytes;
            at = &t->older;
            continue;
        }
        *at = t->older;
        for (int layer = 0; layer < LAYERS; layer++)
            for (int mover = 0; mover < 2; mover++) {
                free(t->payoffs[layer][mover]);
                for (int counts = 0; counts < COUNTS * COUNTS; counts++)
                    free(t->blocks[layer][mover][counts / COUNTS][counts % COUNTS]);
            }
        free(t);
    }
}

static Table *new_table(const Terms *terms, const Dice dice[2]) {
    Table *t = calloc(1, sizeof *t);
    if (!t) exit(1);
    t->terms = *terms;
    t->bytes = sizeof *t;
    for (int seat = 0; seat < 2; seat++) {
        float most = 0;
        int left = MOST_DICE - dice_count[dice[seat]];
        t->root[seat] = dice[seat];
        for (Dice added = 0; added < first_of[left] + ways_of[left]; added++)
            t->ways[seat][added] = (uint16_t)joined(dice[seat], added);
        t->joker[seat] = -1;
        for (int nation = 0; terms->round == ROUNDS && terms->kinds[seat] && nation < NATIONS; nation++) {
            float gain = joker_gain(terms, seat, nation);
            if (gain > most) most = gain, t->joker[seat] = nation;
        }
    }
    return t;
}

Table *table_for(const Terms *terms, const Dice dice[2]) {
    Table **at = &newest, *t;
    while ((t = *at) && (memcmp(&t->terms, terms, sizeof *terms) || without(dice[0], t->root[0]) < 0 ||
                         without(dice[1], t->root[1]) < 0))
        at = &t->older;
    if (t) {
        *at = t->older;
    } else {
        forget_tables(newest && newest->terms.round == terms->round ? MOST_BYTES : 0);
        t = new_table(terms, dice);
    }
    t->older = newest;
    return newest = t;
}
