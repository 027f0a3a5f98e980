/* The rest of a round, solved exactly by dynamic programming over the dice that both seats place.
 *
 * The hand of a seat is KEPT as long as it may use a trick of the base game in this round, or if it has none; SPENT after
 * it has used one; LAID after it has laid one as a joker, which the table knows in the last round only, to the nation
 * where that gains most. A layer is a pair of hands, and has a value for all ways to place dice. Values are computed
 * when they are asked for, for all ways with equally many dice at once. */

#ifndef TABLE_H
#define TABLE_H

#include "ending.h"

typedef enum { KEPT, SPENT, LAID, HANDS } Hand;

typedef struct Table Table;

/* The table for these terms and all ways that hold the dice now on the cards; `dice` by seat. */
Table *table_for(const Terms *terms, const Dice dice[2]);

/* The chance to win of the seat `mover`, which is to begin its turn. Dice and hands by seat. */
float turn_value(Table *t, int mover, const Hand hands[2], const Dice dice[2]);
/* The same if it has to roll; `is_safe`: whatever it does, nobody vetoes it in this turn. */
float roll_value(Table *t, int mover, const Hand hands[2], const Dice dice[2], int is_safe);
/* The same if it ends the round. */
float end_value(Table *t, int mover, const Hand hands[2], const Dice dice[2]);

static inline float less(float a, float b) { return a < b ? a : b; }
static inline float greater(float a, float b) { return a < b ? b : a; }

/* The chance that two dice show this pair, in whatever order; with doubles they differ in the end. */
float chance_of_pair(int face, int other, int has_doubles);

#endif
