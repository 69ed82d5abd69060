//! Whether the kernel puts stack, heap and libraries of a command at random addresses.

use std::{fs, io};

use nix::libc;

/// What asks personality(2) and sets nothing.
const ASK: libc::c_ulong = 0xffff_ffff;

/// What the kernel does with the addresses of what the lab starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// `/proc/sys/kernel/randomize_va_space`: 0 is never, 1 all but the heap, 2 the heap as well;
    /// `None` where the kernel does not say.
    pub randomize_va_space: Option<u8>,
    /// Whether the lab's personality has `ADDR_NO_RANDOMIZE`, which the commands inherit.
    pub fixed: bool,
}

/// For the commands that are started from now on.
pub fn addresses() -> io::Result<Addresses> {
    let setting = fs::read_to_string("/proc/sys/kernel/randomize_va_space").ok();
    Ok(Addresses {
        randomize_va_space: setting.and_then(|text| text.trim().parse().ok()),
        fixed: personality(ASK)? & libc::ADDR_NO_RANDOMIZE != 0,
    })
}

/// Every command that this thread starts from now on has the same addresses each time. The lab's
/// own stay where they are.
pub fn fix_addresses() -> io::Result<()> {
    let now = personality(ASK)?;
    let wanted = libc::c_ulong::from((now | libc::ADDR_NO_RANDOMIZE).cast_unsigned());
    personality(wanted).map(|_| ())
}

/// The personality before the call.
fn personality(wanted: libc::c_ulong) -> io::Result<libc::c_int> {
    // SAFETY: the call takes an integer and changes nothing but how later programs are loaded.
    #[expect(unsafe_code, reason = "nix has this call behind a feature that is not built")]
    let before = unsafe { libc::personality(wanted) };
    if before < 0 { Err(io::Error::last_os_error()) } else { Ok(before) }
}
