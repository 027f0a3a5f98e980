/* The worth of an action: the chance to win of the player to move, if both then play as well as they can. */

#ifndef WORTH_H
#define WORTH_H

#include "position.h"

/* The worth of announcing an action, which the opponent may veto while its captain is in force. */
float worth(const Position *p, const json *action);
/* The worth if it is carried out, and if it is vetoed. */
float worth_allowed(const Position *p, const json *action);
float worth_vetoed(const Position *p, const json *action);

#endif
