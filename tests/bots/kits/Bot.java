import java.io.IOException;
import java.util.ArrayList;
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

    static double[][] evaluate(Map<String, Object> view, List<Object> legal, double budgetMs) {
        double[] values = new double[legal.size()];
        for (int index = 0; index < values.length; index++) {
            Map<String, Object> action = ArenaKit.object(legal.get(index));
            List<Object> heaps = new ArrayList<>(ArenaKit.list(view.get("heaps")));
            heaps.set(((Long) action.get("heap")).intValue(), left(heaps, action));
            values[index] = heaps.stream().mapToLong(heap -> (Long) heap).reduce(0, (sum, size) -> sum ^ size) == 0 ? 1 : 0;
        }
        return new double[][] {values, new double[values.length]};
    }

    static long left(List<Object> heaps, Map<String, Object> action) {
        return (Long) heaps.get(((Long) action.get("heap")).intValue()) - (Long) action.get("count");
    }

    public static void main(String[] arguments) throws IOException {
        ArenaKit.evaluate = Bot::evaluate;
        ArenaKit.play(Bot::choose);
    }
}
