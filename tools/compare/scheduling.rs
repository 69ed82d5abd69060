//! A program of some 30 ms that does little else than scheduling: tasks that give up their turn,
//! and messages that wake tasks on other workers.

use tokio::{runtime::Builder, sync::mpsc, task};

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let sum = runtime.block_on(async {
        let yielding: Vec<_> = (0..100_u64).map(|number| task::spawn(give_way(number))).collect();
        let (first, mut last) = ring(20);
        for number in 0..1_000_u64 {
            first.send(number).await.unwrap();
        }
        drop(first);
        let mut sum = 0;
        while let Some(number) = last.recv().await {
            sum += number;
        }
        for task in yielding {
            sum += task.await.unwrap();
        }
        sum
    });
    println!("{sum}");
}

async fn give_way(number: u64) -> u64 {
    for _ in 0..500 {
        task::yield_now().await;
    }
    number
}

/// Tasks in a row, each of which hands on what it gets.
fn ring(tasks: usize) -> (mpsc::Sender<u64>, mpsc::Receiver<u64>) {
    let (first, mut last) = mpsc::channel(1_000);
    for _ in 0..tasks {
        let (sender, receiver) = mpsc::channel(1_000);
        let mut source = std::mem::replace(&mut last, receiver);
        task::spawn(async move {
            while let Some(number) = source.recv().await {
                sender.send(number + 1).await.unwrap();
            }
        });
    }
    (first, last)
}
