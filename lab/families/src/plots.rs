//! The scripts that draw the pictures of reports, as a part of the program: it draws wherever it
//! is started.

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../plots/", $name)))),*]
    };
}

/// Every file of `plots/`: its name and its text.
pub const PLOTS: &[(&str, &str)] = scripts![
    "efficiency.gp",
    "lag.gp",
    "loss.gp",
    "offload-regret.gp",
    "offload-stalls.gp",
    "offload-switch.gp",
    "offload-trajectory.gp",
    "search-crossover.gp",
    "search-roofline.gp",
    "style.gp",
    "threads-curve.gp",
    "threads-heatmap.gp",
    "timeline.gp",
    "tokens.gp",
    "workflow-polling.gp",
    "workflow-waterfall.gp",
];
