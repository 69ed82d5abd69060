//! What the published report said, from the table that the experiment carries.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Figures of one published runtime, parallel efficiency in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Published {
    pub(crate) peak: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) sd: Option<f64>,
    pub(crate) min: Option<f64>,
}

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    published: BTreeMap<String, Published>,
}

/// The published figures by variant. Empty where the experiment carries none: an experiment that
/// reproduces nothing has nothing to stand beside.
pub(crate) fn published(attachments: &BTreeMap<String, String>) -> BTreeMap<String, Published> {
    let read = |text: &String| toml::from_str::<File>(text).unwrap_or_default().published;
    let named = |(name, figures): (String, Published)| (name.replace('-', "_"), figures);
    attachments.values().flat_map(read).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_strangers_ignored() {
        let text = "schema = 1\n[published.async-std]\nmean = 50.0\nmean_by_config = { a = 1.0 }\n";
        let read = published(&BTreeMap::from([("servers".to_owned(), text.to_owned())]));
        assert_eq!(read["async_std"].mean, Some(50.0));
        assert!(published(&BTreeMap::new()).is_empty());
        let broken = BTreeMap::from([("servers".to_owned(), "[[".to_owned())]);
        assert!(published(&broken).is_empty());
    }
}
