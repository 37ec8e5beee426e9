//! Several folders at the same time: which of them share a bottleneck.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

use super::drives::{TIME, TestFile};
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
    /// What each group reaches together, in parts of the sum of what its folders reach alone.
    pub parts: Vec<f64>,
}

/// Folders that share a bottleneck.
#[derive(Debug, Clone, PartialEq)]
pub struct Bottleneck {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// What they reach together, in parts of the sum of what they reach alone.
    pub part: f64,
}

impl Together {
    /// The groups that share a bottleneck, by name; `folders` are those that were measured.
    #[must_use]
    pub fn bottlenecks(&self, folders: &[PathBuf]) -> Vec<Bottleneck> {
        let names = |group: &[usize]| group.iter().filter_map(|&i| folders.get(i).cloned()).collect();
        let groups = self.shared.iter().zip(&self.parts);
        groups.map(|(group, &part)| Bottleneck { folders: names(group), part }).collect()
    }
}

/// How far a measurement of several folders has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasureStep {
    /// Steps that are done.
    pub done: usize,
    /// Steps at most; the pairs are left out where all together are as fast as alone.
    pub steps: usize,
    /// What is being measured now.
    pub now: String,
}

impl MeasureStep {
    /// Steps at most for so many folders: each alone, all together, each pair.
    #[must_use]
    pub const fn most(folders: usize) -> usize {
        match folders {
            0 | 1 => folders,
            2 => 3,
            n => n + 1 + n * (n - 1) / 2,
        }
    }

    /// Seconds that so many folders take at most, with drives that are not very slow.
    #[must_use]
    pub fn most_seconds(folders: usize) -> f64 {
        // Alone there are three measurements to a step.
        (Self::most(folders) + 2 * folders) as f64 * TIME.as_secs_f64()
    }
}

/// Measures each of `folders` alone, then all reading together; the files are gone again however this
/// ends. Where all together are slow, each pair tells which they are.
pub fn measure_together(
    folders: &[PathBuf],
    bytes: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Together, MachineError> {
    measure_together_telling(folders, bytes, stop, &|_| {})
}

/// As [`measure_together`]; `tell` hears of each step before it begins.
pub fn measure_together_telling(
    folders: &[PathBuf],
    bytes: u64,
    stop: &(dyn Fn() -> bool + Sync),
    tell: &dyn Fn(MeasureStep),
) -> Result<Together, MachineError> {
    let name = |folder: &Path| folder.display().to_string();
    let steps = MeasureStep::most(folders.len());
    let mut done = 0;
    let mut say = |now: String| {
        tell(MeasureStep { done, steps, now });
        done += 1;
    };
    let mut files = Vec::new();
    let mut alone = Vec::new();
    for folder in folders {
        say(format!("{} alone", name(folder)));
        let mut file = TestFile::create(folder, bytes)?;
        alone.push(file.measure(stop)?);
        files.push(file);
    }
    let read: Vec<_> = alone.iter().map(|figures| figures.read).collect();
    let all: Vec<_> = (0..folders.len()).collect();
    let mut together = read.clone();
    if all.len() > 1 {
        say("all together".into());
        together = reading(&files, &all, stop)?;
    }
    let mut measured = BTreeMap::from([(all.clone(), part_of(&read, &all, &together))]);
    let mut shared = Vec::new();
    if is_shared(&read, &all, &together) {
        let mut pairs = Vec::new();
        for one in 0..all.len() {
            for other in one + 1..all.len() {
                let pair = [one, other];
                if all.len() > 2 {
                    say(format!("{} and {} together", name(&folders[one]), name(&folders[other])));
                    let rates = reading(&files, &pair, stop)?;
                    measured.insert(pair.into(), part_of(&read, &pair, &rates));
                    if !is_shared(&read, &pair, &rates) {
                        continue;
                    }
                }
                pairs.push(pair);
            }
        }
        shared = groups(all.len(), &pairs);
        // Two at a time go well, all do not: a bus, or the processor.
        if shared.is_empty() {
            shared.push(all);
        }
    }
    let mut parts = Vec::new();
    for group in &shared {
        parts.push(match measured.get(group) {
            Some(&part) => part,
            None => part_of(&read, group, &reading(&files, group, stop)?),
        });
    }
    Ok(Together { alone, together, shared, parts })
}

/// What the folders `which`, that read at `together`, reach in parts of the sum of what each reaches alone.
fn part_of(read: &[f64], which: &[usize], together: &[f64]) -> f64 {
    together.iter().sum::<f64>() / which.iter().map(|&i| read[i]).sum::<f64>()
}

/// Whether the folders `which` that read at `together` share something; `read` is what each reads alone.
fn is_shared(read: &[f64], which: &[usize], together: &[f64]) -> bool {
    which.len() > 1 && part_of(read, which, together) < SHARED
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
    use std::cell::Cell;

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
        assert!((part_of(&read, &[0, 1], &[60.0, 120.0]) - 0.6).abs() < 1e-12);
    }

    #[test]
    fn steps_are_counted_before_they_are_made() {
        assert_eq!([0, 1, 2, 3, 4].map(MeasureStep::most), [0, 1, 3, 7, 11]);
        assert!((MeasureStep::most_seconds(2) - 7.0 * TIME.as_secs_f64()).abs() < 1e-12);
    }

    #[test]
    fn several_folders_are_measured_and_left_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|name| folder.path().join(name));
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        let steps = Cell::new(Vec::new());
        let tell = |step: MeasureStep| {
            let mut told = steps.take();
            told.push(step);
            steps.set(told);
        };
        let measured = measure_together_telling(&folders, 0, &|| false, &tell).unwrap();
        let steps = steps.take();
        assert!(steps.iter().enumerate().all(|(i, step)| step.done == i && step.steps == 7), "{steps:?}");
        assert!(steps.len() == 4 || steps.len() == 7, "{steps:?}");
        assert!(steps[1].now.ends_with("b alone") && steps[3].now == "all together");
        assert_eq!(measured.parts.len(), measured.shared.len());
        let bottlenecks = measured.bottlenecks(&folders);
        for (bottleneck, group) in bottlenecks.iter().zip(&measured.shared) {
            assert!(bottleneck.part > 0.0 && bottleneck.folders.len() == group.len());
            assert_eq!(bottleneck.folders[0], folders[group[0]]);
        }
        assert!(measured.alone.iter().all(DriveFigures::is_sound));
        assert!(measured.together.iter().all(|&rate| rate > 0.0));
        assert!(folders.iter().all(|folder| std::fs::read_dir(folder).unwrap().next().is_none()));
        assert!(measure_together(&[], 0, &|| false).unwrap().alone.is_empty());
    }
}
