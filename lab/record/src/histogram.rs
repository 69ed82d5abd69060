//! HDR histograms, for committed reports whose raw samples would be too large.

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::inflate::first_bytes;

/// Significant decimal digits that a stored histogram keeps.
pub const HISTOGRAM_DIGITS: u8 = 2;
/// Of a histogram before it is packed: many times as many as one with these digits can have.
const COUNTS_BYTES_MAX: u32 = 1 << 20;
/// Before the packed stream: what it is, and its length.
const HEAD_BYTES: usize = 8;

/// A distribution of non-negative integers. Negative samples are counted and not stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Values that were below zero (a missing reading, or a clock that disagrees).
    pub negative_count: u64,
    /// The V2 deflate form of the HDR histogram in base64.
    pub hdr_v2_deflate: String,
}

impl Histogram {
    /// The distribution of `values`.
    pub fn of(values: &[i64]) -> Self {
        let mut hdr = empty();
        let mut negative_count = 0;
        for &value in values {
            match u64::try_from(value) {
                Ok(value) => hdr.record(value).expect("an auto-resizing histogram takes any value"),
                Err(_) => negative_count += 1,
            }
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("writing to a vector cannot fail");
        Self { negative_count, hdr_v2_deflate: STANDARD.encode(bytes) }
    }

    /// The histogram itself.
    ///
    /// # Errors
    /// A sentence where the stored form is damaged.
    pub fn decode(&self) -> Result<hdrhistogram::Histogram<u64>, String> {
        let bytes = STANDARD
            .decode(&self.hdr_v2_deflate)
            .map_err(|error| format!("histogram is not base64: {error}"))?;
        // Its reader sets aside what the stream tells in its fifth to eighth byte, unread.
        let told = first_bytes(bytes.get(HEAD_BYTES..).unwrap_or_default(), 8);
        let told = told.and_then(|head| Some(u32::from_be_bytes(head[4..].try_into().ok()?)));
        match told {
            None => return Err("histogram is damaged: its stream is broken".to_owned()),
            Some(told) if told > COUNTS_BYTES_MAX => {
                return Err(format!("histogram is damaged: it tells of {told} bytes"));
            }
            Some(_) => {}
        }
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| format!("histogram is damaged: {error}"))
    }
}

fn empty() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new(HISTOGRAM_DIGITS).expect("the number of digits is within 0..=5")
}

#[cfg(test)]
mod tests {
    use lab_attacks::Attack;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_survive_within_the_digits_kept(
            mut values in prop::collection::vec(0i64..1_000_000_000, 1..200)
        ) {
            let stored = Histogram::of(&values).decode().unwrap();
            values.sort_unstable();
            let median = values[(values.len() - 1) / 2] as f64;
            let kept = stored.value_at_quantile(0.5) as f64;
            prop_assert_eq!(stored.len(), values.len() as u64);
            prop_assert!((kept - median).abs() <= 1.0 + median * 0.02, "{kept} against {median}");
        }
    }

    /// What a reader would set aside gigabytes for, by zlib at all its levels and ways.
    #[test]
    fn a_histogram_that_tells_of_gigabytes_is_damaged() {
        for (what, stored) in [
            ("packed well", "HISTBAAAABt42pNpmcz8HwgYIIAJSjPC+PYfGNAAAAFNBmc="),
            (
                "stored",
                "HISTBAAAAD14AQEyAM3/HISTA/////8AAAAAAAAAAgAAAA\
                 AAAAABAAAAAAAAAAI/8AAAAAAAAAAAAAAAAAAAAAABTQZn",
            ),
            ("in fixed codes", "HISTBAAAABt4AZNpmcz8HwgYIIAJSjPC+PYfGNAAAAFNBmc="),
            ("of 1 GiB", "HISTBAAAABl4nJNpmczswAAHTFCaEca3/8CABgBbcAKr"),
        ] {
            let _attack = Attack::on("memory", &format!("a histogram of 4 GiB, {what}"));
            let stored = Histogram { negative_count: 0, hdr_v2_deflate: stored.to_owned() };
            let error = stored.decode().unwrap_err();
            assert!(error.contains("it tells of"), "{what}: {error}");
        }
        for stored in ["", "AAAA", "HISTBAAAABt4nA==", "HISTBAAAAAR4nP//"] {
            let stored = Histogram { negative_count: 0, hdr_v2_deflate: stored.to_owned() };
            assert!(stored.decode().is_err());
        }
    }

    #[test]
    fn negative_values_are_counted_apart() {
        let stored = Histogram::of(&[-1, -1, 5]);
        assert_eq!((stored.negative_count, stored.decode().unwrap().len()), (2, 1));
    }
}
