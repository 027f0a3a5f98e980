#include "arena_kit.hpp"

Json choose(const Json &view, const Json &legal, const Json &clock) {
    std::cout << "stray " << view["say"].text << " " << clock["move_ms"].number << std::endl;
    kit::note(view["say"].text);
    if (legal.is_null())
        return Json::object({{"twice", 2 * view["number"].number}, {"items", static_cast<int>(view["items"].size())}});
    return legal[static_cast<int>(view["pick"].number)];
}

std::pair<kit::Numbers, kit::Numbers> evaluate(const Json &view, const Json &legal, double) {
    kit::Numbers values;
    for (const auto &action : legal.items) {
        int sum = 0, index = 0;
        for (const auto &heap : view["heaps"].items)
            sum ^= static_cast<int>(heap.number - (index++ == action["heap"].number ? action["count"].number : 0));
        values.push_back(sum == 0);
    }
    return {values, kit::Numbers(values.size(), 0)};
}

int main() {
    kit::evaluate = evaluate;
    return kit::play(choose);
}
