use std::cell::Cell;

use super::*;
use crate::machine::figures::tests::HASTY;

const DRIVE: DriveFigures = DriveFigures {
    read: 500e6,
    write: 400e6,
    read_while_writing: 300e6,
    write_while_reading: 200e6,
    direct: true,
};

/// A cache, and how often it had to measure.
struct Bench {
    folder: tempfile::TempDir,
    measured: Cell<usize>,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), measured: Cell::new(0) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("made/figures.json")
    }

    fn figures(&self, threads: usize, refresh: bool) -> Figures {
        let measure = || {
            self.measured.set(self.measured.get() + 1);
            // Too hasty to be steady by itself.
            Figures::measure_in(threads, HASTY).map(|figures| Figures { steady: true, ..figures })
        };
        Cache::at(&self.file()).figures_or(threads, refresh, measure).unwrap()
    }

    fn drive(&self, refresh: bool) -> DriveFigures {
        let measure = || {
            self.measured.set(self.measured.get() + 1);
            Ok(DRIVE)
        };
        Cache::at(&self.file()).drive_or(self.folder.path(), refresh, measure).unwrap()
    }
}

#[test]
fn figures_are_measured_once_for_each_number_of_threads() {
    let bench = Bench::new();
    assert_eq!([1, 2].map(|threads| bench.figures(threads, false).threads), [1, 2]);
    assert_eq!(bench.measured.get(), 2);
    // As they are read; the file's decimals may end in another digit than what was measured.
    let (one, two) = (bench.figures(1, false), bench.figures(2, false));
    assert_eq!((bench.figures(1, false), bench.figures(2, false)), (one.clone(), two));
    assert_eq!(bench.measured.get(), 2);
    assert_ne!(bench.figures(1, true), one, "measured again when that is asked for");
    assert_eq!(bench.drive(false), DRIVE);
    assert_eq!(bench.drive(false), DRIVE);
    assert_eq!(bench.measured.get(), 4);
    bench.drive(true);
    assert_eq!(bench.measured.get(), 5);
    let left = std::fs::read_dir(bench.file().parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no temporary files");
}

#[test]
fn what_a_busy_machine_gave_is_remembered_as_such() {
    let bench = Bench::new();
    let cache = Cache::at(&bench.file());
    let busy = || Figures::measure_in(1, HASTY).map(|figures| Figures { steady: false, ..figures });
    assert_eq!(cache.figures_or(1, false, busy).unwrap().threads, 1);
    assert!(!bench.figures(1, false).steady);
    assert_eq!(bench.measured.get(), 0);
    assert!(bench.figures(1, true).threads == 1 && bench.measured.get() == 1);
}

#[test]
fn a_damaged_file_costs_a_measurement_and_no_more() {
    let bench = Bench::new();
    bench.figures(1, false);
    let whole = std::fs::read_to_string(bench.file()).unwrap();
    let cut = whole[..whole.len() / 2].to_owned();
    let wrong = whole.replace("\"layer\": ", "\"layer\": -");
    assert_ne!(wrong, whole);
    for text in [String::new(), "[1, 2]".into(), cut, wrong, "\0\0\0".into()] {
        std::fs::write(bench.file(), &text).unwrap();
        let before = bench.measured.get();
        bench.figures(1, false);
        assert_eq!(bench.measured.get(), before + 1, "{text}");
        bench.figures(1, false);
        assert_eq!(bench.measured.get(), before + 1, "mended");
    }
}

/// A folder on a device of its own.
fn place(device: &str) -> Place {
    Place {
        folder: format!("/{device}").into(),
        device: Some(DeviceId::of_names(&[device])),
        kind: "SSD".into(),
        bus: "SATA".into(),
        file_system: "ext4".into(),
        volume: None,
        free: None,
        direct: None,
        figures: None,
    }
}

/// A cache with two groups of drives that share something, and the drive of `folder` in the second.
fn with_bottlenecks(folder: &Path) -> (Cache, Vec<Place>) {
    let cache = Cache::at(&folder.join("figures.json"));
    let own = device_of(folder).unwrap();
    let places = ["sdx", "sdy", &own.to_string(), "sdz"].map(place);
    let key = |place: &Place| key_of(place.device.as_ref().unwrap());
    cache.change(|remembered| {
        for (group, part) in [([0, 1], 0.52), ([2, 3], 0.6)] {
            let drives = group.map(|i| key(&places[i])).into();
            remembered.bottlenecks.push(Shared { drives, part });
        }
    });
    (cache, places.into())
}

#[test]
fn bottlenecks_are_remembered_until_a_drive_is_gone_or_measured_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, places) = with_bottlenecks(folder.path());
    let found = |places: &[Place]| -> Vec<_> {
        let mut found: Vec<_> = cache.bottlenecks(places).into_iter().map(|b| (b.folders, b.part)).collect();
        for group in &mut found {
            group.0.sort();
        }
        found
    };
    let mut second = vec![places[2].folder.clone(), places[3].folder.clone()];
    second.sort();
    let first = (vec![PathBuf::from("/sdx"), "/sdy".into()], 0.52);
    // Whatever the order, and wherever else the drives' folders are.
    let mut turned = places.clone();
    turned.reverse();
    assert_eq!(found(&turned), [first.clone(), (second, 0.6)]);
    cache.remember_drive(folder.path(), DRIVE);
    assert_eq!(found(&places), std::slice::from_ref(&first), "of former figures");
    assert_eq!(found(&places[1..]), [], "a drive is gone");
    assert_eq!(found(&places), [], "and another may have its name now");
    assert_eq!(cache.known_drive(folder.path()), Some(DRIVE));
}

#[test]
fn folders_of_one_drive_are_no_bottleneck_to_remember() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(&folder.path().join("figures.json"));
    let group = |folders: [&Path; 2], part| Bottleneck { folders: folders.map(Into::into).into(), part };
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let nowhere = folder.path().join("nowhere");
    cache.remember_bottlenecks(&[group([folder.path(), &inner], 0.5), group([folder.path(), &nowhere], 0.5)]);
    assert!(cache.read().bottlenecks.is_empty());
    let proc = Path::new("/proc");
    if device_of(proc).is_ok_and(|device| device != device_of(folder.path()).unwrap()) {
        for part in [f64::NAN, 0.5, 0.6] {
            cache.remember_bottlenecks(&[group([folder.path(), proc], part)]);
        }
        let kept = cache.read().bottlenecks;
        assert!(kept.len() == 1 && (kept[0].part - 0.6).abs() < 1e-12, "the last: {kept:?}");
    }
}

#[test]
fn damaged_bottlenecks_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, places) = with_bottlenecks(folder.path());
    let file = folder.path().join("figures.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(cache.bottlenecks(&places).len(), 2);
    let key = key_of_name("sdy");
    for (text, left) in [
        (whole.replace("0.52", "-0.52"), 1),
        (whole.replace(&format!(",\n        \"{key}\""), ""), 1),
        (whole.replace("0.52", "\"half\""), 0),
        (whole[..whole.len() / 2].to_owned(), 0),
        (String::new(), 0),
    ] {
        assert_ne!(text, whole);
        std::fs::write(&file, &text).unwrap();
        assert_eq!(cache.bottlenecks(&places).len(), left, "{text}");
        cache.remember_drive(folder.path(), DRIVE);
        assert_eq!(cache.known_drive(folder.path()), Some(DRIVE), "mended");
    }
}

#[test]
fn without_a_place_to_remember_figures_are_measured_each_time() {
    let folder = tempfile::tempdir().unwrap();
    // A file where the cache's folder should be.
    std::fs::write(folder.path().join("taken"), "").unwrap();
    for cache in [Cache { file: None }, Cache::at(&folder.path().join("taken/figures.json"))] {
        assert_eq!(cache.drive_or(folder.path(), false, || Ok(DRIVE)).unwrap(), DRIVE);
        assert!(cache.read().drives.is_empty());
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(&folder.path().join("figures.json"));
    let error = cache.drive(&folder.path().join("nowhere"), false, &|| false).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert!(!folder.path().join("figures.json").exists());
}
