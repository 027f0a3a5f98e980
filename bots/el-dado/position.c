#include "position.h"

static const char *const nations[NATIONS] = {"american", "french", "german", "chinese",
                                             "dutch",    "turkish", "spanish", "italian"};
static const char *const card_names[EXPANSIONS] = {"crazy_captain", "no_shanghai", "sharks", "doubles"};
static const char *const trick_names[] = {"adjust", "both", "reroll"};

static int index_in(const char *const *names, int names_count, const char *name) {
    int index = names_count;
    while (index-- && strncmp(names[index], name, strlen(names[index]))) {}
    return index;
}

int nation_named(const json *name) { return index_in(nations, NATIONS, text(name)); }

int face_of(const json *number_shown) { return (int)number(number_shown) - 1; }

int end_chosen(const json *action) { return is_text(member(action, "one"), "right") ? RIGHT : LEFT; }

/* The value of a sailor, which reads "french 3"; 0 for a trick. */
static int value_of(const json *card) {
    const char *digit = strchr(text(card), ' ');
    return digit ? atoi(digit) : 0;
}

static void turn_up(Terms *terms, const json *cards) {
    for (const json *card = cards ? cards->first : NULL; card; card = card->next) {
        int value = value_of(card), bit = 0;
        if (!value) continue;
        uint8_t *left = &terms->to_come[nation_named(card)];
        while (bit < 4 && (sailor_values[bit] != value || !(*left >> bit & 1))) bit++;
        *left &= (uint8_t)~(1 << bit);
    }
}

static void see_tricks(Terms *terms, int seat, const json *player) {
    for (const json *trick = member(player, "tricks")->first; trick; trick = trick->next) {
        int card = index_in(card_names, EXPANSIONS, text(trick)), kind = index_in(trick_names, 3, text(trick));
        if (card >= 0) terms->cards[seat][card]++;
        if (kind >= 0) terms->tricks[seat]++;
        if (kind >= 0 && !number(member(player, "trick_used"))) terms->kinds[seat] |= (uint8_t)(1 << kind);
    }
}

static void see_player(Position *p, int seat, const json *player) {
    int on[FACES], face = 0;
    for (const json *dice = member(player, "placed")->first; dice; dice = dice->next) on[face++] = (int)number(dice);
    p->placed[seat] = dice_of(on);
    for (int nation = 0; nation < NATIONS; nation++)
        p->terms.strength[seat][nation] = (int8_t)number(member(member(player, "strength"), nations[nation]));
    turn_up(&p->terms, member(player, "sailors"));
    see_tricks(&p->terms, seat, player);
}

static void see_expansions(Position *p, const json *expansions) {
    const json *captain = member(expansions, "crazy_captain"), *sharks = member(expansions, "sharks");
    const json *owner = member(captain, "in_force"), *face_down = member(sharks, "face_down");
    p->terms.captain = is_null(owner) ? -1 : (int8_t)number(owner);
    p->is_safe = p->terms.captain != 1 - p->mover || !is_null(member(captain, "vetoed"));
    p->terms.is_banned = number(member(member(expansions, "no_shanghai"), "ban")) != 0;
    p->terms.has_doubles = member(expansions, "doubles") != NULL;
    p->is_feeding = number(member(sharks, "feeding")) != 0;
    for (const json *number_down = face_down ? face_down->first : NULL; number_down; number_down = number_down->next)
        p->terms.face_down |= (uint8_t)(1 << face_of(number_down));
}

Position seen(const json *view) {
    const json *one_at = member(view, "one_at");
    Position p;
    memset(&p, 0, sizeof p); /* the terms are compared as memory */
    memset(p.terms.to_come, 31, sizeof p.terms.to_come);
    p.terms.round = (int8_t)number(member(view, "round"));
    p.mover = (int)number(member(view, "to_move"));
    p.to_place = (int)number(member(view, "to_place"));
    p.must_place = (int)number(member(view, "must_place"));
    for (int number_on = 0; number_on < FACES; number_on++) {
        const json *card = element(member(view, "tavern"), number_on);
        p.terms.nation[number_on] = value_of(card) ? (int8_t)nation_named(card) : TRICK;
        p.terms.value[number_on] = (int8_t)value_of(card);
    }
    turn_up(&p.terms, member(view, "tavern"));
    turn_up(&p.terms, member(view, "gone"));
    for (int seat = 0; seat < 2; seat++) see_player(&p, seat, element(member(view, "players"), seat));
    for (const json *die = member(view, "dice")->first; die; die = die->next) p.faces[p.face_count++] = face_of(die);
    see_expansions(&p, member(view, "expansions"));
    if (is_null(one_at)) return p;
    p = numbered(&p, is_text(one_at, "right") ? RIGHT : LEFT);
    return p;
}

Position numbered(const Position *p, int end) {
    Position after = *p;
    if (!p->is_numbered && end == RIGHT)
        for (int number_on = 0; number_on < FACES; number_on++) {
            after.terms.nation[number_on] = p->terms.nation[FACES - 1 - number_on];
            after.terms.value[number_on] = p->terms.value[FACES - 1 - number_on];
        }
    after.is_numbered = 1;
    return after;
}
