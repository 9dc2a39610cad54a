//! Starts programs that work on clients' files, and that such a file may have taken over. A program gets no sockets,
//! limits of processor time and processes, and leaves no process behind. The only other process in reach is this one,
//! which hides itself.

use std::io;
use std::process::ExitStatus;
use std::thread::JoinHandle;

use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A running program. Dropping it kills the program and all its descendants.
#[derive(Debug)]
pub(super) struct SandboxedProgram {
    child: Child,
    id: Option<i32>,
}

impl SandboxedProgram {
    /// Starts a program that cannot open sockets and is killed after `processor_seconds`.
    ///
    /// # Errors
    /// If it cannot be started, or a process that an earlier program left cannot be killed.
    pub(super) async fn start(mut command: Command, processor_seconds: u64) -> io::Result<Self> {
        let runtime = Handle::current();
        let (answer, started) = oneshot::channel();
        // A new thread, because a seccomp filter cannot be removed from a thread and the program inherits it.
        let thread = std::thread::Builder::new().spawn(move || {
            let _runtime = runtime.enter();
            // Sending fails if the caller has timed out. Dropping the program then kills it.
            let _ =
                answer.send(deny_sockets().and_then(|()| running::start(&mut command, processor_seconds)));
        })?;
        let mut start = ProgramStart { started, thread: Some(thread) };
        (&mut start.started).await.map_err(io::Error::other)?
    }

    /// The standard output and standard error of the program.
    pub(super) fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits until the program ends and kills the processes that it has left, which may hold its output open.
    ///
    /// # Errors
    /// If a process that the program has started cannot be killed.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        running::end(self.id.take())?;
        Ok(status)
    }
}

/// A program that is being started on a thread. Dropping it waits for the thread.
// Otherwise a caller that times out would continue while the program still runs.
struct ProgramStart {
    started: oneshot::Receiver<io::Result<SandboxedProgram>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ProgramStart {
    fn drop(&mut self) {
        self.started.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for SandboxedProgram {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = self.child.start_kill();
            // If a process cannot be killed, no further program starts.
            let _ = running::end(Some(id));
        }
    }
}

#[cfg(target_os = "linux")]
mod running {
    use std::collections::BTreeSet;
    use std::io;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    use tokio::process::Command;

    use super::super::leftover::{adopt_orphans, kill_leftovers, tasks_of_user};
    use super::SandboxedProgram;

    /// How many processes and threads a program may add to those of the user. ffmpeg has about twenty threads.
    const SPARE_TASKS: u64 = 256;

    /// The identifiers of running programs. Locked while a program starts: one that is not listed looks like a
    /// leftover.
    static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

    fn running() -> MutexGuard<'static, BTreeSet<i32>> {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(command: &mut Command, processor_seconds: u64) -> io::Result<SandboxedProgram> {
        adopt_orphans()?;
        let tasks = tasks_of_user()? + SPARE_TASKS;
        // Unlock before anything else can fail: dropping a program locks the list itself.
        let (program, id) = {
            let mut running = running();
            kill_leftovers(&running)?;
            let child = command.spawn()?;
            let id = child.id().and_then(|id| i32::try_from(id).ok());
            running.extend(id);
            (SandboxedProgram { child, id }, id)
        };
        // `None` if the program has ended and was waited for.
        if let Some(id) = id.and_then(Pid::from_raw) {
            for (resource, most) in [(Resource::Cpu, processor_seconds), (Resource::Nproc, tasks)] {
                // A process without privileges cannot exceed the hard limit that it has inherited.
                let most = getrlimit(resource).maximum.map_or(most, |own| own.min(most));
                prlimit(Some(id), resource, Rlimit { current: Some(most), maximum: Some(most) })?;
            }
        }
        Ok(program)
    }

    /// Removes an ended program from the list and kills the processes that it has left.
    pub(super) fn end(id: Option<i32>) -> io::Result<()> {
        let mut running = running();
        id.map(|id| running.remove(&id));
        kill_leftovers(&running)
    }
}

// No limits on a developer's other system, which has no credentials to protect.
#[cfg(not(target_os = "linux"))]
mod running {
    use std::io;

    use tokio::process::Command;

    use super::SandboxedProgram;

    pub(super) fn start(command: &mut Command, _: u64) -> io::Result<SandboxedProgram> {
        Ok(SandboxedProgram { child: command.spawn()?, id: Some(0) })
    }

    pub(super) fn end(_: Option<i32>) -> io::Result<()> {
        Ok(())
    }
}

/// Hides this process's environment and memory, which hold credentials, from other processes of the same user.
///
/// # Errors
/// If the kernel refuses.
#[cfg(target_os = "linux")]
pub fn hide_process() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // The kernel then gives the process's files in /proc to root and lets only root trace it. Starting programs still
    // works.
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

#[cfg(target_os = "linux")]
fn deny_sockets() -> io::Result<()> {
    use std::sync::LazyLock;

    use seccompiler::{BpfProgram, Error, SeccompAction, SeccompFilter, TargetArch, apply_filter};

    static FILTER: LazyLock<Result<BpfProgram, Error>> = LazyLock::new(|| {
        // io_uring can open sockets without the `socket` call.
        let denied = [libc::SYS_socket, libc::SYS_io_uring_setup].map(|call| (call, Vec::new()));
        let denial = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
        let filter = SeccompFilter::new(denied.into(), SeccompAction::Allow, denial, architecture)?;
        let program: BpfProgram = filter.try_into()?;
        Ok(program)
    });
    let filter = FILTER.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    apply_filter(filter).map_err(io::Error::other)
}

/// Does nothing: a developer's other system has no credentials to protect.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn hide_process() -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn deny_sockets() -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use rustix::process::{Resource, Rlimit, setrlimit};
    use tokio::process::Command;

    use super::SandboxedProgram;

    #[tokio::test]
    async fn a_program_may_not_exceed_the_hard_limit_of_this_process() {
        // In seconds of processor time, far more than these tests take.
        let own = 1_000_000;
        setrlimit(Resource::Cpu, Rlimit { current: Some(own), maximum: Some(own) }).unwrap();
        let mut command = Command::new("sleep");
        command.arg("60");
        let program = SandboxedProgram::start(command, own + 1).await.unwrap();
        let limits = fs::read_to_string(format!("/proc/{}/limits", program.id.unwrap())).unwrap();
        let limit = limits.lines().find(|line| line.starts_with("Max cpu time")).unwrap();
        assert_eq!(limit.split_whitespace().nth(3), Some("1000000"), "{limit}");
        drop(program);
        // The list of programs must be unlocked again.
        let next = SandboxedProgram::start(Command::new("true"), 1).await.unwrap().wait().await.unwrap();
        assert!(next.success());
    }
}
