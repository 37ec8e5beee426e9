//! A job's files: opened, reserved before the first byte, and gone again unless the job completes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::{TempDir, TempPath};

use super::{Cancel, EngineError, Place, Plan};
use crate::optics::Bytes;
use crate::storage::{
    DirectFile, EmulatedDrive, EmulatedStore, MemoryStore, PlaneHeader, Rates, StorageError, Store,
    StripedStore, folder_of, free_space, same_device, same_file_system,
};

/// The files of a running job. Dropping it removes scratch and an unfinished output.
pub struct JobFiles {
    stores: Vec<Arc<dyn Store>>,
    outputs: Vec<Output>,
    /// One folder of scratch files on each drive that has any.
    scratch: Vec<Option<TempDir>>,
    /// The parts of files on a striped volume, by the file's index.
    striped: BTreeMap<usize, Vec<Arc<dyn Store>>>,
    notes: Vec<String>,
}

struct Output {
    file: Arc<DirectFile>,
    unfinished: TempPath,
    path: PathBuf,
    header: PlaneHeader,
}

impl JobFiles {
    /// Opens the sources of `plan`, and creates and reserves its scratch and output.
    pub fn create(plan: &Plan, cancel: &Cancel) -> Result<Self, EngineError> {
        check_space(plan)?;
        let mut files = Self {
            stores: Vec::new(),
            outputs: Vec::new(),
            // Where there is a striped volume, those of its drives.
            scratch: std::iter::repeat_with(|| None)
                .take(plan.drives.len().max(plan.stripes.len()))
                .collect(),
            striped: BTreeMap::new(),
            notes: Vec::new(),
        };
        for (index, file) in plan.files.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let store = match &file.place {
                Place::Memory => {
                    let store = MemoryStore::default();
                    store.allocate(file.bytes)?;
                    files.stores.push(Arc::new(store));
                    continue;
                }
                Place::Source(path) => Arc::new(DirectFile::open(path)?),
                Place::Scratch if !plan.stripes.is_empty() => {
                    let store = files.striped(index, plan, file.bytes)?;
                    files.stores.push(store);
                    continue;
                }
                Place::Scratch | Place::Packed(..) => {
                    let folder = files.scratch_folder(file.drive, &plan.drives[file.drive])?;
                    let store = DirectFile::create(&folder.join(format!("{index}.tiles")))?;
                    store.allocate(file.bytes)?;
                    if let Place::Packed(path, header) = &file.place
                        && !header.unpack(path, &store, || cancel.is_cancelled())?
                    {
                        return Err(EngineError::Cancelled);
                    }
                    Arc::new(store)
                }
                Place::Output(path, header) => {
                    let (file, unfinished) = create_beside(path)?;
                    let file = Arc::new(file);
                    // In whole blocks; the length is set at the end.
                    file.allocate(header.file_bytes().next_multiple_of(crate::storage::ALIGNMENT as u64))?;
                    file.write_at(&header.encode(), 0)?;
                    let (path, header) = (path.clone(), *header);
                    files.outputs.push(Output { file: file.clone(), unfinished, path, header });
                    file
                }
            };
            files.note_buffered(&store);
            files.stores.push(store);
        }
        Ok(files)
    }

    /// Makes scratch file `index` on the striped volume of `plan`.
    fn striped(&mut self, index: usize, plan: &Plan, bytes: u64) -> Result<Arc<dyn Store>, EngineError> {
        let mut parts: Vec<Arc<dyn Store>> = Vec::new();
        for (drive, folder) in plan.stripes.iter().enumerate() {
            let folder = self.scratch_folder(drive, folder)?;
            let part = DirectFile::create(&folder.join(format!("{index}.part")))?;
            self.note_buffered(&part);
            parts.push(Arc::new(part));
        }
        let store = StripedStore::new(parts.clone());
        store.allocate(bytes)?;
        self.striped.insert(index, parts);
        Ok(Arc::new(store))
    }

    /// Lets every drive of `plan` be one of `rates`, whatever is below it. On a striped volume the user's own
    /// files, which are whole, count as if they were striped, too.
    pub fn emulate(&mut self, plan: &Plan, rates: Rates) {
        let drives: Vec<_> = (0..plan.drives.len().max(plan.stripes.len()))
            .map(|_| Arc::new(EmulatedDrive::new(rates)))
            .collect();
        let emulated = |store: &Arc<dyn Store>, drive: &Arc<EmulatedDrive>| -> Arc<dyn Store> {
            Arc::new(EmulatedStore::new(store.clone(), drive.clone()))
        };
        for (index, (store, file)) in self.stores.iter_mut().zip(&plan.files).enumerate() {
            *store = match (&file.place, self.striped.get(&index)) {
                (Place::Memory, _) => continue,
                (_, Some(parts)) => {
                    let parts = parts.iter().zip(&drives).map(|(part, drive)| emulated(part, drive));
                    let striped = StripedStore::new(parts.collect());
                    // It has its room already.
                    striped.set_len(file.bytes);
                    Arc::new(striped)
                }
                (_, None) if !plan.stripes.is_empty() => {
                    let parts = drives.iter().map(|drive| emulated(store, drive));
                    Arc::new(StripedStore::of_whole(parts.collect()))
                }
                (_, None) => emulated(store, &drives[file.drive]),
            };
        }
    }

    /// The outputs that are files of their own until they are finished.
    #[must_use]
    pub fn outputs(&self) -> Vec<Arc<DirectFile>> {
        self.outputs.iter().map(|output| output.file.clone()).collect()
    }

    /// The open files, in the plan's order.
    #[must_use]
    pub fn stores(&self) -> &[Arc<dyn Store>] {
        &self.stores
    }

    /// What the user should know about the files, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Packs the outputs whose lines are compressed, syncs all and gives them their names; one that exists is
    /// replaced only if `force`.
    pub fn finish(mut self, force: bool, cancel: &Cancel) -> Result<(), EngineError> {
        for Output { file, mut unfinished, path, header } in self.outputs.drain(..) {
            if header.is_packed() {
                // The plain lines go when `unfinished` is replaced.
                unfinished = pack(&file, &header, &path, cancel)?;
            } else {
                file.set_len(header.file_bytes())?;
                file.sync()?;
            }
            let named = if force { unfinished.persist(&path) } else { unfinished.persist_noclobber(&path) };
            if let Err(error) = named {
                // Hours of work are not thrown away for a name.
                let kept = error.path.keep().map_err(|e| StorageError::file("keep it", &path, e.error))?;
                return Err(EngineError::Unnamed { path, kept, source: error.error });
            }
        }
        Ok(())
    }

    fn scratch_folder(&mut self, drive: usize, path: &Path) -> Result<PathBuf, StorageError> {
        if let Some(folder) = &self.scratch[drive] {
            return Ok(folder.path().into());
        }
        let folder = tempfile::Builder::new()
            .prefix("gigafringe-scratch-")
            .tempdir_in(path)
            .map_err(|e| StorageError::file("make a scratch folder in it", path, e))?;
        let made = folder.path().into();
        self.scratch[drive] = Some(folder);
        Ok(made)
    }

    fn note_buffered(&mut self, file: &DirectFile) {
        let folder = file.path().parent().unwrap_or(Path::new("."));
        let folder =
            if folder.file_name().is_some_and(|n| n.to_string_lossy().starts_with("gigafringe-scratch-")) {
                folder.parent().unwrap_or(folder)
            } else {
                folder
            };
        let note = format!(
            "{}: this file system has no direct I/O; files there go through the system's cache",
            folder.display()
        );
        if !file.is_direct() && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Packs the plain lines in `lines` into a new hidden file, to become `path`.
fn pack(
    lines: &DirectFile,
    header: &PlaneHeader,
    path: &Path,
    cancel: &Cancel,
) -> Result<TempPath, EngineError> {
    let failed = |error| StorageError::file("write it", path, error);
    let (file, unfinished) = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .make_in(folder_of(path), |path| std::fs::File::create_new(path))
        .map_err(failed)?
        .into_parts();
    if !header.pack(lines, &file, path, || cancel.is_cancelled())? {
        return Err(EngineError::Cancelled);
    }
    file.sync_all().map_err(failed)?;
    Ok(unfinished)
}

/// Checks that each file system has room for all that the job puts on it.
fn check_space<'p>(plan: &'p Plan) -> Result<(), EngineError> {
    // Folder, scratch, output. Space belongs to a file system, not to a device.
    let needs: Vec<(&'p Path, u64, u64)> = plan
        .files
        .iter()
        .flat_map(|file| -> Vec<(&'p Path, u64, u64)> {
            let (scratch, output) = file.new_bytes();
            match &file.place {
                Place::Source(_) | Place::Memory => Vec::new(),
                Place::Scratch if !plan.stripes.is_empty() => {
                    let parts = plan.stripes.len();
                    let part = |(i, folder): (usize, &'p PathBuf)| {
                        (&**folder, StripedStore::part_bytes(scratch, i, parts), 0)
                    };
                    plan.stripes.iter().enumerate().map(part).collect()
                }
                Place::Scratch | Place::Packed(..) => {
                    vec![(&*plan.drives[file.drive], scratch, output)]
                }
                Place::Output(path, _) => vec![(folder_of(path), scratch, output)],
            }
        })
        .collect();
    for (folder, ..) in &needs {
        // Where the system does not tell, reserving will.
        let Ok(free) = free_space(folder) else { continue };
        let here = needs.iter().filter(|need| same_file_system(folder, need.0));
        let (scratch, output) = here.fold((0u64, 0u64), |sum, need| (sum.0 + need.1, sum.1 + need.2));
        if scratch.saturating_add(output) > free {
            return Err(EngineError::Space {
                folder: folder.to_path_buf(),
                scratch: Bytes(scratch),
                output: Bytes(output),
                free: Bytes(free),
            });
        }
    }
    Ok(())
}

/// What the user should know of the drives' folders: which share a device, a sentence for each device, or
/// that they are emulated, each as a drive of its own.
#[must_use]
pub fn device_notes(drives: &[PathBuf], emulation: Option<Rates>) -> Vec<String> {
    if let Some(rates) = emulation {
        let count = drives.len();
        let drives = if count == 1 { "1 drive is".into() } else { format!("{count} drives are") };
        return vec![format!(
            "{drives} emulated: {rates} each, {}; times are those of such drives, not of this machine's",
            rates.duplex
        )];
    }
    let mut groups: Vec<Vec<&Path>> = Vec::new();
    for folder in drives {
        match groups.iter_mut().find(|group| same_device(group[0], folder)) {
            Some(group) => group.push(folder),
            None => groups.push(vec![folder]),
        }
    }
    let shared = groups.into_iter().filter(|group| group.len() > 1);
    shared
        .map(|group| {
            let names: Vec<_> = group.iter().map(|folder| folder.display().to_string()).collect();
            let (last, rest) = names.split_last().unwrap_or((&names[0], &[]));
            format!(
                "{} and {last} are on one device: it does the work of all, at the speed of one",
                rest.join(", ")
            )
        })
        .collect()
}

/// How the names of unfinished outputs begin. They are not made of the output's own name, which may be as
/// long as names can be.
const UNFINISHED: &str = ".gigafringe-unfinished-";

/// Creates the file that becomes `path` when it is finished, in the same folder.
fn create_beside(path: &Path) -> Result<(DirectFile, TempPath), StorageError> {
    let folder = folder_of(path);
    let made = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .make_in(folder, |path| {
            DirectFile::create(path).map_err(|error| match error {
                StorageError::File { source, .. } => source,
                other => std::io::Error::other(other.to_string()),
            })
        })
        .map_err(|e| StorageError::file("create it", path, e))?;
    Ok(made.into_parts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PlanFile;
    use crate::project::{Method, Precision};
    use crate::storage::{Container, Element};

    /// A plan that only has files in `folder`: one scratch, and the output `out.npy`.
    fn plan(folder: &Path) -> Plan {
        let header = PlaneHeader::new(Container::Npy, 3, 5, Element::Complex64);
        let file = |bytes, place| PlanFile { drive: 0, bytes, place };
        Plan {
            name: String::new(),
            method: Method::Implicit,
            precision: Precision::F32,
            scratch_precision: crate::storage::ScratchPrecision::F32,
            drives: vec![folder.into()],
            stripes: Vec::new(),
            files: vec![
                file(9000, Place::Scratch),
                file(header.file_bytes(), Place::Output(folder.join("out.npy"), header)),
            ],
            passes: Vec::new(),
            layer_bytes: 0,
            chunk: 1,
            buffers: 1,
            threads: 1,
            error_bound: 0.0,
            predicted: None,
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn files_are_hidden_until_they_are_complete_and_scratch_goes() {
        let folder = tempfile::tempdir().unwrap();
        let files = JobFiles::create(&plan(folder.path()), &Cancel::default()).unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        assert!(!folder.path().join("out.npy").exists());
        files.stores()[1].write_at(&[7; 120], 4096).unwrap();
        files.finish(false, &Cancel::default()).unwrap();
        assert_eq!(names(folder.path()), ["out.npy"]);
        let bytes = std::fs::read(folder.path().join("out.npy")).unwrap();
        assert_eq!((bytes.len(), &bytes[4096..]), (4096 + 120, &[7; 120][..]));

        drop(JobFiles::create(&plan(folder.path()), &Cancel::default()).unwrap());
        assert_eq!(names(folder.path()), ["out.npy"], "a job that ends early leaves nothing");
    }

    /// Somebody else took the name while the job ran: neither file is lost.
    #[test]
    fn a_name_taken_meanwhile_costs_neither_file() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.npy");
        let files = JobFiles::create(&plan(folder.path()), &Cancel::default()).unwrap();
        files.stores()[1].write_at(&[7; 120], 4096).unwrap();
        std::fs::write(&output, "somebody's").unwrap();
        let Err(EngineError::Unnamed { path, kept, .. }) = files.finish(false, &Cancel::default()) else {
            panic!("unnamed")
        };
        assert_eq!(path, output);
        assert_eq!(std::fs::read(&output).unwrap(), b"somebody's");
        assert_eq!(std::fs::read(kept).unwrap()[4096..], [7; 120]);

        let files = JobFiles::create(&plan(folder.path()), &Cancel::default()).unwrap();
        files.finish(true, &Cancel::default()).unwrap();
        assert_ne!(std::fs::read(&output).unwrap(), b"somebody's", "replaced when that is asked for");
    }

    #[test]
    fn a_png_is_packed_at_the_end_and_stops_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let header = PlaneHeader::new(Container::Png, 3, 5, Element::Phase8);
        let output = folder.path().join("out.png");
        let mut plan = plan(folder.path());
        plan.files = vec![PlanFile { drive: 0, bytes: 15, place: Place::Output(output.clone(), header) }];
        assert_eq!(plan.new_bytes(0), (15, 15), "plain lines, then packed ones beside them");

        let files = JobFiles::create(&plan, &Cancel::default()).unwrap();
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(matches!(files.finish(false, &cancel), Err(EngineError::Cancelled)));
        assert_eq!(names(folder.path()).len(), 0, "nothing is left");

        let files = JobFiles::create(&plan, &Cancel::default()).unwrap();
        let lines: Vec<u8> = (1..=15).collect();
        files.stores()[0].write_at(&lines, 0).unwrap();
        files.finish(false, &Cancel::default()).unwrap();
        assert_eq!(names(folder.path()), ["out.png"]);
        assert_eq!(image::open(&output).unwrap().into_luma8().into_raw(), lines);

        // And read again: unpacked to scratch, which goes with the job.
        plan.files = vec![PlanFile { drive: 0, bytes: 15, place: Place::Packed(output, header) }];
        assert!(matches!(JobFiles::create(&plan, &cancel), Err(EngineError::Cancelled)));
        let files = JobFiles::create(&plan, &Cancel::default()).unwrap();
        let mut back = vec![0; 15];
        files.stores()[0].read_at(&mut back, 0).unwrap();
        drop(files);
        assert_eq!(back, lines);
        assert_eq!(names(folder.path()), ["out.png"]);
    }
}
