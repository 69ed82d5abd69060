//! HDR histograms, for committed reports whose raw samples would be too large.

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::inflate::first_bytes;

/// Significant decimal digits that a stored histogram keeps.
pub const HISTOGRAM_DIGITS: u8 = 2;
/// Of a value with these digits: its class tells so many of its bits.
const CLASS_BITS: u32 = 8;
/// Classes of each doubling beyond.
const HALF: u64 = 1 << (CLASS_BITS - 1);
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
        Self::stored(&hdr, negative_count)
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

    /// How many values were below zero, and then for each class of values that has any how many
    /// classes it lies after the one before, and how many values it has.
    ///
    /// # Errors
    /// A sentence where the stored form is damaged, or has other digits than ours.
    pub(crate) fn counted(&self) -> Result<Vec<i64>, String> {
        let hdr = self.decode()?;
        if hdr.sigfig() != HISTOGRAM_DIGITS {
            return Err(format!("histogram has {} digits", hdr.sigfig()));
        }
        let mut counted = vec![self.negative_count.cast_signed()];
        let mut last = 0;
        for class in hdr.iter_recorded() {
            let place = place_of(class.value_iterated_to());
            let count = class.count_since_last_iteration();
            counted.extend([(place - last).cast_signed(), count.cast_signed()]);
            last = place;
        }
        Ok(counted)
    }

    /// The way back.
    ///
    /// # Errors
    /// A sentence where these are no such numbers.
    pub(crate) fn of_counted(counted: &[i64]) -> Result<Self, String> {
        let damaged = || "histogram is damaged: no such counts".to_owned();
        let (negative, classes) = counted.split_first().ok_or_else(damaged)?;
        let negative_count = u64::try_from(*negative).map_err(|_| damaged())?;
        let (mut hdr, mut place) = (empty(), 0u64);
        for class in classes.chunks(2) {
            let [after, count] = class else { return Err(damaged()) };
            let pair = u64::try_from(*after).ok().zip(u64::try_from(*count).ok());
            let (after, count) = pair.ok_or_else(damaged)?;
            place = place.checked_add(after).ok_or_else(damaged)?;
            let value = value_at(place).ok_or_else(damaged)?;
            hdr.record_n(value, count).map_err(|_| damaged())?;
        }
        Ok(Self::stored(&hdr, negative_count))
    }

    fn stored(hdr: &hdrhistogram::Histogram<u64>, negative_count: u64) -> Self {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(hdr, &mut bytes)
            .expect("writing to a vector cannot fail");
        Self { negative_count, hdr_v2_deflate: STANDARD.encode(bytes) }
    }
}

/// The class of a value: one a value below 256, and from there on 128 for each doubling.
fn place_of(value: u64) -> u64 {
    let doublings = u64::from((u64::BITS - value.leading_zeros()).saturating_sub(CLASS_BITS));
    doublings * HALF + (value >> doublings)
}

/// The smallest value of a class; `None` of one beyond all values.
fn value_at(place: u64) -> Option<u64> {
    let doublings = (place / HALF).saturating_sub(1);
    let within = place - doublings * HALF;
    (doublings <= u64::from(u64::BITS - CLASS_BITS)).then(|| within << doublings)
}

fn empty() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new(HISTOGRAM_DIGITS).expect("the number of digits is within 0..=5")
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;
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
