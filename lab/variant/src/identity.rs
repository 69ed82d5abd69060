//! Who a variant is.

use lab_protocol::PROTOCOL;

/// Who a variant is; the same as its `variant.toml`, which a test compares.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// The folder's name.
    pub variant: &'static str,
    /// The crate whose behaviour is measured.
    pub measures: &'static str,
    /// Its pinned version.
    pub version: &'static str,
    /// Its features that the variant asks for.
    pub features: &'static [&'static str],
}

impl Identity {
    /// As `--describe` prints it.
    pub(crate) fn describe(&self, family: &str) -> lab_protocol::Identity {
        lab_protocol::Identity {
            protocol: PROTOCOL,
            family: family.to_owned(),
            variant: self.variant.to_owned(),
            measures: self.measures.to_owned(),
            version: self.version.to_owned(),
            features: self.features.iter().map(|&feature| feature.to_owned()).collect(),
        }
    }
}
