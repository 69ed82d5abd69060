//! Search engines, which are scripts here: only the lab writes what they search.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};

use crate::world::World;

/// The default corpus is the large one, and has the word that only it holds.
const EXPERIMENT: &str = r#"schema = 1
name = "e"
question = "Does the lab write more than it needs?"
family = "engines"
seed = 1
blocks = 1
[variants]
tags = ["t"]
[[cells]]
threads = ["1"]
[[cells]]
variant = ["good"]
corpus = ["large", "small"]
query = ["often"]
[analysis]
reference = "good"
floor = "good"
pairing = "paired"
alpha = 0.05
comparisons = []
[engines.defaults]
corpus = "large"
query = "seldom"
threads = "1"
read = "buffered"
chunk = "default"
buffer_bytes = "default"
channel_bound = "unbounded"
semaphore = "off"
result_capacity = "default"
prefilter = "on"
parser = "serde_lazy"
advise = "none"
cache = "warm"
[engines.corpus]
large = { files = 3, bytes = 3_000_000, seed = 1 }
small = { files = 1, bytes = 30_000, seed = 1 }
[engines.query]
often = { text = "claude" }
seldom = { text = "zyzzyva" }
"#;
/// Answers as if a file of nothing had been searched, and notes what was asked.
const ANSWER: &str = r#"read -r line; echo "$line" >> "$ASKED"
run=${line#*\"run\":\"}; run=${run%%\"*}
counters='{"files":1,"matches":0,"files_unreadable":0,"wall_ns":1}'
samples='{"answer_file":[],"answer_offset_bytes":[],"answer_hash":[]}'
numbers="\"counters\":$counters,\"samples\":$samples"
echo "{\"protocol\":1,\"run\":\"$run\",\"status\":\"ok\",$numbers}""#;

#[test]
fn verify_writes_the_smallest_corpus_alone_and_asks_what_is_asked_of_it() {
    let world = World::new();
    let asked = world.path("asked");
    for name in ["good", "other"] {
        world.engine(name, &format!("ASKED='{}'\n{ANSWER}", asked.display()));
    }
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    let verify = world.lab(&["verify", "experiments/e.toml"]).assert().code(0);
    let which = "asked at corpus small, query often: the smallest of its cells";
    verify.stdout(contains(which).and(contains("right   good")).and(contains("right   other")));
    let corpora = fs::read_dir(world.path("results/corpora")).unwrap();
    let names: Vec<_> = corpora.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["1-files-30000-bytes-seed-1"]);
    let asked = fs::read_to_string(asked).unwrap();
    assert!(asked.lines().all(|line| line.contains("\"text\":\"claude\"")), "{asked}");
}
