// ArenaKit: the protocol arena/1 for bots in Java 11 or newer, without a library.
//
// You write one function and call `play`:
//
//   public class Bot {
//       static Object choose(Map<String, Object> view, List<Object> legal, Map<String, Object> clock) {
//           return legal.get(0);
//       }
//
//       public static void main(String[] arguments) throws IOException {
//           ArenaKit.play(Bot::choose);
//       }
//   }
//
//   view      all that your seat may know; the page of the game describes it
//   legal     the legal actions; null where they cannot be listed
//   clock     milliseconds: clock.get("move_ms") for this move, clock.get("bank_ms") in the bank
//   returns   one of `legal`, its index, or an action of your own: Map.of("pass", true)
//
// Values are Map<String, Object>, List<Object>, String, Long or Double, Boolean and null.
//
// You may use:
//
//   ArenaKit.request               the whole message: events, refused...
//   ArenaKit.note("I am ahead")    a note that stands at this step in `arena show`
//   ArenaKit.random                a java.util.Random, seeded for each match, so that it can be repeated
//   System.out.println             goes to stderr, and `arena match --steps` shows it; stdout is the referee's
//   ArenaKit.hello, ArenaKit.match the messages `hello` and `match_start`
//   ArenaKit.start, ArenaKit.end   set them before `play`: they get `match_start` and `match_end`
//   ArenaKit.evaluate              set it to a function (view, legal, budgetMs) that judges every action for
//                                  `arena coach --by`: it returns new double[][] {values}, which go from 0 to 1 in the
//                                  order of `legal`, or {values, errors} with their standard errors
//   ArenaKit.parse, ArenaKit.dump  from and to JSON text
//
// An exception that you do not catch ends the process with exit code 1; the match is lost, and its story has the text.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

public final class ArenaKit {
    public interface Choose {
        Object choose(Map<String, Object> view, List<Object> legal, Map<String, Object> clock);
    }

    public interface Evaluate {
        double[][] evaluate(Map<String, Object> view, List<Object> legal, double budgetMs);
    }

    public static Map<String, Object> hello, match, request;
    public static Random random = new Random(0);
    public static Consumer<Map<String, Object>> start = message -> {}, end = message -> {};
    public static Evaluate evaluate;
    private static final StringBuilder notes = new StringBuilder();

    /** Plays until the referee says quit or goes away. */
    public static void play(Choose choose) throws IOException {
        PrintStream referee = System.out;
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isBlank()) continue;
            Map<String, Object> message = object(parse(line));
            if (message.get("type").equals("quit")) break;
            Object answer = answer(message, choose);
            if (answer == null) continue;
            referee.write((dump(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            referee.flush();
        }
    }

    /** A note for the story of the match; several are joined. The opponent never sees it. */
    public static void note(String text) {
        notes.append(notes.length() == 0 ? "" : "\n").append(text);
    }

    // Unknown types get no answer, so that the protocol can grow.
    private static Object answer(Map<String, Object> message, Choose choose) {
        switch ((String) message.get("type")) {
            case "hello":
                hello = message;
                List<String> capabilities = evaluate == null ? List.of() : List.of("evaluate");
                return Map.of("type", "hello", "protocols", List.of(1), "capabilities", capabilities);
            case "match_start":
                match = message;
                random = new Random((Long) message.get("bot_seed"));
                start.accept(message);
                return Map.of("type", "ready", "match", message.get("match"));
            case "request":
                return answerRequest(message, choose);
            case "evaluate":
                return evaluate == null ? null : answerEvaluate(message);
            case "match_end":
                end.accept(message);
                return null;
            case "error":
                System.err.printf("referee: %s: %s (%s)%n", message.get("code"), message.get("message"), message.get("hint"));
                return null;
            default:
                return null;
        }
    }

    private static Object answerRequest(Map<String, Object> message, Choose choose) {
        request = message;
        notes.setLength(0);
        Object action = choose.choose(object(message.get("view")), list(message.get("legal")), object(message.get("clock")));
        if (!(action instanceof Map || action instanceof Integer || action instanceof Long))
            throw new IllegalStateException("choose must return an action (a Map) or an index in legal, not " + action);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("type", "action");
        answer.put("id", message.get("id"));
        answer.put("action", action);
        int characters = notes.codePointCount(0, notes.length());
        if (characters > 0) answer.put("note", notes.substring(0, notes.offsetByCodePoints(0, Math.min(characters, 1000))));
        return answer;
    }

    private static Object answerEvaluate(Map<String, Object> message) {
        request = message;
        double budgetMs = ((Number) message.get("budget_ms")).doubleValue();
        double[][] given = evaluate.evaluate(object(message.get("view")), list(message.get("legal")), budgetMs);
        double[] errors = given.length > 1 ? given[1] : new double[0];
        return Map.of("type", "evaluation", "id", message.get("id"), "values", given[0], "errors", errors);
    }

    /** A value of the view that is an object; its fields by name. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    /** A value of the view that is an array. */
    @SuppressWarnings("unchecked")
    public static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    /** A value from JSON text; IllegalArgumentException for what is not JSON, or deeper than 200. */
    public static Object parse(String text) {
        Reader reader = new Reader(text);
        Object value = reader.value(0);
        if (reader.peek() != 0) throw reader.trouble();
        return value;
    }

    /** The JSON text of a value. */
    public static String dump(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        String before = "";
        if (value instanceof Map) {
            out.append('{');
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                writeText(out.append(before), (String) member.getKey());
                write(out.append(':'), member.getValue());
                before = ",";
            }
            out.append('}');
        } else if (value instanceof List) {
            out.append('[');
            for (Object item : (List<?>) value) {
                write(out.append(before), item);
                before = ",";
            }
            out.append(']');
        } else if (value instanceof String) {
            writeText(out, (String) value);
        } else if (value instanceof double[]) {
            out.append(Arrays.toString((double[]) value));
        } else {
            out.append(value);
        }
    }

    private static void writeText(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 32) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        out.append('"');
    }

    private static final class Reader {
        private final String text;
        private int at = 0;

        Reader(String text) {
            this.text = text;
        }

        IllegalArgumentException trouble() {
            return new IllegalArgumentException("not JSON at character " + at);
        }

        char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            return at < text.length() ? text.charAt(at) : 0;
        }

        void expect(char wanted) {
            if (peek() != wanted) throw trouble();
            at++;
        }

        boolean word(String word) {
            if (!text.startsWith(word, at)) return false;
            at += word.length();
            return true;
        }

        Object value(int depth) {
            if (depth > 200) throw new IllegalArgumentException("JSON that is nested too deeply");
            char c = peek();
            if (c == '"') return string();
            if (c == '[') return array(depth);
            if (c == '{') return members(depth);
            if (word("true")) return true;
            if (word("false")) return false;
            if (word("null")) return null;
            return number();
        }

        Object array(int depth) {
            List<Object> items = new ArrayList<>();
            at++;
            if (peek() != ']') {
                do items.add(value(depth + 1));
                while (peek() == ',' && at++ >= 0);
            }
            expect(']');
            return items;
        }

        Object members(int depth) {
            Map<String, Object> members = new LinkedHashMap<>();
            at++;
            if (peek() != '}') {
                do {
                    peek();
                    String key = string();
                    expect(':');
                    members.put(key, value(depth + 1));
                } while (peek() == ',' && at++ >= 0);
            }
            expect('}');
            return members;
        }

        Object number() {
            int from = at;
            while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
            String digits = text.substring(from, at);
            if (digits.isEmpty()) throw trouble();
            return digits.matches("-?\\d{1,18}") ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
        }

        String string() {
            StringBuilder out = new StringBuilder();
            expect('"');
            for (; at < text.length() && text.charAt(at) != '"'; at++) {
                char c = text.charAt(at);
                out.append(c == '\\' ? escaped() : c);
            }
            expect('"');
            return out.toString();
        }

        char escaped() {
            if (++at >= text.length()) throw trouble();
            char c = text.charAt(at);
            if (c == 'u' && at + 4 < text.length()) {
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 3, at + 1), 16);
            }
            int index = "\"\\/bfnrt".indexOf(c);
            if (index < 0) throw trouble();
            return "\"\\/\b\f\n\r\t".charAt(index);
        }
    }
}
