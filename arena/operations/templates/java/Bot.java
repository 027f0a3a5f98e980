// A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
//
// ArenaKit.java beside this file tells what `choose` gets and what you may use.
//
// Try it from the folder above this one:  arena check ./<this folder>

import java.io.IOException;
import java.util.List;
import java.util.Map;

public class Bot {
    static Object choose(Map<String, Object> view, List<Object> legal, Map<String, Object> clock) {
        // The actions cannot be listed: the page of the game has their form; in riffraff this passes.
        if (legal == null) return Map.of("pass", true);
        return legal.get(ArenaKit.random.nextInt(legal.size()));
    }

    public static void main(String[] arguments) throws IOException {
        ArenaKit.play(Bot::choose);
    }
}
