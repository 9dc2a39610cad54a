//! Limits a function to the share of a processor that Lambda gives it for its memory, through cgroups of version 1 or
//! 2.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The memory in megabytes that gives one whole processor.
const WHOLE: u32 = 1_769;
/// Lambda's period is 20 ms: a function that has used up its share waits for the next period. With Linux's default of
/// 100 ms, most requests would end before their share is used up, and the others would wait far too long.
const PERIOD_MICROS: u32 = 20_000;

/// A group of processes that share a quota.
pub struct CpuQuota {
    group: PathBuf,
}

impl CpuQuota {
    /// Creates a group without processes, with the quota for `megabytes` of memory.
    ///
    /// # Errors
    /// If the system does not let this process set a quota.
    pub fn of_memory(megabytes: u32) -> Result<Self, Box<dyn Error>> {
        let quota = PERIOD_MICROS * megabytes / WHOLE;
        let root = Path::new("/sys/fs/cgroup");
        let is_unified = root.join("cgroup.controllers").exists();
        let hierarchies = ["cpu", "cpu,cpuacct"].map(|controllers| root.join(controllers));
        let parent = match hierarchies.into_iter().find(|hierarchy| hierarchy.exists()) {
            Some(hierarchy) if !is_unified => hierarchy,
            _ => root.to_owned(),
        };
        let group = parent.join(format!("benchmark-{}-{megabytes}", std::process::id()));
        let set = || {
            if is_unified {
                std::fs::write(root.join("cgroup.subtree_control"), "+cpu")?;
            }
            std::fs::create_dir(&group)?;
            // Within its quota, the group has the highest priority that Linux allows.
            if is_unified {
                std::fs::write(group.join("cpu.weight"), "10000")?;
                return std::fs::write(group.join("cpu.max"), format!("{quota} {PERIOD_MICROS}"));
            }
            std::fs::write(group.join("cpu.shares"), "262144")?;
            std::fs::write(group.join("cpu.cfs_period_us"), PERIOD_MICROS.to_string())?;
            std::fs::write(group.join("cpu.cfs_quota_us"), quota.to_string())
        };
        match set() {
            Ok(()) => Ok(Self { group }),
            Err(error) => Err(format!(
                "cannot set a CPU quota in {}: {error}. Run this as root, with a writable cgroup that has the controller `cpu`.",
                group.display()
            )
            .into()),
        }
    }

    /// Moves a process and all its threads into the group.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn hold(&self, process: u32) -> std::io::Result<()> {
        std::fs::write(self.group.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // Fails while a process is in the group. The group is harmless then, because nothing uses it again.
        let _ = std::fs::remove_dir(&self.group);
    }
}
