//! Functions that are killed at their work leave no waste to the next one in their place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::json;
use tests::app::TestApp;
use tests::binaries;
use tests::caller::Caller;
use tests::function::Function;
use tokio::process::Command;

fn folders_in(disk: &Path) -> Vec<PathBuf> {
    fs::read_dir(disk).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn the_disk_that_a_killed_export_has_filled_is_cleared_by_the_next_one() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    owner.candidate(&project, json!({})).await;
    app.settle().await;
    let request = async || owner.post("/companies/acme/exports/", json!({})).await.expect(202);
    let export = request().await.uri("resource_uri");
    let disk = tempfile::tempdir().unwrap();
    let mut variables = app.environment().clone();
    variables.insert("TMPDIR", disk.path().to_str().unwrap().to_owned());
    let start = async || {
        let binary = &binaries::of_workspace()["export-writer"];
        let mut function = Function::start(Command::new(binary), &variables).await.unwrap();
        function.ready().await.unwrap();
        function
    };

    let mut killed = start().await;
    let pause = chaos.pause_about("Query", "ANSWERS");
    let tick = json!({});
    tokio::select! {
        answer = killed.invoke(&tick) => panic!("{answer:?}"),
        () = pause.reached() => {}
    }
    let folders = folders_in(disk.path());
    let [folder] = &folders[..] else { panic!("{folders:?}") };
    // A gigabyte, of which the disk stores nothing.
    File::create(folder.join("archive/records/large.jsonl")).unwrap().set_len(1 << 30).unwrap();
    killed.kill().await.unwrap();
    pause.resume();
    assert!(folder.exists());

    // Another export, so that the test need not wait until another worker may take over the first one.
    owner.delete(&export).await.expect(204);
    request().await;
    let written = start().await.invoke(&tick).await.unwrap();
    assert_eq!((&written["written"], &written["failed"]), (&json!(1), &json!(0)), "{written}");
    assert_eq!(folders_in(disk.path()), [""; 0].map(PathBuf::from));
}
