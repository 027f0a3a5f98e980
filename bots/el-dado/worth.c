#include "worth.h"

/* The chance that the opponent vetoes what it should. Below 1, as it decides between actions that will all be vetoed. */
static const float veto_chance = 0.9f;

static float at_risk(const Position *p, float allowed, float vetoed) {
    return p->is_safe || allowed <= vetoed ? allowed : veto_chance * vetoed + (1 - veto_chance) * allowed;
}

static Position safe(const Position *p) {
    Position after = *p;
    after.is_safe = 1;
    return after;
}

/* ---- the end of a turn ---- */

/* The mover's turn is over. */
static float waiting(const Position *p) {
    return 1 - turn_value(table_for(&p->terms, p->placed), 1 - p->mover, p->hands, p->placed);
}

/* These dice are placed, with number 1 on `end` if the numbering is open. */
static float placed(const Position *p, Dice dice, int end) {
    Position after = numbered(p, end);
    if (p->is_feeding) {
        for (int face = 0; face < FACES; face++)
            if (dice_on[dice][face]) after.terms.face_down |= (uint8_t)(1 << face);
    } else {
        table_for(&after.terms, p->placed); /* one table for all placements */
    }
    after.placed[p->mover] = joined(p->placed[p->mover], dice);
    return waiting(&after);
}

/* The same with number 1 on the better end. */
static float best_end(const Position *p, Dice dice) {
    float left = placed(p, dice, LEFT);
    return p->is_numbered ? left : greater(left, placed(p, dice, RIGHT));
}

/* The best placement of the two dice that lie there, if nobody vetoes it. */
static float best_allowed(const Position *p) {
    Dice first = with_die(0, p->faces[0]), second = with_die(0, p->faces[1]);
    float best = 0;
    if (p->to_place == 2) best = best_end(p, joined(first, second));
    if (p->must_place == 2) return best;
    return greater(best, greater(best_end(p, first), best_end(p, second)));
}

/* ---- a roll ---- */

static Position with_faces(const Position *p, int face, int other) {
    Position after = *p;
    after.faces[0] = face, after.faces[1] = other;
    return after;
}

/* The mean over all rolls of the best placement, of which the opponent vetoes those worth more than `most`. */
static float mean_placement(const Position *p, float most) {
    float sum = 0;
    for (int face = 0; face < FACES; face++)
        for (int other = 0; other <= face; other++) {
            Position rolled = with_faces(p, face, other);
            float best = best_allowed(&rolled);
            sum += chance_of_pair(face, other, p->terms.has_doubles) * (best < most ? best : most);
        }
    return sum;
}

/* Two dice are to be rolled. The table knows rolls of which one die is placed and nothing else is chosen with it. */
static float rolling(const Position *p) {
    if (p->is_numbered && p->to_place == 1 && !p->is_feeding)
        return roll_value(table_for(&p->terms, p->placed), p->mover, p->hands, p->placed, p->is_safe);
    float freely = mean_placement(p, 1);
    return p->is_safe ? freely : mean_placement(p, freely);
}

/* The same if the opponent may veto it. */
static float best_placement(const Position *p) {
    float best = best_allowed(p);
    if (p->is_safe) return best;
    Position vetoed = safe(p);
    return at_risk(p, best, rolling(&vetoed));
}

/* ---- tricks of the base game ---- */

static Position spent(const Position *p) {
    Position after = *p;
    after.hands[p->mover] = SPENT;
    return after;
}

static float adjusted(const Position *p, int face, int to) {
    Position after = spent(p);
    after.faces[p->faces[0] == face ? 0 : 1] = to;
    return best_placement(&after);
}

static float both(const Position *p) {
    Position after = spent(p);
    after.to_place = 2;
    return best_placement(&after);
}

static float rerolled(const Position *p) {
    Position after = spent(p);
    return rolling(&after);
}

/* The position under the numbering that is best for a placement without a trick. Tricks that change the terms are judged
 * under this one only, which takes half of the time. */
static Position well_numbered(const Position *p) {
    Position left = numbered(p, LEFT), right = numbered(p, RIGHT);
    return p->is_numbered || best_allowed(&left) >= best_allowed(&right) ? left : right;
}

static float joker(const Position *p, int nation) {
    Position after = well_numbered(p);
    after.terms.tricks[p->mover]--;
    after.terms.kinds[p->mover] = 0;
    after.terms.strength[p->mover][nation] += JOKER_VALUE;
    return best_placement(&after);
}

/* The best placement or trick of the base game with the dice that lie there; jokers are not looked at. */
static float best_use(const Position *p) {
    float best = best_placement(p);
    int kinds = p->terms.kinds[p->mover];
    if (kinds & BOTH) best = greater(best, both(p));
    if (kinds & REROLL) best = greater(best, rerolled(p));
    for (int die = 0; kinds & ADJUST && die < 2; die++) {
        int face = p->faces[die];
        if (face > 0) best = greater(best, adjusted(p, face, face - 1));
        if (face < FACES - 1) best = greater(best, adjusted(p, face, face + 1));
    }
    return best;
}

/* ---- expansions ---- */

static Position without_card(const Position *p, int card) {
    Position after = well_numbered(p);
    after.terms.cards[p->mover][card] = 0;
    after.terms.kinds[p->mover] = 0;
    return after;
}

static float captain(const Position *p) {
    Position after = without_card(p, CRAZY_CAPTAIN);
    after.terms.captain = (int8_t)p->mover;
    return best_placement(&after);
}

static float ban(const Position *p) {
    Position after = without_card(p, NO_SHANGHAI);
    after.terms.is_banned = 1;
    return best_placement(&after);
}

static float kept_back(const Position *p, Dice dice, int face, int end) {
    return placed(p, without(dice, with_die(0, face)), end);
}

/* The mean over all rolls of so many dice, each with the die kept back that is best. */
static float reroll_all(const Position *p) {
    static const float factorial[] = {1, 1, 2, 6, 24, 120, 720};
    Position after = without_card(p, NO_SHANGHAI);
    int count = dice_count[p->placed[p->mover]] + 2;
    float sum = 0;
    after.placed[p->mover] = 0;
    for (Dice dice = first_of[count]; dice < first_of[count] + ways_of[count]; dice++) {
        float chance = factorial[count], best = 0;
        for (int face = 0; face < FACES; face++) chance /= factorial[dice_on[dice][face]];
        for (int die = 0; die < count; die++) chance /= FACES;
        for (int face = 0; face < FACES; face++)
            if (dice_on[dice][face]) best = greater(best, kept_back(&after, dice, face, LEFT));
        sum += chance * best;
    }
    return sum;
}

static float keep_back(const Position *p, int face, int end) {
    Dice dice = 0;
    for (int die = 0; die < p->face_count; die++) dice = with_die(dice, p->faces[die]);
    return kept_back(p, dice, face, end);
}

static float feed(const Position *p) {
    Position after = without_card(p, SHARKS);
    after.is_feeding = 1;
    return best_placement(&after);
}

static float exchange(const Position *p, int back) {
    Position after = without_card(p, SHARKS);
    after.placed[p->mover] = without(p->placed[p->mover], with_die(0, back));
    after.to_place = after.must_place = 2;
    return best_placement(&after);
}

static float play_doubles(const Position *p) {
    Position after = without_card(p, DOUBLES);
    return rolling(&after);
}

/* One die stays, the other one falls on one of the five other faces: if not, the question comes again. */
static float roll_one(const Position *p) {
    float sum = 0;
    for (int face = 0; face < FACES; face++) {
        Position rolled = with_faces(p, p->faces[0], face);
        if (face != p->faces[0]) sum += best_use(&rolled);
    }
    return sum / (FACES - 1);
}

static float take_doubles(const Position *p, int end) {
    Position after = numbered(p, end);
    after.terms.cards[p->mover][DOUBLES] = 1;
    after.terms.cards[1 - p->mover][DOUBLES] = 0;
    return waiting(&after);
}

/* ---- actions ---- */

static float shanghai(const Position *p) {
    return end_value(table_for(&p->terms, p->placed), p->mover, p->hands, p->placed);
}

static Dice dice_in(const json *action) {
    Dice dice = 0;
    for (const json *die = member(action, "dice")->first; die; die = die->next) dice = with_die(dice, face_of(die));
    return dice;
}

float worth_allowed(const Position *p, const json *action) {
    const char *name = text(member(action, "do"));
    if (!strcmp(name, "roll")) return rolling(p);
    if (!strcmp(name, "shanghai")) return shanghai(p);
    if (!strcmp(name, "place")) return placed(p, dice_in(action), end_chosen(action));
    if (!strcmp(name, "adjust")) return adjusted(p, face_of(member(action, "die")), face_of(member(action, "to")));
    if (!strcmp(name, "both")) return both(p);
    if (!strcmp(name, "reroll")) return rerolled(p);
    if (!strcmp(name, "joker")) return joker(p, nation_named(member(action, "nation")));
    if (!strcmp(name, "crazy_captain")) return captain(p);
    if (!strcmp(name, "no_shanghai")) return ban(p);
    if (!strcmp(name, "reroll_all")) return reroll_all(p);
    if (!strcmp(name, "keep_back")) return keep_back(p, face_of(member(action, "die")), end_chosen(action));
    if (!strcmp(name, "feed")) return feed(p);
    if (!strcmp(name, "exchange")) return exchange(p, face_of(member(action, "back")));
    if (!strcmp(name, "doubles")) return play_doubles(p);
    if (!strcmp(name, "roll_one")) return roll_one(p);
    if (!strcmp(name, "take_doubles")) return take_doubles(p, end_chosen(action));
    return 0; /* an action that is not known */
}

float worth_vetoed(const Position *p, const json *action) {
    Position after = safe(p);
    const json *name = member(action, "do");
    return is_text(name, "place") || is_text(name, "shanghai") ? rolling(&after) : best_allowed(&after);
}

float worth(const Position *p, const json *action) {
    static const char *const never_vetoed[] = {"roll", "roll_one", "take_doubles", "keep_back"};
    float allowed = worth_allowed(p, action);
    for (int each = 0; each < 4; each++)
        if (is_text(member(action, "do"), never_vetoed[each])) return allowed;
    return p->is_safe ? allowed : at_risk(p, allowed, worth_vetoed(p, action));
}
