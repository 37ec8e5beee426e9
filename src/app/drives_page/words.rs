//! How good the choice of drives is, in words.

use std::path::Path;

use super::super::text;
use crate::machine::{Bottleneck, DriveFigures, Place};
use crate::planner::Shortage;
use crate::project::Drive;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It works, but slower than it could.
    Slower,
    /// It cannot work so.
    Problem,
}

/// One thing to know of the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub weight: Weight,
    /// What it is.
    pub text: String,
}

/// The most that a half-duplex drive gets done in both directions at once, in parts of one alone.
const HALF: f64 = 1.5;

/// What the figure behind half and full duplex means.
pub const DUPLEX: &str = "Behind half or full duplex: how many times as much a drive moves when it reads and writes \
                          at once as when it does one alone. 1 is half duplex, 2 full duplex";

/// The same of one drive.
pub fn duplex_in_words(figures: &DriveFigures) -> String {
    let index = figures.duplex_index();
    format!("Reading and writing at once moves {index:.2} times as much as one alone; 2 is full duplex")
}

/// Whether a drive reads and writes at the same time, with the figure that tells.
pub fn duplex(figures: &DriveFigures) -> String {
    let index = figures.duplex_index();
    let word = if index < HALF { "half duplex" } else { "full duplex" };
    format!("{word} ({index:.2})")
}

/// Why a folder is too small.
pub fn shortage(short: &Shortage) -> String {
    format!("only {} free, this project needs {} here", text::amount(short.free), text::amount(short.needed))
}

/// `A`, `A and B`, `A, B and C`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// All there is to know of the roles `drives`.
pub fn findings(
    drives: &[Drive],
    places: &[Place],
    bottlenecks: &[Bottleneck],
    shortages: &[Shortage],
) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let problem = |text| Finding { weight: Weight::Problem, text };
    let slower = |text| Finding { weight: Weight::Slower, text };
    all.extend(shortages.iter().map(|s| problem(format!("{}: {}", s.folder.display(), shortage(s)))));
    let place = |folder: &Path| places.iter().find(|place| place.folder == folder);
    let mut folders: Vec<&Path> = Vec::new();
    for drive in drives {
        if !folders.contains(&drive.path.as_path()) {
            folders.push(&drive.path);
        }
    }
    for folder in &folders {
        let (roles, shown) = (roles_of(drives, |path| path == *folder), folder.display());
        match place(folder).map(|place| place.direct) {
            Some(None) => all.push(problem(format!("{roles}: no file can be made in {shown}"))),
            Some(Some(false)) => all.push(slower(format!(
                "{roles}: no direct I/O here ({shown}); all goes through the system's cache"
            ))),
            _ => {}
        }
    }
    all.extend(same_devices(drives, &folders, places).into_iter().map(slower));
    all.extend(bottlenecks.iter().filter_map(|group| shared(drives, group, places)).map(slower));
    all
}

/// The roles whose folders are so, in words.
fn roles_of(drives: &[Drive], is_so: impl Fn(&Path) -> bool) -> String {
    let roles = drives.iter().filter(|drive| is_so(&drive.path)).map(|drive| drive.role.to_string());
    listed(&roles.collect::<Vec<_>>())
}

/// Different folders with roles that are one device all the same.
fn same_devices(drives: &[Drive], folders: &[&Path], places: &[Place]) -> Vec<String> {
    let place = |folder: &Path| places.iter().find(|place| place.folder == folder);
    let same = |one: &Path, other: &Path| matches!((place(one), place(other)), (Some(one), Some(other)) if one.shares_device(other));
    let mut groups: Vec<Vec<&Path>> = Vec::new();
    for &folder in folders {
        match groups.iter_mut().find(|group| group.iter().any(|other| same(folder, other))) {
            Some(group) => group.push(folder),
            None => groups.push(vec![folder]),
        }
    }
    let shared = groups.into_iter().filter(|group| group.len() > 1);
    shared
        .map(|group| {
            let roles = roles_of(drives, |path| group.contains(&path));
            let device = place(group[0]).and_then(|place| place.device.as_ref());
            let name = device.map(ToString::to_string).unwrap_or_default();
            format!("{roles} are on the same device ({name}), which does the work of all at the speed of one")
        })
        .collect()
}

/// What a group's members reach together; by their roles where two have some, else by their folders.
fn shared(drives: &[Drive], group: &Bottleneck, places: &[Place]) -> Option<String> {
    let place = |folder: &Path| places.iter().find(|place| place.folder == folder);
    let members: Vec<_> = group.folders.iter().filter_map(|folder| place(folder)).collect();
    let one_device = |all: &[&Place]| all.iter().all(|member| member.shares_device(all[0]));
    if members.len() == group.folders.len() && one_device(&members) {
        return None;
    }
    let member_of = |path: &Path| {
        let own = place(path);
        group.folders.iter().position(|folder| {
            folder == path
                || matches!((own, place(folder)), (Some(own), Some(other)) if own.shares_device(other))
        })
    };
    let mut used: Vec<_> = drives.iter().filter_map(|drive| member_of(&drive.path)).collect();
    used.sort_unstable();
    used.dedup();
    let names = if used.len() > 1 {
        roles_of(drives, |path| member_of(path).is_some())
    } else {
        listed(&group.folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>())
    };
    let part = 100.0 * group.part;
    Some(text::bound(&format!(
        "{names} share a bottleneck: together they reach {part:.0} % of what they reach alone"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Role;
    use crate::storage::DeviceId;

    fn place(folder: &str, device: &str, direct: Option<bool>) -> Place {
        Place {
            folder: folder.into(),
            device: Some(DeviceId::of_names(&[device])),
            kind: "SSD".into(),
            bus: "SATA".into(),
            file_system: "ext4".into(),
            volume: None,
            free: None,
            direct,
            figures: None,
        }
    }

    fn drives(folders: [&str; 4]) -> Vec<Drive> {
        let drive = |(role, path): (Role, &str)| Drive { path: path.into(), role };
        Role::ALL.into_iter().zip(folders).map(drive).collect()
    }

    fn texts(found: Vec<Finding>) -> Vec<String> {
        let plain = |finding: Finding| format!("{:?}: {}", finding.weight, text::plain(&finding.text));
        found.into_iter().map(plain).collect()
    }

    #[test]
    fn a_good_choice_has_no_findings() {
        let places = [place("/a", "sda", Some(true)), place("/b", "sdb", Some(true))];
        let chosen = drives(["/a", "/b", "/b", "/a"]);
        assert_eq!(findings(&chosen, &places, &[], &[]), []);
        // The same folder for several roles is meant so.
        assert_eq!(findings(&drives(["/a"; 4]), &places, &[], &[]), []);
        // What is not known is not accused.
        assert_eq!(findings(&chosen, &[], &[], &[]), []);
    }

    #[test]
    fn each_weakness_is_named_with_its_roles() {
        let places = [
            place("/a", "sda", Some(true)),
            place("/b", "sdb", Some(false)),
            place("/c", "sdc", None),
            place("/c/d", "sdc", Some(true)),
        ];
        let shortage = Shortage { folder: "/a".into(), free: 3 << 30, needed: 12 << 30 };
        let group = |folders: [&str; 2], part| Bottleneck { folders: folders.map(Into::into).into(), part };
        let groups = [group(["/a", "/b"], 0.52), group(["/c", "/c/d"], 0.5), group(["/x", "/b"], 0.6)];
        let found = findings(&drives(["/a", "/b", "/c", "/c/d"]), &places, &groups, &[shortage]);
        assert_eq!(
            texts(found),
            [
                "Problem: /a: only 3 GiB free, this project needs 12 GiB here",
                "Slower: B: no direct I/O here (/b); all goes through the system's cache",
                "Problem: C: no file can be made in /c",
                "Slower: C and D are on the same device (sdc), which does the work of all at the speed of one",
                "Slower: A and B share a bottleneck: together they reach 52 % of what they reach alone",
                "Slower: /x and /b share a bottleneck: together they reach 60 % of what they reach alone",
            ]
        );
    }

    #[test]
    fn duplex_is_a_word_and_its_figure() {
        let figures = |both| DriveFigures {
            read: 1.0,
            write: 1.0,
            read_while_writing: both,
            write_while_reading: both,
            direct: true,
        };
        assert_eq!(duplex(&figures(0.51)), "half duplex (1.02)");
        assert_eq!(duplex(&figures(0.9)), "full duplex (1.80)");
        let words = "Reading and writing at once moves 1.02 times as much as one alone; 2 is full duplex";
        assert_eq!(duplex_in_words(&figures(0.51)), words);
        assert_eq!(listed(&["A", "B", "D"].map(String::from)), "A, B and D");
    }
}
