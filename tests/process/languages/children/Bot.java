import java.util.Scanner;
class Bot {
    public static void main(String[] a) throws Exception {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            Process child = new ProcessBuilder("echo", "got").start();
            String said = new String(child.getInputStream().readAllBytes()).trim();
            System.out.println(said + " " + in.nextLine());
        }
    }
}
