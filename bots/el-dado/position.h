/* What lies on the table, as a value from which actions make other values; the view of a request as such a value. */

#ifndef POSITION_H
#define POSITION_H

#include "arena_kit.h"
#include "table.h"

enum { LEFT, RIGHT };

typedef struct {
    Terms terms;     /* while the numbering is open, as if number 1 lay on the left */
    int is_numbered; /* where number 1 lies is chosen */
    int mover;
    Hand hands[2];
    Dice placed[2];
    int faces[MOST_DICE], face_count; /* the dice that lie there */
    int to_place, must_place;
    int is_feeding; /* the card placed on now is turned face down */
    int is_safe;    /* nothing the mover does in this turn can be vetoed */
} Position;

Position seen(const json *view);

int nation_named(const json *name);
int face_of(const json *number);
/* The end that an action chooses for number 1, or LEFT where it chooses none. */
int end_chosen(const json *action);

Position numbered(const Position *p, int end);

#endif
