//! The process's own use of memory.

/// The largest resident size this process has had, in bytes; `None` where the system does not tell.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }
    #[cfg(not(target_os = "linux"))]
    {
        // sysinfo knows the present size only; at the end of a run, with its buffers still
        // allocated, that is the peak.
        let pid = sysinfo::get_current_pid().ok()?;
        let mut system = sysinfo::System::new();
        system.refresh_processes(sysinfo::ProcessesToUpdate::Some(&[pid]), false);
        system.process(pid).map(sysinfo::Process::memory)
    }
}
