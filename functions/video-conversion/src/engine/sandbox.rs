//! Starts programs that work on files of clients and that such a file may have taken over: without sockets,
//! and with a limit of processor time. What else such a program could reach is this process, which it may not
//! look into.

use std::io;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Starts a program that can open no socket, and is killed after so much time of processors.
pub(super) async fn spawn(mut command: Command, processor_seconds: u64) -> io::Result<Child> {
    let runtime = Handle::current();
    let (answer, started) = oneshot::channel();
    // On a thread of its own, because a filter stays on the thread, which the program inherits it from.
    std::thread::Builder::new().spawn(move || {
        let _runtime = runtime.enter();
        // The caller has given up if there is no time left; dropping the child kills it.
        let _ = answer.send(deny_sockets().and_then(|()| command.spawn()));
    })?;
    let child = started.await.map_err(io::Error::other)??;
    limit_processor_time(&child, processor_seconds)?;
    Ok(child)
}

/// Hides the environment and the memory of this process, and the credentials in them, from other processes of the same user.
///
/// # Errors
/// If the kernel refuses.
#[cfg(target_os = "linux")]
pub fn hide_process() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // The files of the process in /proc then belong to root, and only root may trace it. Programs start as usual.
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

#[cfg(target_os = "linux")]
fn deny_sockets() -> io::Result<()> {
    use std::sync::LazyLock;

    use seccompiler::{BpfProgram, Error, SeccompAction, SeccompFilter, TargetArch, apply_filter};

    static FILTER: LazyLock<Result<BpfProgram, Error>> = LazyLock::new(|| {
        // io_uring opens sockets without the first of these calls.
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

#[cfg(target_os = "linux")]
fn limit_processor_time(child: &Child, seconds: u64) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    // `None` if it has ended, which only waiting for it finds out.
    let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    let limit = Rlimit { current: Some(seconds), maximum: Some(seconds) };
    if let Some(id) = id {
        prlimit(Some(id), Resource::Cpu, limit)?;
    }
    Ok(())
}

/// Not on a developer's other system, where the credentials are none.
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

#[cfg(not(target_os = "linux"))]
fn limit_processor_time(_: &Child, _: u64) -> io::Result<()> {
    Ok(())
}
