//! Options of whatever builds revisions.

use clap::Args;

/// How revisions are built.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BuildArgs {
    /// Build each revision K times, with LAB_BUILD from 0 to K-1 and a seed in LAB_BUILD_SEED; each
    /// round runs one of the K
    #[arg(long, value_name = "K", requires = "build")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) builds: Option<u16>,
    /// Build again what an earlier comparison built
    #[arg(long, requires = "build")]
    pub(crate) rebuild: bool,
}

impl BuildArgs {
    /// Builds of each revision.
    pub(crate) fn count(&self) -> u16 {
        self.builds.unwrap_or(1)
    }
}
