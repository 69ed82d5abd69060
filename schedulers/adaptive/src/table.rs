//! The sites: an open-addressed table of fixed size that only ever grows fuller.

use std::sync::atomic::Ordering::Relaxed;

use crate::site::Site;

/// Places that are looked at before a key counts as having none.
const PROBES: usize = 32;

#[derive(Debug)]
pub(crate) struct Table {
    /// A power of two of places, and one more that the keys without a place share.
    sites: Box<[Site]>,
    mask: usize,
}

impl Table {
    pub fn new(capacity: usize) -> Self {
        let places = capacity.next_power_of_two();
        let sites = (0..=places).map(|_| Site::default()).collect();
        Self { sites, mask: places - 1 }
    }

    /// The place of a key, given to it at its first call; the shared place when none is free.
    #[inline]
    pub fn locate(&self, hash: u64) -> usize {
        let first = hash as usize & self.mask;
        if self.sites[first].hot.key.load(Relaxed) == hash {
            return first;
        }
        self.search(hash, first)
    }

    fn search(&self, hash: u64, first: usize) -> usize {
        for step in 0..PROBES.min(self.mask + 1) {
            let index = (first + step) & self.mask;
            let key = &self.sites[index].hot.key;
            let mut found = key.load(Relaxed);
            if found == 0 {
                // Two threads may want the place for two keys, or for the same one.
                found = key.compare_exchange(0, hash, Relaxed, Relaxed).err().unwrap_or(hash);
            }
            if found == hash {
                return index;
            }
        }
        self.shared()
    }

    /// The index of the place of those that have none.
    pub fn shared(&self) -> usize {
        self.mask + 1
    }

    #[inline]
    pub fn site(&self, index: usize) -> Option<&Site> {
        self.sites.get(index)
    }

    /// Places that are taken.
    pub fn taken(&self) -> usize {
        self.sites.iter().filter(|site| site.hot.key.load(Relaxed) != 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_places_and_the_last_ones_share() {
        let table = Table::new(4);
        let places = [1, 2, 5, 9].map(|hash| table.locate(hash));
        assert_eq!(table.taken(), 4);
        assert_eq!([1, 2, 5, 9].map(|hash| table.locate(hash)), places);
        assert_eq!([table.locate(3), table.locate(6)], [table.shared(); 2]);
    }

    #[test]
    fn all_threads_find_a_key_in_one_place() {
        let table = Table::new(64);
        let locate_all = || (1..=40).map(|hash| table.locate(hash * 64)).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(locate_all)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), locate_all());
            }
        });
    }
}
