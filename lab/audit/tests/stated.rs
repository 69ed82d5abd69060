//! What prose and lists state of the tables beside them: true statements pass, false ones are
//! found at their line.

mod changed;

use changed::only_when_changed;

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

const INDEX: &str = "\
## Speed

| Config | Alder (ms/query) | ours (ms/query) |
| --- | ---: | ---: |
| small, 1 thread | 1.300 | 1.100 |
| small, 8 threads | 0.254 | 0.190 |
| large, 1 thread | 2.470 | 2.100 |

Our index is 18-34 % faster than Alder across every config.
";

#[test]
fn ranges_of_every_case() {
    // Alder over ours gives 17.6 to 33.7 %, the time saved 15.0 to 25.2 %.
    only_when_changed(INDEX, ("18-34 %", "19-31 %"), "compared_with", &[9]);
    only_when_changed(INDEX, ("18-34 %", "15-25 %"), "none", &[]);
}

#[test]
fn who_is_behind_in_every_case_and_by_how_much() {
    let text = INDEX.replace("18-34 % faster than", "ahead of");
    only_when_changed(&text, ("| 2.470 |", "| 2.070 |"), "claim_of_all_rows", &[9]);
    let text = INDEX.replace(
        "is 18-34 % faster than Alder across every config.",
        "is ahead of Alder in every config, least at large (~18 %).",
    );
    only_when_changed(&text, ("~18 %", "~28 %"), "compared_with", &[9]);
}

#[test]
fn factors_of_two_named_sides() {
    let text = "\
## Fill

|  | Alder | Birch 6 |
| --- | --- | --- |
| Time | 2.43 s | 16.0 s |
| Memory used | 896 MB | 1.73 GB |

With threads Alder is almost 7 times faster.
";
    only_when_changed(text, ("7 times", "9 times"), "times_faster", &[8]);
    // Which sides are meant is not said.
    let unsaid = text.replace("Alder is almost 7", "this is almost 9");
    only_when_changed(&unsaid, ("almost 9", "almost 11"), "none", &[]);
}
