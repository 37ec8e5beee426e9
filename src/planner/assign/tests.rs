use super::*;
use crate::storage::DeviceId;

/// A place on a device of its own, half duplex at `rate` MB/s; none was not measured.
fn place(folder: &str, device: &str, rate: Option<f64>) -> Place {
    let figures = rate.map(|rate| DriveFigures {
        read: rate * 1e6,
        write: rate * 1e6,
        read_while_writing: rate * 5e5,
        write_while_reading: rate * 5e5,
        direct: true,
    });
    Place {
        folder: folder.into(),
        device: Some(DeviceId::of_names(&device.split('+').collect::<Vec<_>>())),
        kind: "SSD".into(),
        bus: "SATA".into(),
        file_system: "ext4".into(),
        volume: None,
        free: Some(1 << 40),
        direct: Some(true),
        figures,
    }
}

/// The same, full duplex.
fn full(folder: &str, device: &str, rate: f64) -> Place {
    let mut place = place(folder, device, Some(rate));
    if let Some(figures) = &mut place.figures {
        (figures.read_while_writing, figures.write_while_reading) = (figures.read, figures.write);
    }
    place
}

/// A place of a kind that was not measured.
fn kind(folder: &str, kind: &str, bus: &str) -> Place {
    Place { kind: kind.into(), bus: bus.into(), ..place(folder, folder, None) }
}

fn none_short(_: &[Drive]) -> Vec<Shortage> {
    Vec::new()
}

/// The folders of A, B, C and D, separated by blanks, and the reasons.
fn proposed(places: &[Place], bottlenecks: &[Bottleneck]) -> (String, String) {
    let proposal = assign(places, bottlenecks, none_short).unwrap();
    (folders(&proposal.drives), proposal.reasons.join(" "))
}

fn folders(drives: &[Drive]) -> String {
    assert_eq!(drives.iter().map(|d| d.role).collect::<Vec<_>>(), Role::ALL);
    drives.iter().map(|d| d.path.display().to_string()).collect::<Vec<_>>().join(" ")
}

fn bottleneck(folders: &[&str], part: f64) -> Bottleneck {
    Bottleneck { folders: folders.iter().map(PathBuf::from).collect(), part }
}

#[test]
fn one_drive_has_all_roles() {
    let (roles, why) = proposed(&[place("/a", "sda", None)], &[]);
    assert_eq!(roles, "/a /a /a /a");
    assert_eq!(why, "All roles are on /a: no other drive can be used.");
}

#[test]
fn two_equal_drives_take_turns_in_every_phase() {
    let places = [place("/a", "sda", Some(500.0)), place("/b", "sdb", Some(500.0))];
    let (roles, why) = proposed(&places, &[]);
    assert_eq!(roles, "/a /b /b /a");
    // Alone 3 + 4 + 3 planes one after the other; on two the phases take 2 each.
    assert!(
        why.contains("measured here the three phases take 60 % of the time they would take on /a"),
        "{why}"
    );
}

#[test]
fn two_full_duplex_drives_read_and_write_at_once() {
    // A and B on one drive: a phase reads no more than one plane from a drive, and writes no more than one to it.
    let (roles, why) = proposed(&[full("/a", "sda", 500.0), full("/b", "sdb", 500.0)], &[]);
    assert_eq!(roles, "/a /a /b /b");
    assert!(why.contains(" 50 % "), "{why}");
}

#[test]
fn the_first_of_equal_drives_is_first() {
    let names = ["/c", "/a", "/b"];
    let places: Vec<_> = names.iter().map(|name| place(name, name, Some(300.0))).collect();
    // D with C: no drive has more than two planes in a phase; D with A would have one more.
    assert_eq!(proposed(&places, &[]).0, "/c /a /b /b");
}

#[test]
fn four_drives_have_a_role_each_and_a_fifth_that_is_slower_none() {
    let mut places: Vec<_> = ["/a", "/b", "/c", "/d"].map(|name| full(name, name, 1000.0)).into();
    let (roles, why) = proposed(&places, &[]);
    assert_eq!(roles, "/a /b /c /d");
    // A phase takes one plane's time instead of two.
    assert!(why.contains(" 50 % ") && !why.contains("Left out"), "{why}");
    places.insert(0, full("/e", "/e", 900.0));
    let (roles, why) = proposed(&places, &[]);
    assert_eq!(roles, "/a /b /c /d");
    assert!(why.ends_with("Left out: /e (slower than these)."), "{why}");
    places[0] = full("/e", "/e", 1000.0);
    let (roles, why) = proposed(&places, &[]);
    assert_eq!(roles, "/e /a /b /c");
    assert!(why.ends_with("Left out: /d (would not make it faster)."), "{why}");
}

#[test]
fn without_figures_the_kind_decides() {
    let places = [
        kind("/disk", "HDD", "SATA"),
        kind("/sata", "SSD", "SATA"),
        kind("/fast", "SSD", "NVMe"),
        kind("/also", "SSD", "NVMe"),
    ];
    let (roles, why) = proposed(&places, &[]);
    // A usual NVMe drive reads and writes at once to some extent, so each does a part of both.
    assert_eq!(roles, "/fast /fast /also /also");
    assert!(why.contains("not all of which were measured"), "{why}");
    assert!(why.ends_with("Left out: /disk (slower than these), /sata (slower than these)."), "{why}");
    // One NVMe drive and one of SATA are as good together as the first alone: both are used.
    let roles = proposed(&places[1..3], &[]).0;
    assert!(roles.starts_with("/fast") && roles.contains("/sata"), "{roles}");
    // A disk would only hold it up.
    let (roles, why) = proposed(&[places[0].clone(), places[2].clone()], &[]);
    assert_eq!(roles, "/fast /fast /fast /fast");
    assert!(why.contains("no other drive would make it faster") && why.contains("/disk (slower"), "{why}");
}

#[test]
fn figures_come_before_the_kind() {
    let mut nvme = kind("/nvme", "SSD", "NVMe");
    nvme.figures = place("", "", Some(40.0)).figures;
    assert_eq!(proposed(&[nvme, kind("/sata", "SSD", "SATA")], &[]).0, "/sata /sata /sata /sata");
}

#[test]
fn a_device_counts_once_and_the_first_folder_on_it_is_taken() {
    let places = [
        place("/a/mine", "sda", Some(500.0)),
        place("/a", "sda", Some(500.0)),
        place("/b", "sdb", Some(500.0)),
        place("/stripe", "sda+sdc", Some(450.0)),
    ];
    let (roles, why) = proposed(&places, &[]);
    assert_eq!(roles, "/a/mine /b /b /a/mine");
    assert!(why.contains("/a (on the same device as /a/mine)"), "{why}");
    assert!(why.contains("/stripe (on the same device as /a/mine)"), "{why}");
}

#[test]
fn what_shares_a_bottleneck_is_not_used_twice_when_there_is_another() {
    let places = ["/a", "/b", "/c"].map(|name| place(name, name, Some(500.0)));
    let shared = [bottleneck(&["/a", "/b"], 0.5)];
    let (roles, why) = proposed(&places, &shared);
    assert_eq!(roles, "/a /c /c /a");
    assert!(why.ends_with("Left out: /b (shares a bottleneck with /a)."), "{why}");
    // Without another there is nothing to gain.
    let (roles, why) = proposed(&places[..2], &shared);
    assert_eq!(roles, "/a /a /a /a");
    assert!(why.contains("/b (shares a bottleneck with /a)"), "{why}");
    // A cable with room for one and a half is worth a second drive.
    assert_eq!(proposed(&places[..2], &[bottleneck(&["/a", "/b"], 0.9)]).0, "/a /b /b /a");
    // Three that share one: still one after the other.
    let all = [bottleneck(&["/a", "/b", "/c"], 1.0 / 3.0)];
    assert_eq!(proposed(&places, &all).0, "/a /a /a /a");
}

#[test]
fn a_bottleneck_is_the_devices_not_the_folders() {
    let mut places: Vec<_> = ["/a", "/b", "/c"].map(|name| place(name, name, Some(500.0))).into();
    places.push(place("/b/measured", "/b", Some(500.0)));
    assert_eq!(proposed(&places, &[bottleneck(&["/a", "/b/measured"], 0.5)]).0, "/a /c /c /a");
}

#[test]
fn folders_with_too_little_space_are_left_out() {
    let places = ["/a", "/b", "/c"].map(|name| place(name, name, Some(500.0)));
    let short = |full: &'static [&str]| {
        move |drives: &[Drive]| {
            let has = |name: &&&str| drives.iter().any(|drive| drive.path == Path::new(name));
            let shortage = |name: &&str| Shortage { folder: name.into(), free: 3 << 30, needed: 12 << 30 };
            full.iter().filter(has).map(shortage).collect()
        }
    };
    let proposal = assign(&places, &[], short(&["/a", "/x"])).unwrap();
    assert_eq!(folders(&proposal.drives), "/b /c /c /b");
    let left = "Left out: /a (only 3GiB free, this project needs 12GiB there).";
    assert_eq!(proposal.reasons[1], left);
    // The next folder on the device takes its place.
    let beside = [places[0].clone(), place("/a/large", "/a", Some(500.0)), places[1].clone()];
    let proposal = assign(&beside, &[], short(&["/a"])).unwrap();
    assert_eq!(folders(&proposal.drives), "/a/large /b /b /a/large");
    let error = assign(&places, &[], short(&["/a", "/b", "/c"])).unwrap_err().to_string();
    assert!(error.contains("/c (only 3GiB free") && error.contains("add a folder"), "{error}");
    // A shortage where no role is, as the output's, ends the search.
    let output = |_: &[Drive]| vec![Shortage { folder: "/out".into(), free: 0, needed: 1 }];
    assert_eq!(folders(&assign(&places[..1], &[], output).unwrap().drives), "/a /a /a /a");
}

#[test]
fn memory_and_folders_that_cannot_be_written_are_not_used() {
    let memory = kind("/dev/shm", "memory", "memory");
    let closed = Place { direct: None, ..place("/root", "sdr", None) };
    let disk = kind("/disk", "HDD", "SATA");
    let (roles, why) = proposed(&[memory.clone(), closed.clone(), disk], &[]);
    assert_eq!(roles, "/disk /disk /disk /disk");
    assert!(why.contains("/dev/shm (its space is the computer's memory)"), "{why}");
    assert!(why.contains("/root (no file can be made there)"), "{why}");
    assert_eq!(proposed(&[memory], &[]).0, "/dev/shm /dev/shm /dev/shm /dev/shm");
    let error = assign(&[closed], &[], none_short).unwrap_err().to_string();
    assert!(error.contains("/root (no file can be made there)"), "{error}");
    assert!(assign(&[], &[], none_short).unwrap_err().to_string().contains("none is known"));
}

#[test]
fn no_exchange_of_two_roles_or_drives_is_faster() {
    // Any rates, the same every time: the proposal is never worse than any other, by a count of its own.
    let mut state = 7_u64;
    let mut rate = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        100.0 + (state >> 33) as f64 % 900.0
    };
    for count in 1..=5 {
        let names: Vec<_> = (0..count).map(|i| format!("/{i}")).collect();
        let rates: Vec<f64> = names.iter().map(|_| rate()).collect();
        let places: Vec<_> =
            names.iter().zip(&rates).map(|(name, rate)| place(name, name, Some(*rate))).collect();
        // On half-duplex drives a phase takes the most planes over rate.
        let time = |r: [usize; 4]| -> f64 {
            let phases: [&[usize]; 3] = [&[0, 1, 2], &[1, 2, 3, 0], &[3, 0, 1]];
            let on = |phase: &[usize], i| phase.iter().filter(|&&role| r[role] == i).count() as f64;
            let phase = |p: &[usize]| (0..count).map(|i| on(p, i) / rates[i]).fold(0.0, f64::max);
            phases.map(phase).iter().sum()
        };
        let chosen = assign(&places, &[], none_short).unwrap().drives;
        let index = |d: &Drive| names.iter().position(|n| d.path == Path::new(n)).unwrap();
        let chosen = [0, 1, 2, 3].map(|i| index(&chosen[i]));
        for code in 0..count.pow(4) {
            let other = [0, 1, 2, 3].map(|i| code / count.pow(i) % count);
            assert!(time(chosen) <= 1.021 * time(other), "{chosen:?} {other:?} {rates:?}");
        }
    }
}
