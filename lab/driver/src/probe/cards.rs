//! What NVIDIA cards do at one moment, as `nvidia-smi` prints it, and over a while. Whoever may
//! start processes asks it; this only reads the answers.

use lab_record::{CardUse, Spread};
use serde::Serialize;

/// The arguments after `nvidia-smi` whose answer [`card_samples`] reads.
pub const CARD_QUERY: [&str; 2] = [
    "--query-gpu=index,name,utilization.gpu,memory.used,clocks.sm,power.draw",
    "--format=csv,noheader,nounits",
];

/// Added to [`CARD_QUERY`], the same answer comes again and again until the program is ended. A
/// card's utilisation is over a period of its own, between a sixth of a second and one second
/// (manual of nvidia-smi), so asking more often would say the same twice.
pub const CARD_LOOP: &str = "--loop-ms=200";

/// One card. What a card does not tell (`[N/A]`) is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardSample {
    /// Its number.
    pub card: u32,
    /// Its model.
    pub name: String,
    /// Share of the last sampling period with a kernel running.
    pub utilisation_percent: Option<u64>,
    /// Memory in use by all programs.
    pub memory_used_bytes: Option<u64>,
    /// Clock of the multiprocessors.
    pub clock_hz: Option<u64>,
    /// Power drawn.
    pub power_mw: Option<u64>,
}

/// The cards of an answer to [`CARD_QUERY`]; `None` where a line is none of a card's.
pub fn card_samples(answer: &str) -> Option<Vec<CardSample>> {
    answer.lines().filter(|line| !line.trim().is_empty()).map(sample).collect()
}

/// The middle and the largest of what each card did, in the order of their numbers. A value that a
/// card told only sometimes is taken from those times.
pub fn card_uses(samples: &[CardSample]) -> Vec<CardUse> {
    let mut numbers: Vec<u32> = samples.iter().map(|sample| sample.card).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().filter_map(|card| card_use(card, samples)).collect()
}

fn card_use(card: u32, samples: &[CardSample]) -> Option<CardUse> {
    let own: Vec<&CardSample> = samples.iter().filter(|sample| sample.card == card).collect();
    let over = |value: fn(&CardSample) -> Option<u64>| {
        spread(own.iter().filter_map(|sample| value(sample)).collect())
    };
    Some(CardUse {
        card,
        name: own.first()?.name.clone(),
        samples: own.len() as u32,
        utilisation_percent: over(|sample| sample.utilisation_percent),
        memory_used_bytes: over(|sample| sample.memory_used_bytes),
        clock_hz: over(|sample| sample.clock_hz),
        power_mw: over(|sample| sample.power_mw),
    })
}

fn spread(mut values: Vec<u64>) -> Option<Spread> {
    values.sort_unstable();
    Some(Spread { median: *values.get(values.len().checked_sub(1)? / 2)?, max: *values.last()? })
}

fn sample(line: &str) -> Option<CardSample> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [card, name, utilisation, memory, clock, power] = fields[..] else { return None };
    let number = |field: &str| field.parse::<u64>().ok();
    Some(CardSample {
        card: card.parse().ok()?,
        name: name.to_owned(),
        utilisation_percent: number(utilisation),
        memory_used_bytes: number(memory).map(|mib| mib << 20),
        clock_hz: number(clock).map(|mhz| mhz * 1_000_000),
        // Watts with two decimals.
        power_mw: power.parse::<f64>().ok().map(|watts| (watts * 1_000.0).round() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_read_with_their_units() {
        let answer = "0, NVIDIA H200, 37, 2048, 1980, 312.55\n1, NVIDIA A2, [N/A], 0, 210, [N/A]\n";
        let cards = card_samples(answer).unwrap();
        assert_eq!(cards.len(), 2);
        assert_eq!(
            cards[0],
            CardSample {
                card: 0,
                name: "NVIDIA H200".to_owned(),
                utilisation_percent: Some(37),
                memory_used_bytes: Some(2 << 30),
                clock_hz: Some(1_980_000_000),
                power_mw: Some(312_550),
            }
        );
        assert_eq!((cards[1].utilisation_percent, cards[1].power_mw), (None, None));
        assert_eq!(card_samples("NVIDIA-SMI has failed\n"), None);
    }
    #[test]
    fn samples_become_the_middle_and_the_largest_of_each_card() {
        let answers = "1, B, [N/A], 4, 210, 50.00\n0, A, 10, 1, 1000, [N/A]\n\
                       0, A, 90, 2, 1200, 70.10\n0, A, 20, 3, 1100, 60.00\n\
                       0, A, 30, 3, 900, 80.00\n";
        let uses = card_uses(&card_samples(answers).unwrap());
        assert_eq!(
            uses.iter().map(|one| (one.card, one.samples)).collect::<Vec<_>>(),
            [(0, 4), (1, 1)]
        );
        let of = |median, max| Some(Spread { median, max });
        assert_eq!(uses[0].utilisation_percent, of(20, 90));
        assert_eq!(uses[0].memory_used_bytes, of(2 << 20, 3 << 20));
        assert_eq!(uses[0].clock_hz, of(1_000_000_000, 1_200_000_000));
        assert_eq!(uses[0].power_mw, of(70_100, 80_000), "of the three that were told");
        assert_eq!((uses[1].utilisation_percent, uses[1].power_mw), (None, of(50_000, 50_000)));
        assert_eq!(card_uses(&[]), []);
    }
}
