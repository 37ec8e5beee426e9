//! Several folders at the same time: which of them share a bottleneck.

use std::path::PathBuf;
use std::sync::Barrier;

use super::drives::TestFile;
use super::{DriveFigures, MachineError};

/// Folders that reach less than this part of the sum of what they reach alone share something.
const SHARED: f64 = 0.65;

/// Several folders' drives, each alone and all together.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// Each alone, in the folders' order.
    pub alone: Vec<DriveFigures>,
    /// Bytes a second each reads while the others read.
    pub together: Vec<f64>,
    /// Groups of folders, by their index, that share a bottleneck.
    pub shared: Vec<Vec<usize>>,
}

/// Measures each of `folders` alone, then all reading together; the files are gone again however this
/// ends. Where all together are slow, each pair tells which they are.
pub fn measure_together(
    folders: &[PathBuf],
    bytes: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Together, MachineError> {
    let mut files = Vec::new();
    let mut alone = Vec::new();
    for folder in folders {
        let mut file = TestFile::create(folder, bytes)?;
        alone.push(file.measure(stop)?);
        files.push(file);
    }
    let read: Vec<_> = alone.iter().map(|figures| figures.read).collect();
    let all: Vec<_> = (0..folders.len()).collect();
    let together = if all.len() > 1 { reading(&files, &all, stop)? } else { read.clone() };
    let mut shared = Vec::new();
    if is_shared(&read, &all, &together) {
        let mut pairs = Vec::new();
        for one in 0..all.len() {
            for other in one + 1..all.len() {
                let pair = [one, other];
                if all.len() == 2 || is_shared(&read, &pair, &reading(&files, &pair, stop)?) {
                    pairs.push(pair);
                }
            }
        }
        shared = groups(all.len(), &pairs);
        // Two at a time go well, all do not: a bus, or the processor.
        if shared.is_empty() {
            shared.push(all);
        }
    }
    Ok(Together { alone, together, shared })
}

/// Whether the folders `which` that read at `together` share something; `read` is what each reads alone.
fn is_shared(read: &[f64], which: &[usize], together: &[f64]) -> bool {
    let sum: f64 = which.iter().map(|&i| read[i]).sum();
    which.len() > 1 && together.iter().sum::<f64>() < SHARED * sum
}

/// Bytes a second of each of the files `which` while all of these are read.
fn reading(
    files: &[TestFile],
    which: &[usize],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<f64>, MachineError> {
    // The pool has a thread for each, or the error comes before anyone waits.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(which.len())
        .thread_name(|i| format!("measure-reader-{i}"))
        .build()
        .map_err(|e| MachineError::Threads(std::io::Error::other(e)))?;
    let start = Barrier::new(which.len());
    let rates = pool.broadcast(|thread| {
        start.wait();
        files[which[thread.index()]].read(stop)
    });
    rates.into_iter().collect()
}

/// Folders that are connected by pairs, in groups of two and more.
fn groups(count: usize, pairs: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..count).collect();
    for &[one, other] in pairs {
        let (from, to) = (group[other], group[one]);
        group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
    }
    let members = |name| (0..count).filter(|&i| group[i] == name).collect::<Vec<_>>();
    (0..count).map(members).filter(|members| members.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_touch_are_one_group() {
        assert_eq!(groups(5, &[[0, 2], [2, 4]]), [vec![0, 2, 4]]);
        assert_eq!(groups(4, &[[0, 1], [2, 3]]), [vec![0, 1], vec![2, 3]]);
        assert!(groups(3, &[]).is_empty());
    }

    #[test]
    fn folders_share_something_when_together_they_reach_much_less_than_alone() {
        let read = [100.0, 200.0, 100.0];
        assert!(is_shared(&read, &[0, 1], &[60.0, 120.0]));
        assert!(!is_shared(&read, &[0, 1], &[80.0, 120.0]));
        assert!(!is_shared(&read, &[1], &[10.0]), "one alone shares with nobody");
    }

    #[test]
    fn several_folders_are_measured_and_left_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|name| folder.path().join(name));
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        let measured = measure_together(&folders, 0, &|| false).unwrap();
        assert!(measured.alone.iter().all(DriveFigures::is_sound));
        assert!(measured.together.iter().all(|&rate| rate > 0.0));
        assert!(folders.iter().all(|folder| std::fs::read_dir(folder).unwrap().next().is_none()));
        assert!(measure_together(&[], 0, &|| false).unwrap().alone.is_empty());
    }
}
