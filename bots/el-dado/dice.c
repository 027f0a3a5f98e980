#include "dice.h"

#include <string.h>

enum { CODES = 117649 }; /* a code has a digit to base 7 for each number: the dice there */

static const int power[FACES] = {1, 7, 49, 343, 2401, 16807};
static int16_t dice_by_code[CODES];
static int code_of[WAYS];

const int ways_of[MOST_DICE + 1] = {1, 6, 21, 56, 126, 252, 462};
int first_of[MOST_DICE + 1];
int dice_on[WAYS][FACES];
int dice_count[WAYS];
uint16_t winners[WAYS][WAYS];
uint8_t winner_of[WINNINGS][FACES];
uint16_t mirrored[WINNINGS];

static void list_ways(void) {
    int next[MOST_DICE + 1] = {0};
    for (int count = 0; count < MOST_DICE; count++) first_of[count + 1] = next[count + 1] = next[count] + ways_of[count];
    memset(dice_by_code, -1, sizeof dice_by_code);
    for (int code = 0; code < CODES; code++) {
        int count = 0;
        for (int face = 0; face < FACES; face++) count += code / power[face] % 7;
        if (count > MOST_DICE) continue;
        Dice dice = next[count]++;
        dice_by_code[code] = (int16_t)dice;
        code_of[dice] = code;
        dice_count[dice] = count;
        for (int face = 0; face < FACES; face++) dice_on[dice][face] = code / power[face] % 7;
    }
}

/* More dice win a card; equally many: more pips on the numbers beside it. */
static int winner(const int mine[FACES], const int theirs[FACES], int number) {
    int lead = mine[number] - theirs[number];
    if (!lead && mine[number]) {
        if (number > 0) lead += number * (mine[number - 1] - theirs[number - 1]);
        if (number < FACES - 1) lead += (number + 2) * (mine[number + 1] - theirs[number + 1]);
    }
    return lead > 0 ? ME : lead < 0 ? OTHER : NOBODY;
}

static void award_cards(void) {
    for (Dice mine = 0; mine < WAYS; mine++)
        for (Dice theirs = 0; theirs < WAYS; theirs++) {
            int won = 0;
            for (int number = FACES; number--;) won = 3 * won + winner(dice_on[mine], dice_on[theirs], number);
            winners[mine][theirs] = (uint16_t)won;
        }
    for (int won = 0; won < WINNINGS; won++)
        for (int number = 0, digits = won; number < FACES; number++, digits /= 3)
            winner_of[won][number] = (uint8_t)(digits % 3);
}

static void mirror_winners(void) {
    static const int as_other[] = {NOBODY, OTHER, ME};
    for (int won = 0; won < WINNINGS; won++)
        for (int number = FACES; number--;)
            mirrored[won] = (uint16_t)(3 * mirrored[won] + as_other[winner_of[won][number]]);
}

void make_dice(void) {
    list_ways();
    award_cards();
    mirror_winners();
}

Dice dice_of(const int on[FACES]) {
    int code = 0;
    for (int face = 0; face < FACES; face++) code += on[face] * power[face];
    return dice_by_code[code];
}

Dice with_die(Dice dice, int face) { return dice_by_code[code_of[dice] + power[face]]; }

Dice without(Dice dice, Dice part) {
    for (int face = 0; face < FACES; face++)
        if (dice_on[dice][face] < dice_on[part][face]) return -1;
    return dice_by_code[code_of[dice] - code_of[part]];
}

Dice joined(Dice dice, Dice others) { return dice_by_code[code_of[dice] + code_of[others]]; }
