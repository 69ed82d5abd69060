//! A program that does little else than scheduling, on two workers of Tokio.
//!
//! `scheduling WORKLOAD [SETTING]` prints a number that is the same in every version of Tokio, and
//! fails where the work was not all done. `scheduling read FILE TIMES [SETTING]` reads a file.

#![forbid(unsafe_code)]

use std::{env, hint::black_box, process::ExitCode, sync::Arc, thread, time::Duration};

use tokio::{
    fs,
    runtime::{Builder, Runtime},
    sync::{Mutex, Notify, mpsc},
    task, time,
};

const WORKERS: usize = 2;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Some(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("this build of Tokio has no such workload or setting: {}", words.join(" "));
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Option<u64> {
    Some(match words {
        ["chain", rest @ ..] => on_worker(setting(rest)?, chain(100, 3_000)),
        ["messages", rest @ ..] => on_worker(setting(rest)?, messages(10, 10_000)),
        ["spawn", rest @ ..] => on_worker(setting(rest)?, spawn(10, 5_000)),
        ["beside", rest @ ..] => on_worker(setting(rest)?, beside(20)),
        ["handlers", rest @ ..] => on_worker(setting(rest)?, handlers(60)),
        ["timers", rest @ ..] => on_worker(setting(rest)?, timers(64, 3_000)),
        ["mutex", rest @ ..] => on_worker(setting(rest)?, mutex(8, 6_000)),
        ["crowd", rest @ ..] => on_worker(setting(rest)?, crowd(100, 5_000)),
        ["read", file, times, rest @ ..] => {
            on_worker(setting(rest)?, read((*file).to_owned(), times.parse().ok()?))
        }
        _ => return None,
    })
}

/// `block_on` alone would poll the first task beside the workers, not on one.
fn on_worker(runtime: Runtime, work: impl Future<Output = u64> + Send + 'static) -> u64 {
    runtime.block_on(async { task::spawn(work).await.expect("no task panics") })
}

/// `None` where this build of Tokio lacks the setting.
fn setting(words: &[&str]) -> Option<Runtime> {
    let mut builder = Builder::new_multi_thread();
    match words {
        [] => {}
        ["current-thread"] => builder = Builder::new_current_thread(),
        #[cfg(tokio_unstable)]
        ["no-lifo"] => drop(builder.disable_lifo_slot()),
        #[cfg(tokio_unstable)]
        ["alt-timer"] => drop(builder.enable_alt_timer()),
        _ => return None,
    }
    builder.worker_threads(WORKERS).enable_all().build().ok()
}

/// A token goes round a ring of tasks: each wakes the next one and waits, so one alone can run.
async fn chain(tasks: u64, laps: u64) -> u64 {
    let (first, mut last) = mpsc::channel(1);
    for _ in 1..tasks {
        let (sender, receiver) = mpsc::channel(1);
        let mut source = std::mem::replace(&mut last, receiver);
        task::spawn(async move {
            while let Some(number) = source.recv().await {
                sender.send(number + 1).await.expect("the next task waits for it");
            }
        });
    }
    let mut token = 0_u64;
    for _ in 0..laps {
        first.send(token + 1).await.expect("the first task waits for it");
        token = last.recv().await.expect("the last task sends it");
    }
    assert_eq!(token, tasks * laps);
    token
}

/// Several tasks send 64 bytes at a time to one, which forwards them to another.
async fn messages(senders: u64, each: u64) -> u64 {
    let (sender, mut inbox) = mpsc::channel::<[u64; 8]>(128);
    let (forward, mut outbox) = mpsc::channel(128);
    for number in 0..senders {
        let sender = sender.clone();
        task::spawn(async move {
            for message in 0..each {
                sender.send([number * each + message; 8]).await.expect("it is forwarded");
            }
        });
    }
    drop(sender);
    task::spawn(async move {
        while let Some(message) = inbox.recv().await {
            forward.send(message).await.expect("it is received");
        }
    });
    let mut sum = 0;
    while let Some(message) = outbox.recv().await {
        sum += message[7];
    }
    assert_eq!(sum, (senders * each) * (senders * each - 1) / 2);
    sum
}

/// One task starts many that end at once, and waits for each.
async fn spawn(times: u64, tasks: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..times {
        let started: Vec<_> = (0..tasks).map(|number| task::spawn(async move { number })).collect();
        for task in started {
            sum += task.await.expect("no task panics");
        }
    }
    assert_eq!(sum, times * tasks * (tasks - 1) / 2);
    sum
}

/// A task wakes another and then blocks its worker; the other does so too when it gets one.
async fn beside(times: u64) -> u64 {
    const BLOCKED: Duration = Duration::from_millis(1);
    let (ask, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (asked, answers) = (ask.clone(), answer.clone());
    let other = task::spawn(async move {
        for _ in 0..times {
            asked.notified().await;
            thread::sleep(BLOCKED);
            answers.notify_one();
        }
        times
    });
    for _ in 0..times {
        ask.notify_one();
        thread::sleep(BLOCKED);
        answer.notified().await;
    }
    other.await.expect("no task panics")
}

/// A service that is mostly idle: every 0.5 ms a task of some microseconds. It is what
/// tokio-rs/tokio#8065 shows its regression by.
async fn handlers(requests: u64) -> u64 {
    let mut tasks = Vec::new();
    for _ in 0..requests {
        tasks.push(task::spawn(async {
            let mut state = 0x9E37_79B9_7F4A_7C15_u64;
            for step in 0..3_000 {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(step);
            }
            black_box(state)
        }));
        time::sleep(Duration::from_micros(500)).await;
    }
    let mut sum = 0_u64;
    for task in tasks {
        sum = sum.wrapping_add(task.await.expect("no task panics"));
    }
    sum
}

/// Tasks on both workers that set timers and cancel them before they fire.
async fn timers(tasks: u64, each: u64) -> u64 {
    let setting = (0..tasks).map(|_| {
        task::spawn(async move {
            let mut in_time = 0;
            for _ in 0..each {
                let done = time::timeout(Duration::from_secs(60), task::yield_now()).await;
                in_time += u64::from(done.is_ok());
            }
            in_time
        })
    });
    let sum = joined(setting.collect()).await;
    assert_eq!(sum, tasks * each);
    sum
}

/// Tasks that hand a lock to each other, and wait once while they hold it.
async fn mutex(tasks: u64, each: u64) -> u64 {
    let count = Arc::new(Mutex::new(0_u64));
    let locking = (0..tasks).map(|_| {
        let count = count.clone();
        task::spawn(async move {
            for _ in 0..each {
                let mut count = count.lock().await;
                task::yield_now().await;
                *count += 1;
            }
            0
        })
    });
    joined(locking.collect()).await;
    let sum = *count.lock().await;
    assert_eq!(sum, tasks * each);
    sum
}

/// Tasks that give up their turn again and again, and messages that pass between them.
async fn crowd(yielding: u64, messages: u64) -> u64 {
    const HOPS: u64 = 20;
    let tasks = (0..yielding).map(|number| {
        task::spawn(async move {
            for _ in 0..3_000 {
                task::yield_now().await;
            }
            number
        })
    });
    let tasks = tasks.collect();
    let (first, mut last) = mpsc::channel(1_000);
    for _ in 0..HOPS {
        let (sender, receiver) = mpsc::channel(1_000);
        let mut source = std::mem::replace(&mut last, receiver);
        task::spawn(async move {
            while let Some(number) = source.recv().await {
                sender.send(number + 1).await.expect("the next task waits for it");
            }
        });
    }
    for number in 0..messages {
        first.send(number).await.expect("the first task waits for it");
    }
    drop(first);
    let mut sum = joined(tasks).await;
    while let Some(number) = last.recv().await {
        sum += number;
    }
    let passed = messages * (messages - 1) / 2 + messages * HOPS;
    assert_eq!(sum, yielding * (yielding - 1) / 2 + passed);
    sum
}

/// Reads a file whole, as often as is said.
async fn read(file: String, times: u64) -> u64 {
    let mut bytes = 0;
    for _ in 0..times {
        let content = fs::read(&file).await.expect("the file can be read");
        bytes += black_box(content).len() as u64;
    }
    bytes
}

async fn joined(tasks: Vec<task::JoinHandle<u64>>) -> u64 {
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no task panics");
    }
    sum
}
