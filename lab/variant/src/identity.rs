//! Who a variant is.

use lab_protocol::PROTOCOL;

/// Who a variant is, as its manifest says:
/// `Identity::of(include_str!("../variant.toml"))`.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    manifest: &'static str,
}

impl Identity {
    /// The text of a `variant.toml`, each key on a line of its own.
    pub const fn of(manifest: &'static str) -> Self {
        Self { manifest }
    }

    /// The folder's name.
    pub fn variant(&self) -> &'static str {
        self.text("name")
    }

    /// What it is, in one sentence.
    pub(crate) fn sentence(&self) -> &'static str {
        self.text("sentence")
    }

    /// As `--describe` prints it.
    pub(crate) fn describe(&self) -> lab_protocol::Identity {
        let features = self.value("features").split('"').skip(1).step_by(2);
        lab_protocol::Identity {
            protocol: PROTOCOL,
            family: self.text("family").to_owned(),
            variant: self.variant().to_owned(),
            measures: self.text("measures").to_owned(),
            version: self.text("version").to_owned(),
            features: features.map(str::to_owned).collect(),
        }
    }

    fn text(&self, key: &str) -> &'static str {
        self.value(key).trim_matches('"')
    }

    fn value(&self, key: &str) -> &'static str {
        let mut lines = self.manifest.lines().filter_map(|line| line.split_once(" = "));
        lines.find(|(name, _)| *name == key).map_or("", |(_, value)| value)
    }
}
