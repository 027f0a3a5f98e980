// arena_kit: the protocol arena/1 for bots in C++17, without a library.
//
// You write one function and call `play`:
//
//   #include "arena_kit.hpp"
//
//   Json choose(const Json &view, const Json &legal, const Json &clock) {
//       return legal[0];
//   }
//
//   int main() { return kit::play(choose); }
//
//   view      all that your seat may know; the page of the game describes it; an object
//   legal     the legal actions, an array; null where they cannot be listed
//   clock     milliseconds: clock["move_ms"].number for this move, clock["bank_ms"].number in the bank
//   returns   one of `legal`, its index, or an action of your own: Json::object({{"column", 3}})
//
// You may use:
//
//   value["key"], value[2]     a member or an item; null if there is none
//   value.size()               the number of its items or members
//   value.items, value.members the items of an array, the pairs of key and value of an object
//   value.number, value.text   0 and "" if it is none; true is 1, false 0
//   value.is_null()            it is null, or not there at all
//   Json::parse, value.dump()  from and to JSON text
//   kit::request               the whole message: events, refused...
//   kit::note("I am ahead")    a note that stands at this step in `arena show`
//   kit::random_below(6)       0 to 5, by a generator that is seeded for each match, so that it can be repeated
//   std::cout, std::cerr       go to stderr, and `arena match --steps` shows it; stdout is the referee's
//   kit::hello, kit::match     the messages `hello` and `match_start`
//   kit::start, kit::end       set them to functions before `play`: they get `match_start` and `match_end`
//   kit::evaluate              set it to a function (view, legal, budget_ms) that judges every action for
//                              `arena coach --by`: it returns {values, errors}, two kit::Numbers: values from 0 to 1
//                              in the order of `legal`, and their standard errors, {} if they are computed
//
// An exception that you do not catch ends the process with its text; the match is lost, and its story has the text.

#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class Json {
  public:
    enum Kind { Null, False, True, Number, Text, Array, Object };

    Kind kind = Null;
    double number = 0;
    std::string text;
    std::vector<Json> items;
    std::vector<std::pair<std::string, Json>> members;

    Json() = default;
    Json(bool value) : kind(value ? True : False), number(value) {}
    Json(int value) : kind(Number), number(value) {}
    Json(double value) : kind(Number), number(value) {}
    Json(const char *value) : kind(Text), text(value) {}
    Json(std::string value) : kind(Text), text(std::move(value)) {}

    static Json object(std::vector<std::pair<std::string, Json>> members) {
        Json made;
        made.kind = Object;
        made.members = std::move(members);
        return made;
    }
    static Json array(std::vector<Json> items) {
        Json made;
        made.kind = Array;
        made.items = std::move(items);
        return made;
    }
    static Json parse(const std::string &line);

    bool is_null() const { return kind == Null; }
    std::size_t size() const { return kind == Object ? members.size() : items.size(); }
    const Json &operator[](int index) const {
        return index >= 0 && index < static_cast<int>(items.size()) ? items[index] : nothing();
    }
    const Json &operator[](const char *key) const {
        for (const auto &member : members)
            if (member.first == key) return member.second;
        return nothing();
    }
    const Json &operator[](const std::string &key) const { return (*this)[key.c_str()]; }

    std::string dump() const {
        std::string out;
        write(out);
        return out;
    }

  private:
    static const Json &nothing() {
        static const Json null;
        return null;
    }

    static void write_text(std::string &out, const std::string &text) {
        out += '"';
        for (char c : text) {
            char escaped[8];
            if (c == '"' || c == '\\') (out += '\\') += c;
            else if (static_cast<unsigned char>(c) < 32) out.append(escaped, std::snprintf(escaped, 8, "\\u%04x", c));
            else out += c;
        }
        out += '"';
    }

    static void write_number(std::string &out, double number) {
        char digits[32];
        bool is_whole = std::abs(number) < 1e15 && number == std::floor(number);
        out.append(digits, std::snprintf(digits, sizeof digits, is_whole ? "%.0f" : "%.17g", number));
    }

    void write(std::string &out) const {
        const char *before = "";
        switch (kind) {
            case Null: out += "null"; break;
            case False: out += "false"; break;
            case True: out += "true"; break;
            case Number: write_number(out, number); break;
            case Text: write_text(out, text); break;
            case Array:
                out += '[';
                for (const auto &item : items) {
                    out += before;
                    item.write(out);
                    before = ",";
                }
                out += ']';
                break;
            case Object:
                out += '{';
                for (const auto &[key, value] : members) {
                    write_text(out += before, key);
                    value.write(out += ':');
                    before = ",";
                }
                out += '}';
        }
    }
};

// Reads one value; std::runtime_error for what is not JSON, or deeper than 200.
class JsonReader {
  public:
    explicit JsonReader(const std::string &line) : at(line.data()), end(line.data() + line.size()) {}

    Json whole() {
        Json value = read(0);
        if (peek()) fail();
        return value;
    }

  private:
    const char *at, *end;

    [[noreturn]] static void fail() { throw std::runtime_error("arena_kit: a line that is not JSON"); }

    char peek() {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
        return at < end ? *at : 0;
    }

    void expect(char wanted) {
        if (peek() != wanted) fail();
        at++;
    }

    bool read_word(const char *word) {
        std::size_t length = std::strlen(word);
        if (static_cast<std::size_t>(end - at) < length || std::memcmp(at, word, length)) return false;
        at += length;
        return true;
    }

    Json read(int depth) {
        if (depth > 200) throw std::runtime_error("arena_kit: JSON that is nested too deeply");
        char c = peek();
        if (c == '"') return Json(read_text());
        if (c == '[') return read_array(depth);
        if (c == '{') return read_object(depth);
        if (read_word("true")) return Json(true);
        if (read_word("false")) return Json(false);
        if (read_word("null")) return Json();
        char *behind;
        double number = std::strtod(at, &behind);
        if (behind == at || !std::strchr("-0123456789", c)) fail();
        at = behind;
        return Json(number);
    }

    Json read_array(int depth) {
        Json array = Json::array({});
        at++;
        if (peek() != ']') {
            do array.items.push_back(read(depth + 1));
            while (peek() == ',' && at++);
        }
        expect(']');
        return array;
    }

    Json read_object(int depth) {
        Json object = Json::object({});
        at++;
        if (peek() != '}') {
            do {
                peek();
                std::string key = read_text();
                expect(':');
                object.members.emplace_back(std::move(key), read(depth + 1));
            } while (peek() == ',' && at++);
        }
        expect('}');
        return object;
    }

    std::string read_text() {
        std::string text;
        expect('"');
        while (at < end && *at != '"') {
            if (*at != '\\') text += *at++;
            else if (at++; at < end && *at == 'u') put_utf8(text, read_code());
            else put_escaped(text);
        }
        expect('"');
        return text;
    }

    void put_escaped(std::string &text) {
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *found = at < end && *at ? std::strchr(from, *at) : nullptr;
        if (!found) fail();
        text += to[found - from];
        at++;
    }

    // At `uXXXX`; above 16 bits a character is escaped as a pair.
    unsigned read_code() {
        unsigned code = four_digits();
        if (code >= 0xd800 && code < 0xdc00 && end - at > 5 && at[0] == '\\' && at[1] == 'u') {
            at++;
            code = 0x10000 + ((code - 0xd800) << 10) + (four_digits() - 0xdc00);
        }
        return code;
    }

    unsigned four_digits() {
        if (end - at < 5) fail();
        std::string digits(at + 1, 4);
        if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) fail();
        at += 5;
        return static_cast<unsigned>(std::stoul(digits, nullptr, 16));
    }

    static void put_utf8(std::string &text, unsigned code) {
        auto put = [&text](unsigned byte) { text += static_cast<char>(byte); };
        if (code < 0x80) return put(code);
        if (code < 0x800) put(0xc0 | code >> 6);
        else if (code < 0x10000) put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f));
        else put(0xf0 | (code >> 18 & 7)), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    }
};

inline Json Json::parse(const std::string &line) { return JsonReader(line).whole(); }

namespace kit {

using Choose = std::function<Json(const Json &view, const Json &legal, const Json &clock)>;
using Numbers = std::vector<double>;
using Evaluate = std::function<std::pair<Numbers, Numbers>(const Json &view, const Json &legal, double budget_ms)>;

inline Json hello, match, request;
inline std::function<void(const Json &)> start, end;
inline Evaluate evaluate;
inline std::string notes;
inline std::mt19937_64 generator;

// A note for the story of the match; several are joined. The opponent never sees it.
inline void note(const std::string &text) { notes += (notes.empty() ? "" : "\n") + text; }

inline int random_below(int limit) { return limit > 1 ? static_cast<int>(generator() % limit) : 0; }

// The first 1000 characters of a text in UTF-8.
inline std::string shortened(const std::string &text) {
    int characters = 0;
    for (std::size_t at = 0; at < text.size(); at++)
        if ((text[at] & 0xc0) != 0x80 && characters++ == 1000) return text.substr(0, at);
    return text;
}

inline Json array_of(const Numbers &numbers) { return Json::array(std::vector<Json>(numbers.begin(), numbers.end())); }

// The answer to one message; null where the protocol wants none. Unknown types get none, so that it can grow.
inline Json answer(const Json &message, const Choose &choose) {
    const std::string &type = message["type"].text;
    if (type == "hello") {
        hello = message;
        Json capabilities = evaluate ? Json::array({"evaluate"}) : Json::array({});
        return Json::object({{"type", "hello"}, {"protocols", Json::array({1})}, {"capabilities", capabilities}});
    }
    if (type == "match_start") {
        match = message;
        generator.seed(static_cast<std::uint64_t>(message["bot_seed"].number));
        if (start) start(message);
        return Json::object({{"type", "ready"}, {"match", message["match"]}});
    }
    if (type == "request") {
        request = message;
        notes.clear();
        Json chosen = choose(message["view"], message["legal"], message["clock"]);
        if (chosen.kind != Json::Object && chosen.kind != Json::Number)
            throw std::runtime_error("choose must return an action (an object) or an index in legal, not " + chosen.dump());
        Json reply = Json::object({{"type", "action"}, {"id", message["id"]}, {"action", chosen}});
        if (!notes.empty()) reply.members.emplace_back("note", shortened(notes));
        return reply;
    }
    if (type == "evaluate" && evaluate) {
        request = message;
        auto [values, errors] = evaluate(message["view"], message["legal"], message["budget_ms"].number);
        return Json::object({{"type", "evaluation"},
                             {"id", message["id"]},
                             {"values", array_of(values)},
                             {"errors", array_of(errors)}});
    }
    if (type == "match_end" && end) end(message);
    if (type == "error")
        std::cerr << "referee: " << message["code"].text << ": " << message["message"].text << " (" << message["hint"].text
                  << ")" << std::endl;
    return Json();
}

inline void converse(const Choose &choose, std::FILE *referee) {
    std::string line;
    while (std::getline(std::cin, line)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        Json message = Json::parse(line);
        if (message["type"].text == "quit") break;
        Json reply = answer(message, choose);
        if (reply.is_null()) continue;
        std::fputs((reply.dump() + "\n").c_str(), referee);
        if (std::fflush(referee)) break; // the referee is gone: nothing left to play for
    }
}

// Plays until the referee says quit or goes away; the exit code.
inline int play(const Choose &choose) {
    std::FILE *referee = fdopen(dup(1), "w");
    if (!referee || dup2(2, 1) < 0) return 1;
    std::cout << std::unitbuf;
    try {
        converse(choose, referee);
        return 0;
    } catch (const std::exception &trouble) {
        std::cerr << trouble.what() << std::endl;
        return 1;
    }
}

}  // namespace kit
