/* What a round can end with: the terms on which it is played, and the chance to win the match after it. */

#ifndef ENDING_H
#define ENDING_H

#include "dice.h"

enum { ROUNDS = 8, NATIONS = 8, JOKER_VALUE = 2 };
enum { ADJUST = 1, BOTH = 2, REROLL = 4 };                         /* tricks of the base game, as a set */
enum { CRAZY_CAPTAIN, NO_SHANGHAI, SHARKS, DOUBLES, EXPANSIONS };
enum { TRICK = -1 };                                              /* the nation of a card that is no sailor */

/* All that the rest of a round depends on but the dice. Bytes only, so that two of them compare as memory. */
typedef struct {
    int8_t round;
    int8_t nation[FACES], value[FACES]; /* of the card with each number */
    uint8_t to_come[NATIONS];           /* the sailors in the draw pile, a bit for each */
    int8_t strength[2][NATIONS];
    int8_t tricks[2];                   /* unused ones of the base game */
    uint8_t kinds[2];                   /* of those that may still be used in this round */
    int8_t cards[2][EXPANSIONS];        /* unused cards of the expansions */
    int8_t captain;                     /* the seat whose captain is in force, or -1 */
    uint8_t is_banned;                  /* shanghai, by a card */
    uint8_t has_doubles;                /* equal dice are rolled on */
    uint8_t face_down;                  /* the cards that nobody will win, a bit for each number */
} Terms;

extern const int sailor_values[5];

void make_endings(void); /* before anything else is used */

/* The gain in margin by a joker of the seat laid to that nation; 0 without a crew there. */
float joker_gain(const Terms *terms, int seat, int nation);

/* The payoff of the seat that ends the round by shanghai, by the winners of the cards as that seat sees them. */
void fill_payoffs(const Terms *terms, int seat, float payoffs[WINNINGS]);

#endif
