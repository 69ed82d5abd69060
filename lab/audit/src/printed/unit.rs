//! Units as reports write them.

/// Reads a unit: the token as printed gives the factor for the value and the unit to keep.
/// `k`, `M` and their like scale the value where what follows them counts things (`16.8M tx/sec`).
/// `None` for a token that is no unit we know.
pub fn read(token: &str) -> Option<(f64, Option<String>)> {
    if token.is_empty() {
        return Some((1.0, None));
    }
    if let Some(unit) = known(token) {
        return Some((1.0, Some(unit)));
    }
    let mut letters = token.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    let factor = match first {
        'k' | 'K' => 1e3,
        'M' => 1e6,
        'G' | 'B' => 1e9,
        _ => return None,
    };
    if rest.is_empty() {
        return Some((factor, None));
    }
    counts(rest).then(|| (factor, Some(rest.to_owned())))
}

/// The canonical writing of a unit we know: `µs` becomes `us`, `×` becomes `x`.
pub fn known(token: &str) -> Option<String> {
    let unit = match token {
        "ns" | "nsec" | "nanoseconds" => "ns",
        "us" | "µs" | "μs" | "usec" | "microseconds" => "us",
        "ms" | "msec" | "millis" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "min",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "%" | "percent" | "pct" => "%",
        "pp" | "ppt" => "pp",
        "x" | "X" | "×" => "x",
        "B" | "byte" | "bytes" => "B",
        "KB" | "kB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB" | "Hz" | "kHz" | "MHz"
        | "GHz" | "W" | "kW" | "mW" | "J" | "mJ" | "kJ" | "°C" | "fps" | "FPS" => token,
        "kb" => "KB",
        "mb" => "MB",
        "gb" => "GB",
        _ if counts(token) || per(token) => token,
        _ => return None,
    };
    Some(unit.to_owned())
}

/// Whether both units measure one dimension; if so, the factor that turns the first into the
/// second's unit.
pub fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let (dimension, first) = base(from)?;
    let (other, second) = base(to)?;
    (dimension == other).then_some(first / second)
}

fn base(unit: &str) -> Option<(&'static str, f64)> {
    Some(match unit {
        "ns" => ("time", 1e-9),
        "us" => ("time", 1e-6),
        "ms" => ("time", 1e-3),
        "s" => ("time", 1.0),
        "min" => ("time", 60.0),
        "h" => ("time", 3600.0),
        "B" => ("bytes", 1.0),
        "KB" | "kB" => ("bytes", 1e3),
        "MB" => ("bytes", 1e6),
        "GB" => ("bytes", 1e9),
        "TB" => ("bytes", 1e12),
        "KiB" => ("bytes", 1024.0),
        "MiB" => ("bytes", 1048576.0),
        "GiB" => ("bytes", 1073741824.0),
        "Hz" => ("frequency", 1.0),
        "kHz" => ("frequency", 1e3),
        "MHz" => ("frequency", 1e6),
        "GHz" => ("frequency", 1e9),
        _ => return None,
    })
}

/// Rates of things counted, which a prefix may scale.
fn counts(token: &str) -> bool {
    let token = token.to_lowercase();
    ["ops", "rps", "qps", "tps", "iops", "req/s", "/s", "/sec", "/second"].contains(&token.as_str())
        || ["/s", "/sec", "/second", "/min"].iter().any(|end| {
            token.strip_suffix(end).is_some_and(|thing| thing.chars().all(char::is_alphabetic))
        }) && known_bytes(&token).is_none()
}

fn known_bytes(token: &str) -> Option<()> {
    let thing = token.split('/').next()?;
    ["b", "kb", "mb", "gb", "tb", "kib", "mib", "gib"].contains(&thing).then_some(())
}

/// `GB/s`, `ns/op`, `ms/step`: a unit per something.
fn per(token: &str) -> bool {
    let Some((thing, divisor)) = token.split_once('/') else { return false };
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphabetic() || c == '°');
    word(divisor) && word(thing) && known(thing).is_some()
}
