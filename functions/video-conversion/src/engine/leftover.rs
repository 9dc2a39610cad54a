//! Ends the processes that programs leave behind, even in another session, group or under another parent.
//!
//! This process adopts orphaned descendants, so every process that a program has started is its descendant. Seccomp
//! filters tell these processes from other children: processes inherit filters and cannot remove them.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, getuid, kill_process, set_child_subreaper, waitpid};

/// The pause before the processes are listed again.
const PAUSE: Duration = Duration::from_millis(1);
/// The maximum number of listings, which take at least five seconds together.
const LOOKS: usize = 5_000;

/// Makes this process the parent of orphaned descendants.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Kills the processes that ended programs have left. Programs in `running`, and their descendants, live on.
///
/// # Errors
/// If a process cannot be killed. Then start nothing that this process must not see.
pub(super) fn kill_leftovers(running: &BTreeSet<i32>) -> io::Result<()> {
    for _ in 0..LOOKS {
        let leftovers = leftovers_among(&processes()?, running);
        if leftovers.is_empty() {
            return Ok(());
        }
        for process in leftovers {
            let Some(id) = Pid::from_raw(process.id) else { continue };
            if !process.is_dead {
                // An error means that the process has ended since.
                let _ = kill_process(id, Signal::KILL);
            } else if process.parent == own_id() {
                // A dead child stays in the list until its parent reads its status.
                let _ = waitpid(Some(id), WaitOptions::NOHANG);
            }
        }
        // Blocks, because `Drop` calls this function and cannot await.
        #[expect(clippy::disallowed_methods, reason = "processes end in real time")]
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::other("a process that a program has started cannot be stopped"))
}

/// Counts the processes and threads of this process's user.
pub(super) fn tasks_of_user() -> io::Result<u64> {
    let user = getuid().as_raw();
    Ok(processes()?.iter().filter(|process| process.user == user).map(|process| process.threads).sum())
}

fn own_id() -> i32 {
    getpid().as_raw_nonzero().get()
}

#[derive(Debug, Clone, Copy, Default)]
struct Process {
    id: i32,
    parent: i32,
    user: u32,
    threads: u64,
    /// The number of seccomp filters; the seccomp mode before Linux 5.9.
    filters: u64,
    /// Whether the process is a zombie: ended, but its parent has not read its status.
    is_dead: bool,
}

impl Process {
    /// Reads `/proc/ID/status`.
    fn parse(id: i32, status: &str) -> Self {
        let mut process = Self { id, ..Self::default() };
        for (name, value) in status.lines().filter_map(|line| line.split_once(':')) {
            let first = value.split_whitespace().next().unwrap_or_default();
            let number = || first.parse().unwrap_or_default();
            match name {
                "State" => process.is_dead = matches!(first, "Z" | "X"),
                "PPid" => process.parent = first.parse().unwrap_or_default(),
                "Uid" => process.user = first.parse().unwrap_or_default(),
                "Threads" => process.threads = number(),
                "Seccomp" | "Seccomp_filters" => process.filters = number(),
                _ => {}
            }
        }
        process
    }
}

/// All processes. One that ends while they are listed may be missing.
fn processes() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(id) = id else { continue };
        if let Ok(status) = std::fs::read_to_string(entry.path().join("status")) {
            found.push(Process::parse(id, &status));
        }
    }
    Ok(found)
}

fn leftovers_among(processes: &[Process], running: &BTreeSet<i32>) -> Vec<Process> {
    let own = own_id();
    let own_filters = processes.iter().find(|process| process.id == own).map_or(0, |own| own.filters);
    let is_orphan = |process: &Process| {
        process.parent == own && process.filters > own_filters && !running.contains(&process.id)
    };
    let mut ids: BTreeSet<i32> =
        processes.iter().filter(|process| is_orphan(process)).map(|process| process.id).collect();
    loop {
        let known = ids.len();
        ids.extend(
            processes
                .iter()
                .filter(|process| ids.contains(&process.parent))
                .map(|process| process.id)
                .collect::<Vec<_>>(),
        );
        if ids.len() == known {
            break;
        }
    }
    processes.iter().filter(|process| ids.contains(&process.id)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_and_what_has_no_filter_is_left_alone() {
        let own = own_id();
        let process =
            |id: i32, parent: i32, filters: u64| Process { id, parent, filters, ..Process::default() };
        let all = [
            process(own, 1, 1),
            process(own + 1, own, 2),
            process(own + 2, own + 1, 2),
            process(own + 3, own, 2),
            process(own + 4, own + 3, 3),
            process(own + 5, own, 1),
            process(own + 6, own + 5, 2),
            process(own + 7, 1, 2),
        ];
        let found = leftovers_among(&all, &BTreeSet::from([own + 1]));
        let ids: Vec<i32> = found.iter().map(|process| process.id - own).collect();
        assert_eq!(ids, [3, 4]);
    }

    #[test]
    fn the_status_of_a_process_is_read() {
        let status = "Name:\tx y\nState:\tZ (zombie)\nPPid:\t7\nUid:\t5\t6\t6\t6\nThreads:\t3\nSeccomp:\t2\nSeccomp_filters:\t4\n";
        let Process { id, parent, user, threads, filters, is_dead } = Process::parse(9, status);
        assert_eq!((id, parent, user, threads, filters, is_dead), (9, 7, 5, 3, 4, true));
        assert_eq!(Process::parse(9, "Seccomp:\t2\n").filters, 2);
        assert!(tasks_of_user().unwrap() > 0);
    }
}
