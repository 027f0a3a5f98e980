use std::{io::BufRead, sync::mpsc, thread, time::Duration};
fn main() {
    for line in std::io::stdin().lock().lines() {
        let (sender, receiver) = mpsc::channel();
        let workers: Vec<_> = (0..8).map(|n| {
            let sender = sender.clone();
            thread::spawn(move || { thread::sleep(Duration::from_millis(1)); sender.send(vec![n; 100_000]).unwrap(); })
        }).collect();
        for worker in workers { worker.join().unwrap(); }
        assert_eq!(receiver.iter().take(8).count(), 8);
        println!("got {}", line.unwrap());
    }
}
