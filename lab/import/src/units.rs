//! Units of time, as the tools and their variants write them.

const UNITS: [(&[&str], f64); 7] = [
    (&["ns", "nsec", "nanos", "nanosecond", "nanoseconds"], 1.0),
    (&["us", "µs", "μs", "usec", "micros", "microsecond", "microseconds"], 1e3),
    (&["ms", "msec", "millis", "millisecond", "milliseconds"], 1e6),
    (&["s", "sec", "secs", "second", "seconds"], 1e9),
    (&["min", "minute", "minutes"], 6e10),
    (&["hr", "h", "hour", "hours"], 3.6e12),
    (&["day", "d", "days"], 8.64e13),
];

/// The nanoseconds of a unit.
pub(crate) fn time_ns(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, ns)| *ns)
}
