//! Mapped files that somebody cuts short: their bytes turn into zeros instead of ending the
//! process, and whoever reads them is told.

use std::fs::File;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Once};

use memmap2::Mmap;
use nix::libc::{
    BUS_ADRERR, MAP_ANONYMOUS, MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ,
    SIG_DFL, SIGBUS, c_int, c_void, mmap, raise, siginfo_t, signal,
};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// Maps at once at most: each thread has one, and further files are read instead.
const MAPS: usize = 256;

/// Where the maps are. A handler may take no lock, so these are numbers alone.
static SLOTS: [Slot; MAPS] = [const { Slot::new() }; MAPS];

/// Of a slot that is nobody's, and of one that somebody fills in: where no map begins.
const FREE: usize = 0;
const CLAIMED: usize = 1;

#[derive(Debug)]
struct Slot {
    start: AtomicUsize,
    bytes: AtomicUsize,
    is_cut: AtomicBool,
}

/// A map of a file that others may cut short.
#[derive(Debug)]
pub(crate) struct Guarded {
    map: Mmap,
    slot: &'static Slot,
    file: Arc<File>,
}

impl Guarded {
    /// `None` where the file cannot be mapped, or where too many are.
    pub(crate) fn new(file: &Arc<File>) -> Option<Self> {
        install();
        let slot = SLOTS.iter().find(|slot| slot.claim())?;
        // SAFETY: whoever writes to the file changes bytes that were checked before; as with every
        // search by maps, the parser meets bytes of both writings at worst. Those that are gone
        // are zeros (see `zeros`), and `is_cut` says so.
        #[expect(unsafe_code, reason = "a map is undefined where others write to the file")]
        let map = unsafe { Mmap::map(&**file) };
        let Ok(map) = map else {
            slot.start.store(FREE, Ordering::Release);
            return None;
        };
        slot.fill(&map);
        Some(Self { map, slot, file: Arc::clone(file) })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether anything that was read of it before may be zeros that no file ever had.
    pub(crate) fn is_cut(&self) -> bool {
        // What was read before is read before this is asked.
        fence(Ordering::Acquire);
        self.slot.is_cut.load(Ordering::Relaxed)
    }

    /// The same, and asks the file: the rest of its last page is zeros without a signal.
    pub(crate) fn is_cut_now(&self) -> bool {
        let is_shorter = || {
            let bytes = self.file.metadata().map_or(0, |metadata| metadata.len());
            bytes < self.map.len() as u64
        };
        if !self.is_cut() && is_shorter() {
            self.slot.is_cut.store(true, Ordering::Release);
        }
        self.is_cut()
    }
}

impl Drop for Guarded {
    /// Before the map is given up, for its place is somebody else's then.
    fn drop(&mut self) {
        self.slot.start.store(FREE, Ordering::Release);
    }
}

impl Slot {
    const fn new() -> Self {
        let (start, bytes) = (AtomicUsize::new(FREE), AtomicUsize::new(0));
        Self { start, bytes, is_cut: AtomicBool::new(false) }
    }

    fn claim(&self) -> bool {
        let claimed =
            self.start.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed);
        claimed.is_ok()
    }

    fn fill(&self, map: &[u8]) {
        self.is_cut.store(false, Ordering::Relaxed);
        self.bytes.store(map.len(), Ordering::Relaxed);
        self.start.store(map.as_ptr().addr(), Ordering::Release);
    }

    /// The map that an address lies in. One that is given up meanwhile is not it: whoever faults
    /// holds his map.
    fn map_with(&self, address: usize) -> Option<(usize, usize)> {
        let start = self.start.load(Ordering::Acquire);
        let bytes = self.bytes.load(Ordering::Acquire);
        let is_in = start > CLAIMED && address >= start && address - start < bytes;
        (is_in && self.start.load(Ordering::Acquire) == start).then_some((start, bytes))
    }

    /// Puts zeros in the place of the whole map where the address is in it: one fault is all that
    /// a file costs, and the bytes that are left are read.
    fn clear(&self, address: usize) -> bool {
        let Some((start, bytes)) = self.map_with(address) else { return false };
        // Before there are zeros, so that nobody who read one misses it.
        self.is_cut.store(true, Ordering::SeqCst);
        let flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: the range is that of a map of ours, which whoever faults holds, and whose readers
        // believe nothing of it from now on.
        #[expect(unsafe_code, reason = "memory in the place of other memory")]
        let zeros = unsafe { mmap(without_provenance_mut(start), bytes, PROT_READ, flags, -1, 0) };
        zeros != MAP_FAILED
    }
}

/// Handles SIGBUS from now on.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = SigHandler::SigAction(zeros);
        let action =
            SigAction::new(handler, SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK, SigSet::empty());
        // SAFETY: the handler makes system calls and reads atomics, which it may at any moment.
        #[expect(unsafe_code, reason = "a handler of a signal")]
        let installed = unsafe { sigaction(Signal::SIGBUS, &action) };
        // Without it such a file ends the process, as it does any other.
        let _ = installed;
    });
}

#[expect(unsafe_code, reason = "nothing but system calls is allowed here")]
extern "C" fn zeros(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel gives the handler what it is told of the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code == BUS_ADRERR && SLOTS.iter().any(|slot| slot.clear(address)) {
        return;
    }
    // SAFETY: as if there were no handler; the signal arrives when this one is done.
    unsafe {
        signal(SIGBUS, SIG_DFL);
        raise(SIGBUS);
    }
}

/// How far a worker is in a map.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// `None` of bytes that are a worker's own.
    map: Option<Arc<Guarded>>,
    /// Before this offset everything is searched.
    reached: Option<u64>,
    /// So many messages of the line there are kept.
    kept: u32,
}

impl Watch {
    pub(crate) fn of(map: &Arc<Guarded>) -> Self {
        Self { map: Some(Arc::clone(map)), ..Self::default() }
    }

    /// Of the bytes behind what was reached, which are read.
    pub(crate) fn without_map(self) -> Self {
        Self { map: None, ..self }
    }

    pub(crate) fn reached(&self) -> Option<u64> {
        self.reached
    }

    /// Everything before `offset` is searched, unless the map was cut meanwhile: false.
    pub(crate) fn reach(&mut self, offset: u64) -> bool {
        let Some(map) = &self.map else { return true };
        if map.is_cut() {
            return false;
        }
        (self.reached, self.kept) = (Some(offset), 0);
        true
    }

    /// Whether what was read is what a file had. What holds zeros is asked for `closely`.
    pub(crate) fn is_true(&self, closely: bool) -> bool {
        let is_cut = |map: &Arc<Guarded>| if closely { map.is_cut_now() } else { map.is_cut() };
        !self.map.as_ref().is_some_and(is_cut)
    }

    /// A message of the line at an offset is kept.
    pub(crate) fn keep(&mut self, part: u32) {
        if self.map.is_some() {
            self.kept = part + 1;
        }
    }

    /// Whether a message was kept before its map was cut.
    pub(crate) fn has(&self, offset: u64, part: u32) -> bool {
        part < self.kept && self.reached == Some(offset)
    }
}
