//! The way to a GPU, on machines that are made up.

use std::{fs, path::Path};

use lab_driver::probe::gpu_parts;
use tempfile::TempDir;

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Names of the parts that are missing, each with something to do.
fn missing(root: &Path) -> Vec<&'static str> {
    let parts = gpu_parts(root, &[root.join("usr/bin")]);
    assert!(parts.iter().all(|part| part.found.is_some() != part.to_do.is_some()));
    parts.iter().filter(|part| part.found.is_none()).map(|part| part.name).collect()
}

#[test]
fn each_part_is_found_as_it_comes() {
    let machine = TempDir::new().unwrap();
    let root = machine.path();
    assert_eq!(missing(root), ["card", "driver", "toolkit", "cdi", "runtime"]);
    put(root, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    put(root, "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
    assert_eq!(missing(root), ["driver", "toolkit", "cdi", "runtime"]);
    put(root, "proc/driver/nvidia/version", "NVRM version: NVIDIA 570.1\nGCC version: x\n");
    assert_eq!(missing(root), ["toolkit", "cdi", "runtime"]);
    put(root, "usr/bin/nvidia-ctk", "");
    assert_eq!(missing(root), ["cdi", "runtime"]);
    put(root, "var/run/cdi/nvidia.yaml", "kind: nvidia.com/gpu\n");
    assert_eq!(missing(root), ["runtime"]);
    put(root, "usr/bin/podman", "");
    assert_eq!(missing(root), [""; 0]);
}

#[test]
fn a_card_of_sound_and_a_device_of_others_are_no_gpu() {
    let machine = TempDir::new().unwrap();
    let root = machine.path();
    // The sound device of an NVIDIA card, and another maker's display.
    for (slot, vendor, class) in [("1", "0x10de", "0x040300"), ("2", "0x1002", "0x030000")] {
        put(root, &format!("sys/bus/pci/devices/{slot}/vendor"), vendor);
        put(root, &format!("sys/bus/pci/devices/{slot}/class"), class);
    }
    put(root, "etc/cdi/other.json", "{\"kind\": \"vendor.com/net\"}");
    assert_eq!(missing(root), ["card", "driver", "toolkit", "cdi", "runtime"]);
}

#[test]
fn docker_needs_its_runtime() {
    let machine = TempDir::new().unwrap();
    let root = machine.path();
    put(root, "usr/bin/docker", "");
    put(root, "etc/docker/daemon.json", "{}");
    assert!(missing(root).contains(&"runtime"));
    put(root, "etc/docker/daemon.json", "{\"runtimes\": {\"nvidia\": {}}}");
    assert!(!missing(root).contains(&"runtime"));
}
