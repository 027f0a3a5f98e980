import java.io.IOException;
import java.util.List;
import java.util.Map;

public class Bot {
    static Object choose(Map<String, Object> view, List<Object> legal, Map<String, Object> clock) {
        System.out.println("stray " + view.get("say") + " " + clock.get("move_ms"));
        ArenaKit.note((String) view.get("say"));
        int items = ArenaKit.list(view.get("items")).size();
        if (legal == null) return Map.of("twice", 2 * ((Number) view.get("number")).doubleValue(), "items", items);
        return legal.get(((Long) view.get("pick")).intValue());
    }

    public static void main(String[] arguments) throws IOException {
        ArenaKit.play(Bot::choose);
    }
}
