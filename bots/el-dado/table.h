/* The rest of a round, solved exactly by dynamic programming over the dice of both seats.
 *
 * A seat that holds tricks has a hand: KEPT while it may use one in this round, SPENT after that, LAID if it was laid as
 * a joker to the nation where that gains most. The hands of both seats make a layer, in which every way to place dice
 * has its value. Blocks of ways are solved when they are needed first. */

#ifndef TABLE_H
#define TABLE_H

#include "ending.h"

typedef enum { KEPT, SPENT, LAID, HANDS } Hand;

typedef struct table table;

/* The table for these terms and all ways that hold the dice now on the cards; `dice` by seat. */
table *table_for(const Terms *terms, const Dice dice[2]);
void forget_tables(void);

int joker_nation(const table *t, int seat); /* of LAID; -1 if that hand cannot be */

/* The chance to win of the seat `mover`, which is to begin its turn. Dice and hands by seat. */
float turn_value(table *t, int mover, const Hand hands[2], const Dice dice[2]);
/* The same if it has to roll; `is_safe`: whatever it does, nobody vetoes it in this turn. */
float roll_value(table *t, int mover, const Hand hands[2], const Dice dice[2], int is_safe);
/* The same if it ends the round. */
float end_value(table *t, int mover, const Hand hands[2], const Dice dice[2]);

/* The chance that two dice show this pair, in whatever order; with doubles they differ in the end. */
float chance_of_pair(int face, int other, int has_doubles);

#endif
