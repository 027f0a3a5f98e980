import java.util.*;
import java.util.concurrent.*;
class Bot {
    static int work(int n) {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            kept.add(new byte[100_000]);
            if (i % 100 == 0) kept.clear();
        }
        return n;
    }
    public static void main(String[] a) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            List<Future<Integer>> jobs = new ArrayList<>();
            for (int i = 0; i < 8; i++) { int n = i; jobs.add(pool.submit(() -> work(n))); }
            int sum = 0;
            for (Future<Integer> job : jobs) sum += job.get();
            System.gc();
            Thread.sleep(1);
            if (sum == 28) System.out.println("got " + line);
        }
        pool.shutdown();
    }
}
