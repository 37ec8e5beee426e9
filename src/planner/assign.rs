//! Which folder should have which role: a proposal with its reasons.
//!
//! The drives that move a plane through the three phases soonest are looked for among all ways to give four
//! roles to the devices; what was measured counts, and the usual figures of its kind where nothing was.

use std::path::{Path, PathBuf};

use super::USUAL_DRIVE;
use crate::machine::{Bottleneck, DriveFigures, Place};
use crate::optics::Bytes;
use crate::project::{Drive, Role};

/// Roles for folders, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// A folder for each role, in the roles' order.
    pub drives: Vec<Drive>,
    /// Why so, a sentence each.
    pub reasons: Vec<String>,
}

/// A folder without room for what a job would put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortage {
    /// The folder.
    pub folder: PathBuf,
    /// Bytes free there.
    pub free: u64,
    /// Bytes that would be put there.
    pub needed: u64,
}

/// Why no roles can be proposed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no folder can have a role: {0}; add a folder with free space on a drive")]
pub struct AssignError(String);

/// The most devices that are weighed against each other.
const MOST: usize = 8;
/// Assignments that are slower by no more than this are as good.
const ALIKE: f64 = 1.02;
const GIGABYTE: f64 = 1e9;

/// Roles for `places`, of which earlier ones are preferred on one device.
///
/// `bottlenecks` are groups that were measured together; `short` tells which folders would have too little
/// space with some roles, and these are left out.
pub fn assign(
    places: &[Place],
    bottlenecks: &[Bottleneck],
    short: impl Fn(&[Drive]) -> Vec<Shortage>,
) -> Result<Proposal, AssignError> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut usable: Vec<usize> = Vec::new();
    for (i, place) in places.iter().enumerate() {
        match place.direct {
            Some(_) => usable.push(i),
            None => out.push((i, "no file can be made there".into())),
        }
    }
    // Memory is what the chunks need; a disk in it is better than none.
    let (memory, disks): (Vec<_>, Vec<_>) =
        usable.iter().partition(|&&i| places[i].kind == "memory" || places[i].bus == "memory");
    if !disks.is_empty() {
        out.extend(memory.into_iter().map(|i| (i, "its space is the computer's memory".into())));
        usable = disks;
    }
    loop {
        let search = Search::new(places, &usable, bottlenecks);
        let Some(best) = search.best() else {
            return Err(AssignError(listed(places, &out).unwrap_or_else(|| "none is known".into())));
        };
        let drives = search.drives(best);
        let mut removed = false;
        for Shortage { folder, free, needed } in short(&drives) {
            let is_it = |&i: &usize| places[i].folder == folder && search.uses(best, i);
            if let Some(at) = usable.iter().position(is_it) {
                let (free, needed) = (Bytes(free), Bytes(needed));
                out.push((usable.remove(at), format!("only {free} free, this project needs {needed} there")));
                removed = true;
            }
        }
        if !removed {
            let mut reasons = vec![search.reason(best)];
            out.extend(usable.iter().filter_map(|&i| Some((i, search.left_out(best, i)?))));
            out.sort_by_key(|(i, _)| *i);
            reasons.extend(listed(places, &out).map(|list| format!("Left out: {list}.")));
            return Ok(Proposal { drives, reasons });
        }
    }
}

/// Folders in words, each with why it is left out.
fn listed(places: &[Place], out: &[(usize, String)]) -> Option<String> {
    let each = out.iter().map(|(i, why)| format!("{} ({why})", places[*i].folder.display()));
    Some(each.collect::<Vec<_>>().join(", ")).filter(|list| !list.is_empty())
}

/// A device that may have roles.
struct Candidate<'a> {
    place: &'a Place,
    figures: DriveFigures,
}

/// All ways to give the roles to some devices.
struct Search<'a> {
    places: &'a [Place],
    /// One folder for each device, the fastest first.
    candidates: Vec<Candidate<'a>>,
    /// Groups of candidates that share something, with bytes a second of all of the group together.
    groups: Vec<(Vec<usize>, f64)>,
}

/// The candidate of each role, A to D.
type Roles = [usize; 4];

impl<'a> Search<'a> {
    fn new(places: &'a [Place], usable: &[usize], bottlenecks: &[Bottleneck]) -> Self {
        let mut candidates: Vec<_> = usable
            .iter()
            .map(|&i| Candidate { place: &places[i], figures: figures_of(&places[i]) })
            .collect();
        // Stable: of equal ones the earlier folder stays in front.
        candidates.sort_by(|a, b| alone(&a.figures).total_cmp(&alone(&b.figures)));
        let mut distinct: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            if distinct.len() < MOST && !distinct.iter().any(|c| c.place.shares_device(candidate.place)) {
                distinct.push(candidate);
            }
        }
        let group = |bottleneck: &Bottleneck| {
            let on_device = |place: &Place, folder: &Path| {
                let of_folder = places.iter().find(|other| other.folder == folder);
                place.folder == folder || of_folder.is_some_and(|other| other.shares_device(place))
            };
            let member = |c: &Candidate| bottleneck.folders.iter().any(|f| on_device(c.place, f));
            let members: Vec<_> = (0..distinct.len()).filter(|&i| member(&distinct[i])).collect();
            let of_folder =
                |f: &PathBuf| places.iter().find(|p| p.folder == *f).map_or(0.0, |p| figures_of(p).read);
            let sum: f64 = bottleneck.folders.iter().map(of_folder).sum();
            (members, bottleneck.part * sum)
        };
        let groups = bottlenecks.iter().map(group).filter(|(members, rate)| members.len() > 1 && *rate > 0.0);
        let groups = groups.collect();
        Self { places, candidates: distinct, groups }
    }

    /// The roles that take the least time; of those alike the ones on most devices that share nothing, on fewest
    /// folders, where the fewest drives read and write in one phase, with the fastest first.
    fn best(&self) -> Option<Roles> {
        let count = self.candidates.len();
        let all = || {
            let digit = move |code: usize, place: u32| code / count.pow(place) % count;
            (0..count.pow(4)).map(move |code| [3, 2, 1, 0].map(|place| digit(code, place)))
        };
        if count == 0 {
            return None;
        }
        let least = all().map(|roles| self.seconds(roles)).fold(f64::INFINITY, f64::min);
        let alike = all().filter(|&roles| self.seconds(roles) <= ALIKE * least);
        alike.min_by_key(|&roles| {
            let used = self.used(roles);
            (usize::MAX - self.independent(&used), used.len(), mixed(roles), roles)
        })
    }

    /// The candidates that have roles.
    fn used(&self, roles: Roles) -> Vec<usize> {
        (0..self.candidates.len()).filter(|i| roles.contains(i)).collect()
    }

    /// How many of the candidates `used` share nothing; each group counts once.
    fn independent(&self, used: &[usize]) -> usize {
        let first_of = |&i: &usize| {
            let groups = self.groups.iter().filter(|(members, _)| members.contains(&i));
            groups.flat_map(|(members, _)| members).all(|other| *other >= i || !used.contains(other))
        };
        used.iter().filter(|i| first_of(i)).count()
    }

    /// Seconds of a plane of a gigabyte in the three phases.
    fn seconds(&self, roles: Roles) -> f64 {
        phases(roles).iter().map(|(reads, writes)| self.phase(reads, writes)).sum()
    }

    /// Seconds in which each of `reads` is read once and each of `writes` written once.
    fn phase(&self, reads: &[usize], writes: &[usize]) -> f64 {
        let planes = |of: &[usize], i| of.iter().filter(|&&one| one == i).count() as f64 * GIGABYTE;
        let alone: Vec<f64> = (0..self.candidates.len())
            .map(|i| self.candidates[i].figures.seconds(planes(reads, i), planes(writes, i)))
            .collect();
        let together = self.groups.iter().map(|(members, rate)| {
            members.iter().map(|&i| alone[i] * self.candidates[i].figures.read).sum::<f64>() / rate
        });
        together.chain(alone.iter().copied()).fold(0.0, f64::max)
    }

    fn drives(&self, roles: Roles) -> Vec<Drive> {
        let drive = |(role, i): (Role, usize)| Drive { path: self.candidates[i].place.folder.clone(), role };
        Role::ALL.into_iter().zip(roles).map(drive).collect()
    }

    /// Whether the place `index` has a role.
    fn uses(&self, roles: Roles, index: usize) -> bool {
        let place: &Place = &self.places[index];
        roles.iter().any(|&i| std::ptr::eq(self.candidates[i].place, place))
    }

    /// Why the roles are so.
    fn reason(&self, roles: Roles) -> String {
        let folder = |i: usize| self.candidates[i].place.folder.display();
        let used = self.used(roles);
        if let [only] = used[..] {
            let others = if self.candidates.len() == 1 {
                "no other drive can be used"
            } else {
                "no other drive would make it faster"
            };
            return format!("All roles are on {}: {others}.", folder(only));
        }
        let single = (0..self.candidates.len()).map(|i| (i, self.seconds([i; 4])));
        let (best, seconds) = single.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY));
        let measured = self.candidates.iter().all(|c| c.place.figures.is_some());
        let basis = if measured {
            "By the figures measured here"
        } else {
            "By the kinds of the drives, not all of which were measured,"
        };
        let part = 100.0 * self.seconds(roles) / seconds;
        format!(
            "{basis} the three phases take {part:.0} % of the time they would take on {} alone.",
            folder(best)
        )
    }

    /// Why the place `index`, which could be used, has no role; none if it has one.
    fn left_out(&self, roles: Roles, index: usize) -> Option<String> {
        let place = &self.places[index];
        if self.uses(roles, index) {
            return None;
        }
        let name = |i: usize| self.candidates[i].place.folder.display();
        let used = self.used(roles);
        if let Some(&same) = used.iter().find(|&&i| self.candidates[i].place.shares_device(place)) {
            return Some(format!("on the same device as {}", name(same)));
        }
        let own = self.candidates.iter().position(|c| std::ptr::eq(c.place, place));
        let shares = |&&i: &&usize| {
            let both = |members: &[usize]| members.contains(&i) && own.is_some_and(|o| members.contains(&o));
            self.groups.iter().any(|(members, _)| both(members))
        };
        if let Some(&other) = used.iter().find(shares) {
            return Some(format!("shares a bottleneck with {}", name(other)));
        }
        let slowest = used.iter().map(|&i| alone(&self.candidates[i].figures)).fold(0.0, f64::max);
        let slower = alone(&figures_of(place)) > slowest;
        Some(if slower { "slower than these" } else { "would not make it faster" }.into())
    }
}

/// What each phase reads and writes, a plane's worth of each.
fn phases([a, b, c, d]: Roles) -> [(Vec<usize>, Vec<usize>); 3] {
    [(vec![a], vec![b, c]), (vec![b, c], vec![d, a]), (vec![d, a], vec![b])]
}

/// How often a phase reads from a drive that it writes to.
fn mixed(roles: Roles) -> usize {
    let of_phase =
        |(reads, writes): &(Vec<usize>, Vec<usize>)| reads.iter().filter(|i| writes.contains(i)).count();
    phases(roles).iter().map(of_phase).sum()
}

/// Seconds of a gigabyte read and one written on a drive; what it is ranked by.
fn alone(figures: &DriveFigures) -> f64 {
    figures.seconds(GIGABYTE, GIGABYTE)
}

/// What was measured of a place, or what is usual for its kind.
fn figures_of(place: &Place) -> DriveFigures {
    let half = |rate: f64| DriveFigures {
        read: rate,
        write: rate,
        read_while_writing: rate / 2.0,
        write_while_reading: rate / 2.0,
        direct: true,
    };
    place.figures.unwrap_or_else(|| match (&*place.kind, &*place.bus) {
        ("network", _) | (_, "network") => half(100e6),
        ("HDD", _) | (_, "MMC") => half(150e6),
        (_, "NVMe") => USUAL_DRIVE,
        ("memory", _) | (_, "memory") => half(4e9),
        _ => half(500e6),
    })
}

#[cfg(test)]
mod tests;
