//! Positional requests and direct I/O.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens an existing file so that requests bypass the system's cache; `None` where it cannot.
pub fn open_direct(path: &Path, write: bool) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(write);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
        match options.custom_flags(direct).open(path) {
            Ok(file) => Ok(Some(file)),
            // The file system has no direct I/O.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }
    #[cfg(target_os = "macos")]
    {
        let file = options.open(path)?;
        Ok(rustix::fs::fcntl_nocache(&file, true).is_ok().then_some(file))
    }
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_FLAG_NO_BUFFERING: u32 = 0x2000_0000;
        options.custom_flags(FILE_FLAG_NO_BUFFERING).open(path).map(Some)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
    {
        options.open(path).map(|_| None)
    }
}

/// Reads some bytes at `offset`; 0 at the end of the file.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
}

/// Writes some bytes at `offset`.
pub fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, buffer, offset);
}
