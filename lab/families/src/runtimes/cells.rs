//! What a cell of this family says: configuration, arrangement, time scale.

use lab_record::Run;

/// Real time, in parts per million.
pub(crate) const UNSCALED_PPM: u64 = 1_000_000;

/// Whether the agents ran one after the other on purpose.
pub(crate) fn is_solo(run: &Run) -> bool {
    run.cell.get("arrangement").is_some_and(|level| level == "solo")
}

/// The cell's name for people: its configuration, then every further level but the arrangement.
pub(crate) fn configuration(run: &Run) -> String {
    let further = |(factor, level): (&String, &String)| match factor.as_str() {
        "config" | "arrangement" | "repeat" => None,
        _ => Some(format!("{factor}={level}")),
    };
    let config = run.cell.get("config").cloned();
    let parts: Vec<String> =
        config.into_iter().chain(run.cell.iter().filter_map(further)).collect();
    if parts.is_empty() { "all".to_owned() } else { parts.join(" ") }
}

/// How many parts per million of real time the server's schedule took. A server that does not say
/// is a real one.
pub(crate) fn time_scale_ppm(run: &Run) -> u64 {
    run.counters.get("server_time_scale_ppm").copied().unwrap_or(UNSCALED_PPM)
}

/// A time scale for people: `unscaled`, or `time scaled 1/100`.
pub(crate) fn time_scale_label(ppm: u64) -> String {
    match ppm {
        UNSCALED_PPM => "unscaled".to_owned(),
        ppm if ppm > 0 && UNSCALED_PPM.is_multiple_of(ppm) => {
            format!("time scaled 1/{}", UNSCALED_PPM / ppm)
        }
        ppm => format!("time scaled by {}", ppm as f64 / UNSCALED_PPM as f64),
    }
}
