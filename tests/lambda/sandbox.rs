//! The reach of a program that a file has taken over: a script in the place of ffprobe tries it.
#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;

use embedded::{Backend, Storage};
use serde_json::json;
use tests::binaries;
use tests::function::Function;
use tokio::process::Command;

/// The user `nobody`: on AWS a function is not root, who may read everything.
const NOBODY: &str = "65534";

/// `video-conversion` as another user than root.
fn function() -> Command {
    let binary = &binaries::of_workspace()["video-conversion"];
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return Command::new(binary);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(binary);
    command
}

#[tokio::test]
async fn a_program_reads_no_credentials_and_opens_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let found = |name: &str| folder.path().join(name);
    let script = format!(
        "#!/bin/bash
        cat /proc/self/environ /proc/[0-9]*/environ >{environments}
        (exec 3</proc/$PPID/mem) && echo opened >{memory}
        echo >/dev/tcp/127.0.0.1/{port} && echo opened >{sockets}
        echo tried >{tried}
        exit 1",
        environments = found("environments").display(),
        memory = found("memory").display(),
        port = listener.local_addr().unwrap().port(),
        sockets = found("sockets").display(),
        tried = found("tried").display(),
    );
    write(&found("ffprobe"), &script).await;

    let backend = Backend::start(&Storage::Memory).unwrap();
    let mut variables = backend.environment("http://localhost:8080/api/v3", "table");
    let path = format!("{}:{}", folder.path().display(), variables["PATH"]);
    variables.insert("PATH", path);
    variables.insert("AWS_SESSION_TOKEN", "secret-of-the-function".to_owned());
    let mut function = Function::start(function(), &variables).await.unwrap();
    function.invoke(&json!({ "check": "programs" })).await.unwrap_err();

    assert!(found("tried").exists());
    let environments = std::fs::read(found("environments")).unwrap();
    let reads = |text: &[u8]| environments.windows(text.len()).any(|window| window == text);
    assert!(reads(b"PATH="), "it reads its own");
    assert!(!reads(b"secret-of-the-function"));
    assert!(!found("memory").exists());
    assert!(!found("sockets").exists());
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// Writes a script by another process: Linux starts no file that is open for writing, and a program that another test starts at
/// the same time has what is open here until it begins.
async fn write(file: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf '%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(file).arg(script);
    assert!(shell.status().await.unwrap().success());
}
