//! How long something takes, for people.

/// Seconds, minutes or hours, as many digits as mean something.
pub fn seconds_text(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..600.0 => format!("{seconds:.0} s"),
        ..7_200.0 => format!("{:.0} min", seconds / 60.0),
        ..36_000.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.0} h", seconds / 3_600.0),
    }
}
