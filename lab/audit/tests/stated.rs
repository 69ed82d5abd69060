//! What prose and lists state of the tables beside them: true statements pass, false ones are
//! found at their line.

mod changed;

use changed::{found, only_when_changed};

const CODECS: &str = "\
# Codecs

## Results

| Codec | Time (ms) | Memory (MB) | Throughput (ops/s) |
| --- | ---: | ---: | ---: |
| alder | 12.0 | 40 | 820 |
| birch | 15.5 | 22 | 640 |
| cedar | 31.0 | 35 | 310 |

SENTENCE
";

#[test]
fn superlatives_hold_in_the_column_that_they_mean() {
    let text = |sentence: &str| CODECS.replace("SENTENCE", sentence);
    let wrong = |sentence: &str| found(&text(sentence)).first().map(|(check, _)| check.clone());
    assert_eq!(wrong("Alder is the fastest."), None);
    assert_eq!(wrong("Cedar is the fastest.").as_deref(), Some("superlative"));
    assert_eq!(wrong("Birch has the lowest memory."), None);
    assert_eq!(wrong("Alder has the lowest memory.").as_deref(), Some("superlative"));
    assert_eq!(wrong("The highest throughput is that of alder."), None);
    assert_eq!(wrong("The highest throughput is that of birch.").as_deref(), Some("superlative"));
    // Some cases, second places and what may be are left alone.
    assert_eq!(wrong("Cedar is one of the fastest."), None);
    assert_eq!(wrong("Cedar could be the fastest."), None);
    assert_eq!(wrong("Birch is the fastest after alder."), None);
}

#[test]
fn superlatives_of_columns() {
    let text = "\
## Times

| Workload | alder (ms) | birch (ms) |
| --- | ---: | ---: |
| read | 10 | 20 |
| write | 35 | 30 |
";
    assert_eq!(found(&format!("{text}\nBirch is the fastest.\n")), []);
    let text = text.replace("| 30 |", "| 40 |");
    assert_eq!(found(&format!("{text}\nAlder (ms) is the fastest.\n")), []);
    let wrong = format!("{text}\nThe column birch (ms) is the fastest.\n");
    assert_eq!(found(&wrong), [("superlative".to_owned(), 8)]);
}

#[test]
fn claims_of_all_rows() {
    let text = "\
## Modes

Here mode=eager consistently outperforms mode=lazy:

| Size | mode=eager tput | mode=lazy tput |
| --- | ---: | ---: |
| 64 | 210 | 180 |
| 128 | 190 | 170 |
| 256 | 150 | 140 |
";
    only_when_changed(text, ("| 170 |", "| 270 |"), "claim_of_all_rows", &[3]);
    let text = "\
## Buffers

| Threads | Buffer | Throughput (MB/s) |
| --- | --- | ---: |
| 1 | 4096 | 110 |
| 1 | 8192 | 130 |
| 2 | 4096 | 200 |
| 2 | 8192 | 240 |

A larger buffer (8192 vs 4096) improves throughput by a fifth across all thread counts.
";
    only_when_changed(text, ("| 240 |", "| 180 |"), "claim_of_all_rows", &[10]);
}

#[test]
fn rules_over_sizes() {
    let text = "\
## Block size

- Larger blocks = higher throughput

```
alder:
- 1024: 80.1 MB/s
- 2048: 91.5 MB/s
- 4096: 99.0 MB/s
```
";
    // MB/s are no things counted, so the block says nothing of it without the word.
    let text = text.replace("## Block size", "## Blocks and throughput");
    only_when_changed(&text, ("91.5", "71.5"), "monotone_claim", &[3]);
}

#[test]
fn effects_of_settings() {
    let text = "\
# Tuning

- Pool size (pool_size) tuning yields 15-20% throughput improvements

## Pool size (pool_size)

```
- 16: 100.0 req/s
- 32: 117.0 req/s
- 64: 104.0 req/s
```
";
    only_when_changed(text, ("117.0", "101.0"), "effect_of_setting", &[3]);
}

#[test]
fn percentages_of_the_right_base() {
    let text = "\
## Peers

| Metric | Alder | Birch |
| --- | ---: | ---: |
| Requests | 126.4 req/s | 101.1 req/s |
| Memory | 30 MB | 40 MB |

Please note that Birch handled 20% less requests.
";
    only_when_changed(text, ("20% less", "25% less"), "percent_of_other", &[8]);
    let text = text.replace("Birch handled 20% less requests", "Alder handled 25% more requests");
    only_when_changed(&text, ("25% more", "20% more"), "percent_of_other", &[8]);
}

#[test]
fn none_means_none() {
    let text = "\
## Memory

| Method | Time (ns) | Allocated (B) |
| --- | ---: | ---: |
| alder | 12 | 0 |
| birch | 15 | 64 |

Our parser achieves zero allocations.
";
    only_when_changed(text, ("| 0 |", "| 48 |"), "none_claimed", &[8]);
}

#[test]
fn rows_that_are_named_are_there() {
    let text = "\
## Calls

| Call | Time (ns) |
| --- | ---: |
| map.get | 12 |
| map.put | 15 |

The libraries differ most in the map.get and map.put rows.
";
    only_when_changed(text, ("and map.put rows", "and map.pop rows"), "row_missing", &[8]);
}

#[test]
fn whose_numbers_they_are() {
    let text = "\
# Report

The gap to Birch's 71.5% average utilization is small.

| Metric | Alder | Birch |
| --- | ---: | ---: |
| Mean utilization | 70.2% | 71.5% |
| Peak utilization | 90.2% | 93.5% |
";
    only_when_changed(text, ("Birch's 71.5%", "Birch's 74.5%"), "stated_twice", &[3]);
}

#[test]
fn one_product_has_one_number() {
    let text = "\
# Hardware

1. Memory bandwidth, the first bottleneck
   - Card 5000: 504 GB/s (measured bandwidth)
   - Card 6000: 900 GB/s

## Again

1. Memory bandwidth
   - Card 5000: 504 GB/s bandwidth of memory
";
    only_when_changed(
        text,
        ("504 GB/s bandwidth of", "432 GB/s bandwidth of"),
        "stated_twice",
        &[10],
    );
}

#[test]
fn what_fell_is_told_without_its_sign() {
    let text = |sentence: &str| {
        format!(
            "## Sizes\n\n| Variant | Wall time | Size |\n| --- | ---: | ---: |\n\
             | alder | -22.1 % | +4.0 % |\n| birch | +3.0 % | -1.0 % |\n\n{sentence}\n"
        )
    };
    let stated = |number: &str| {
        [
            format!("The wall time of alder is {number} shorter."),
            format!("Alder saves {number} of wall time."),
            format!("Less wall time with alder ({number})."),
            format!("Fewer wall time: alder {number}."),
        ]
    };
    for sentence in stated("22.1 %") {
        assert_eq!(found(&text(&sentence)), [], "{sentence}");
    }
    for sentence in stated("24.1 %") {
        let wanted = [("stated_twice".to_owned(), 8)];
        assert_eq!(found(&text(&sentence)), wanted, "{sentence}");
    }
    // A sign or a fall has to be told: "22.1 %" alone is another number.
    let wanted = [("stated_twice".to_owned(), 8)];
    assert_eq!(found(&text("The wall time of alder is 22.1 %.")), wanted);
}
