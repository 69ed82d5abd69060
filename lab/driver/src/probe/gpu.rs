//! What a container needs to reach an NVIDIA card, and which of it this machine lacks.
//!
//! Only files are read, below a folder that stands for the machine's root, so a test can make up a
//! machine. Nothing here asks a card anything.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

/// One thing on the way from a card to a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GpuPart {
    /// `card`, `driver`, `toolkit`, `cdi` or `runtime`.
    pub name: &'static str,
    /// What was found; `None` where it is missing.
    pub found: Option<String>,
    /// What to do where it is missing, else nothing.
    pub to_do: Option<&'static str>,
}

/// NVIDIA among the vendors of PCI devices.
const VENDOR: &str = "0x10de";
/// Display and 3D controllers are of this class.
const DISPLAY_CLASS: &str = "0x03";

/// Looks for each part on the machine whose root is `root` and whose programs lie in `path`.
pub fn gpu_parts(root: &Path, path: &[PathBuf]) -> Vec<GpuPart> {
    let part = |name, found: Option<String>, to_do| {
        let to_do = found.is_none().then_some(to_do);
        GpuPart { name, found, to_do }
    };
    vec![
        part("card", card(root), "there is no NVIDIA card on the PCI bus; take the profile cpu"),
        part(
            "driver",
            driver(root),
            "install NVIDIA's driver for this kernel (Debian: nvidia-driver, of non-free) and \
             start the machine again",
        ),
        part(
            "toolkit",
            program("nvidia-ctk", path),
            "install nvidia-container-toolkit (docs/CONTAINERS.md), which has nvidia-ctk",
        ),
        part("cdi", cdi(root), "run: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"),
        part(
            "runtime",
            runtime(root, path),
            "install podman, or for docker run: nvidia-ctk runtime configure --runtime=docker, and \
             start docker again",
        ),
    ]
}

fn card(root: &Path) -> Option<String> {
    let read = |device: &Path, name: &str| fs::read_to_string(device.join(name)).ok();
    let is_card = |device: &PathBuf| {
        read(device, "vendor").is_some_and(|vendor| vendor.trim() == VENDOR)
            && read(device, "class").is_some_and(|class| class.starts_with(DISPLAY_CLASS))
    };
    let count = entries(&root.join("sys/bus/pci/devices")).filter(is_card).count();
    (count > 0).then(|| format!("{count} on the PCI bus"))
}

/// The first line of what the loaded driver says of itself.
fn driver(root: &Path) -> Option<String> {
    let version = fs::read_to_string(root.join("proc/driver/nvidia/version")).ok()?;
    Some(version.lines().next()?.trim().to_owned())
}

fn program(name: &str, path: &[PathBuf]) -> Option<String> {
    path.iter().any(|folder| folder.join(name).is_file()).then(|| name.to_owned())
}

/// The folder whose description of devices names NVIDIA's cards.
fn cdi(root: &Path) -> Option<String> {
    ["etc/cdi", "var/run/cdi"].into_iter().find_map(|folder| {
        let names_cards = |file: PathBuf| {
            fs::read_to_string(file).is_ok_and(|text| text.contains("nvidia.com/gpu"))
        };
        entries(&root.join(folder)).any(names_cards).then(|| format!("/{folder}"))
    })
}

/// podman takes CDI devices as it is, docker has to be told of the runtime.
fn runtime(root: &Path, path: &[PathBuf]) -> Option<String> {
    let podman = program("podman", path);
    podman.or_else(|| {
        let daemon = fs::read_to_string(root.join("etc/docker/daemon.json")).ok()?;
        program("docker", path).filter(|_| daemon.contains("nvidia"))
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
