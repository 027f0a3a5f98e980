/* A bot for Riff Raff. It loads at random where the simulator sees nothing fall; the rest is up to you, in `choose`.
 *
 * arena_kit.h beside this file tells what `choose` gets and what you may use. member(kit.hello, "material") has the
 * numbers of ship and cargo, member(kit.request, "refused") tells what was wrong with your last load, which you may
 * replace once.
 *
 * Try it from the folder above this one:  arena check ./<this folder> --game riffraff */

#include "arena_kit.h"

enum { LOAD_SIZE = 300 };

static double uniform(double low, double high) { return low + (high - low) * random_below(1000001) / 1e6; }

/* A number with that standard deviation: twelve uniform ones together are nearly normal. */
static double gauss(double sigma) {
    double sum = 0;
    int each;
    for (each = 0; each < 12; each++) sum += uniform(-0.5, 0.5);
    return sigma * sum;
}

/* A kind of piece of your supply, each as likely as the others. */
static const char *any_kind(const json *supply) {
    const char *kind = "";
    const json *each;
    int seen = 0;
    for (each = supply ? supply->first : NULL; each; each = each->next)
        if (number(each) && random_below(++seen) == 0) kind = each->key;
    return kind;
}

/* A face to lay a piece on; nothing hangs on deck. */
static const char *any_face(const json *faces, int is_yard) {
    const char *face = "";
    const json *each;
    int seen = 0;
    for (each = faces ? faces->first : NULL; each; each = each->next)
        if ((is_yard || strcmp(each->key, "hang")) && random_below(++seen) == 0) face = each->key;
    return face;
}

/* Any load on the area, as JSON. It may have no room there, which the simulator tells. */
static void pose(char *load, const json *view) {
    const json *material = member(kit.hello, "material");
    const json *seat = element(member(view, "seats"), (int)number(member(view, "you")));
    const char *kind = any_kind(member(seat, "supply"));
    const json *faces = member(member(member(material, "kinds"), kind), "faces"), *area, *u, *v;
    char key[16];
    snprintf(key, sizeof key, "%d", (int)number(member(view, "area")));
    area = member(member(material, "areas"), key);
    u = member(area, "u_mm");
    v = member(area, "v_mm");
    snprintf(load, LOAD_SIZE,
             "{\"kind\":\"%s\",\"face\":\"%s\",\"u_mm\":%.1f,\"v_mm\":%.1f,\"yaw_deg\":%d,\"hands_mm\":[[45,75],[45,-75]]}",
             kind, any_face(faces, number(member(area, "yard")) != 0), uniform(number(element(u, 0)), number(element(u, 1))),
             uniform(number(element(v, 0)), number(element(v, 1))), 90 * random_below(4));
}

/* Of some loads that have room, the first from which nothing would fall in a weather like today's. */
static const json *load(const json *view) {
    const json *sigma = member(view, "noise"), *said;
    double uv = number(member(sigma, "uv_mm")), yaw = number(member(sigma, "yaw_deg"));
    double kick = number(member(sigma, "kick_rad_s"));
    char tried[LOAD_SIZE], best[LOAD_SIZE];
    int tries;
    pose(best, view); /* nobody may pass while there is a load with room */
    for (tries = 0; tries < 20 && kit.simulations > 0; tries++) {
        pose(tried, view);
        said = simulate("{\"load\":%s,\"noise\":[%.4f,%.4f,%.4f,%.4f,%.4f]}", tried, gauss(uv), gauss(uv), gauss(yaw),
                        gauss(kick), gauss(kick));
        if (!said) return NULL;                          /* the referee has gone on */
        if (!is_null(member(said, "refused"))) continue; /* its "message" tells why */
        memcpy(best, tried, sizeof best);
        if (!count(member(member(said, "result"), "fallen"))) break;
    }
    return action("%s", best);
}

static const json *choose(const json *view, const json *legal, const json *clock) {
    (void)clock;
    if (is_text(member(view, "phase"), "load")) return load(view);
    return element(legal, random_below(count(legal))); /* a card, who is captain, the order, one piece or two */
}

int main(void) { return play(choose); }
