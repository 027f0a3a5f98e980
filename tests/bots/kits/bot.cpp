#include "arena_kit.hpp"

Json choose(const Json &view, const Json &legal, const Json &clock) {
    std::cout << "stray " << view["say"].text << " " << clock["move_ms"].number << std::endl;
    kit::note(view["say"].text);
    if (legal.is_null())
        return Json::object({{"twice", 2 * view["number"].number}, {"items", static_cast<int>(view["items"].size())}});
    return legal[static_cast<int>(view["pick"].number)];
}

int main() { return kit::play(choose); }
