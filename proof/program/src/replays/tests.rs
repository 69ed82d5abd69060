//! The proof in small: on stored noise, the answers err as seldom as they say.

use super::{BisectSize, Row, Size, bisects, prove, recordings};

#[test]
fn every_target_is_met_on_every_recording() {
    for noise in recordings() {
        prove(&noise, Size::SMALL, 1, &mut |row| assert_ne!(row.met(), Some(false), "{row:?}"));
    }
}

/// After a change that is meant to change them `WRITE_REPLAYS=1` writes the rows anew.
#[test]
fn few_replays_give_the_rows_that_they_gave() {
    let few = Size { looks: 20, planted: 10, rounds: 120 };
    let mut rows = vec![Row::HEADER.to_owned()];
    for noise in recordings() {
        prove(&noise, few, 1, &mut |row| rows.push(row.tsv()));
        bisects(&noise, BisectSize { searches: 8, pairs: 3_000 }, 1, &mut |row| {
            rows.push(row.tsv())
        });
    }
    let found = rows.join("\n") + "\n";
    if std::env::var_os("WRITE_REPLAYS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/replays/replays.tsv"), &found)
            .unwrap();
        return;
    }
    for (found, expected) in found.lines().zip(include_str!("replays.tsv").lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), include_str!("replays.tsv").len());
}

#[test]
fn searches_name_the_planted_commit_on_every_recording() {
    for noise in recordings() {
        let mut met = |row: Row| assert_ne!(row.met(), Some(false), "{row:?}");
        bisects(&noise, BisectSize::SMALL, 1, &mut met);
    }
}
