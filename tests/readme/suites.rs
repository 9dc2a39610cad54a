//! Every test belongs to a suite that `tests/run` runs and the README names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Left out by `tests/run`, because it needs three browsers; `tests/run all` runs it.
const LEFT_OUT: &str = "browser";

/// A target of the workspace that may have tests.
struct TestTarget {
    package: String,
    kind: String,
    name: String,
    source: PathBuf,
    is_tested: bool,
}

fn targets() -> Vec<TestTarget> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let targets = packages.iter().flat_map(|package| {
        package["targets"].as_array().unwrap().iter().map(move |target| TestTarget {
            package: text(&package["name"]),
            kind: text(&target["kind"][0]),
            name: text(&target["name"]),
            source: text(&target["src_path"]).into(),
            is_tested: target["test"].as_bool().unwrap(),
        })
    });
    targets.collect()
}

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The Rust files of a folder and below.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn has_tests(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().any(|line| ["#[test]", "#[tokio::test"].iter().any(|mark| line.trim().starts_with(mark)))
}

#[test]
fn no_test_is_left_out() {
    for target in targets() {
        let TestTarget { package, kind, name, source, is_tested } = &target;
        match kind.as_str() {
            "test" => assert_eq!(*is_tested, name != LEFT_OUT, "{package}: {name}"),
            "lib" | "bin" if !is_tested => {
                // Beside a binary lies the library.
                let own =
                    if kind == "lib" { sources(source.parent().unwrap()) } else { vec![source.clone()] };
                let with_tests: Vec<_> = own.into_iter().filter(|file| has_tests(file)).collect();
                assert!(with_tests.is_empty(), "{package}: {kind} {name} has `test = false`: {with_tests:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn the_handbooks_name_every_suite() {
    let targets = targets();
    let tests = || targets.iter().filter(|target| target.kind == "test");
    let named: BTreeSet<&str> =
        tests().filter(|test| test.package == "tests").map(|test| test.name.as_str()).collect();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for suite in &named {
        assert!(readme.contains(&format!("\n| `{suite}` | ")), "README.md does not name {suite}");
    }

    let run = std::fs::read_to_string(root().join("tests/run")).unwrap();
    let listed = run.lines().find_map(|line| line.strip_prefix("of_crates=(")?.strip_suffix(')')).unwrap();
    let of_crates: BTreeSet<&str> =
        tests().filter(|test| test.package != "tests").map(|test| test.name.as_str()).collect();
    assert_eq!(listed.split(' ').collect::<BTreeSet<_>>(), of_crates, "tests/run unit");
}
