/* All ways to place up to six dice on the numbers 1 to 6, and the cards that they win.
 *
 * A `Dice` is the index of a way; the ways with fewer dice come first. Numbers and faces are 0 to 5 in this program. */

#ifndef DICE_H
#define DICE_H

#include <stdint.h>

enum { FACES = 6, MOST_DICE = 6, WAYS = 924, MOST_WAYS = 462, WINNINGS = 729 }; /* MOST_WAYS with the same count */
enum { NOBODY, ME, OTHER };

typedef int Dice;

extern const int ways_of[MOST_DICE + 1]; /* ways to place so many dice */
extern int first_of[MOST_DICE + 1];      /* the first of them */
extern int dice_on[WAYS][FACES];         /* dice on each number */
extern int dice_count[WAYS];

/* The winners of the six cards, by my dice and the other's: a number to base 3 with a digit for each card. */
extern uint16_t winners[WAYS][WAYS];
extern uint8_t winner_of[WINNINGS][FACES]; /* NOBODY, ME or OTHER */
extern uint16_t mirrored[WINNINGS];        /* the same winners as the other sees them */

void make_dice(void); /* before anything else is used */
Dice dice_of(const int on[FACES]);
Dice with_die(Dice dice, int face);
Dice without(Dice dice, Dice part); /* -1 if `part` is no part of `dice` */
Dice joined(Dice dice, Dice others);

#endif
