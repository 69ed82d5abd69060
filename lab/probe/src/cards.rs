//! What NVIDIA cards do at one moment, as `nvidia-smi` prints it. Whoever may start processes asks
//! it; this only reads the answer.

use serde::Serialize;

/// The arguments after `nvidia-smi` whose answer [`card_samples`] reads.
pub const CARD_QUERY: [&str; 2] = [
    "--query-gpu=index,name,utilization.gpu,memory.used,clocks.sm,power.draw",
    "--format=csv,noheader,nounits",
];

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
}
