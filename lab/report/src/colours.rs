//! A colour for each variant, the same in every picture of a page.

use lab_record::RunFile;

use crate::chapter::Column::{Code, Words};
use crate::page::Page;
use crate::study::Study;
use crate::tables::Table;

/// A twin's: it is another name of a program that has a colour.
const TWIN: u32 = 0xAA_AAAA;
/// That of the variant that does the least a machine must do.
const FLOOR: u32 = 0x44_4444;
/// In this order, so that a few are far apart; found by adding the colour that is farthest from all
/// before it, in OKLab, for usual sight and for protanopia, deuteranopia and tritanopia.
const PALETTE: [u32; 16] = [
    0x00_72B2, 0xE6_9F00, 0x00_9E73, 0xD5_5E00, 0xBB_33FF, 0x77_0088, 0x00_00DD, 0x22_AAFF, //
    0x88_5577, 0x88_1100, 0xCC_77CC, 0xCC_00AA, 0xFF_66FF, 0x55_6633, 0xCC_0000, 0x55_2255,
];

/// Every variant of a sweep with its colour, as red, green and blue in one number. The reference
/// has the first; of more than sixteen others the colours come again.
pub fn colours(file: &RunFile) -> Vec<(&str, u32)> {
    let (reference, floor) = (&file.analysis.reference, file.analysis.floor.as_deref());
    let is_choice = |name: &str| name != reference && Some(name) != floor;
    let originals = file.variants.iter().filter(|entry| entry.twin_of.is_none());
    let others = originals.map(|entry| entry.variant.as_str()).filter(|name| is_choice(name));
    let mut places = PALETTE.iter().copied().cycle();
    let mut coloured = vec![(reference.as_str(), PALETTE[0])];
    coloured.extend(others.zip(places.by_ref().skip(1)));
    coloured.extend(floor.filter(|floor| floor != reference).map(|floor| (floor, FLOOR)));
    let twins = file.variants.iter().filter(|entry| entry.twin_of.is_some());
    coloured.extend(twins.map(|entry| (entry.variant.as_str(), TWIN)));
    coloured
}

/// As `colours.tsv`, which the scripts of pictures read.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let coloured = colours(&study.frame.run_file);
    let columns = [
        Code("", "variant", &|(variant, _): &(&str, u32)| variant),
        // Eight digits, so that a script finds where they end.
        Words("", "colour", &|(_, colour)| format!("{colour:08}")),
    ];
    page.data("colours", &Table::over(coloured, &columns));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color
    /// Vision Deficiency", IEEE TVCG 15(6), 2009, at severity 1: nobody's, protanopia,
    /// deuteranopia, tritanopia; of linear red, green and blue.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
    }

    /// Lightness and two chroma (Ottosson, "A perceptual color space for image processing", 2020).
    fn oklab(rgb: [f64; 3]) -> [f64; 3] {
        let to_cones = [
            [0.412_221_47, 0.536_332_54, 0.051_445_99],
            [0.211_903_5, 0.680_699_55, 0.107_396_96],
            [0.088_302_46, 0.281_718_84, 0.629_978_7],
        ];
        let to_lab = [
            [0.210_454_26, 0.793_617_79, -0.004_072_05],
            [1.977_998_5, -2.428_592_2, 0.450_593_71],
            [0.025_904_04, 0.782_771_77, -0.808_675_77],
        ];
        times(to_lab, times(to_cones, rgb).map(|cone| cone.max(0.0).cbrt()))
    }

    fn seen(colour: u32) -> [[f64; 3]; 4] {
        let linear = |byte: u32| match f64::from(byte & 0xFF) / 255.0 {
            dark if dark <= 0.040_45 => dark / 12.92,
            light => ((light + 0.055) / 1.055).powf(2.4),
        };
        let rgb = [linear(colour >> 16), linear(colour >> 8), linear(colour)];
        SIGHTS.map(|sight| oklab(times(sight, rgb).map(|part| part.clamp(0.0, 1.0))))
    }

    /// To the eye for which they are nearest.
    fn distance(one: u32, other: u32) -> f64 {
        let apart = |(a, b): ([f64; 3], [f64; 3])| {
            let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>().sqrt()
        };
        let eyes = seen(one).into_iter().zip(seen(other));
        eyes.map(apart).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_two_colours_are_alike_to_the_colour_blind() {
        // Red and green that differ in nothing else are alike to some.
        assert!(distance(0x80_8000, 0xA0_7000) < 0.05 && distance(0, 0xFF_FFFF) > 0.9);
        let all = [&PALETTE[..], &[TWIN, FLOOR]].concat();
        for (place, one) in all.iter().enumerate() {
            for (other_place, other) in all.iter().enumerate().skip(place + 1) {
                let least = if other_place < 8 { 0.08 } else { 0.06 };
                let apart = distance(*one, *other);
                assert!(apart > least, "{one:06X} and {other:06X} are {apart:.3} apart");
            }
        }
    }
}
