//! `compose.yaml` and the Dockerfile match the scripts and each other. Needs no Docker; `tests/run compose` starts the
//! containers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use saphyr::{LoadableYamlNode, Yaml};

const COMPOSE: &str = include_str!("../../compose.yaml");
const DOCKERFILE: &str = include_str!("../../Dockerfile");
const DOCKERIGNORE: &str = include_str!("../../Dockerfile.dockerignore");
const RUN: &str = include_str!("../../run");
const SETUP: &str = include_str!("../../setup");
const RUNTIME: &str = include_str!("../../runtime");
const RUNTIME_RELEASES: &str = include_str!("../../runtime.in");
const MANIFEST: &str = include_str!("../../../Cargo.toml");

/// The Dockerfile's instructions, one per line.
fn instructions() -> Vec<String> {
    let lines: String =
        DOCKERFILE.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    lines
        .replace("\\\n", "")
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// The rest of the first line that begins with `start`, after any indentation.
fn rest<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find_map(|line| line.trim_start().strip_prefix(start)).unwrap()
}

/// The containers by name.
fn containers() -> BTreeMap<String, Yaml<'static>> {
    let compose = Yaml::load_from_str(COMPOSE).unwrap().remove(0);
    let containers = compose["services"].as_mapping().unwrap().iter();
    containers.map(|(name, container)| (name.as_str().unwrap().to_owned(), container.clone())).collect()
}

/// The paths that the build stages copy from the workspace.
fn copied() -> BTreeSet<String> {
    let copies =
        instructions().into_iter().filter(|line| line.starts_with("COPY ") && !line.contains("--from"));
    let sources = copies.flat_map(|line| {
        let mut words: Vec<_> = line.split(' ').skip(1).map(str::to_owned).collect();
        words.pop();
        words
    });
    sources.collect()
}

#[test]
fn the_context_holds_what_the_dockerfile_copies() {
    let admitted: BTreeSet<_> =
        DOCKERIGNORE.lines().filter_map(|line| line.strip_prefix('!')).map(str::to_owned).collect();
    assert!(DOCKERIGNORE.lines().any(|line| line == "*"), "everything else must be left out");
    assert_eq!(copied(), admitted);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for path in admitted {
        assert!(root.join(&path).exists(), "{path}");
    }
}

#[test]
fn the_image_is_built_as_run_builds_the_service() {
    let build = instructions().into_iter().find(|line| line.contains("cargo build")).unwrap();
    let profile = RUN.split("--release) profile=").nth(1).unwrap().split(' ').next().unwrap();
    let command = format!("cargo build --locked --workspace --profile {profile} --bin embedded ");
    assert!(build.contains(&command), "{build}");
    assert!(RUN.contains(r#" --workspace --profile "$profile" --bin embedded"#), "{RUN}");

    let version = rest(MANIFEST, "rust-version = ").trim_matches('"');
    assert!(DOCKERFILE.contains(&format!("FROM rust:{version}.")), "the toolchain is not {version}");

    let ffmpeg = SETUP.split("command -v ffmpeg").nth(1).unwrap();
    let packages = rest(ffmpeg, "\"$(dirname \"${BASH_SOURCE[0]}\")/install\" ");
    let installed = instructions().into_iter().find(|line| line.starts_with("RUN /tmp/install ")).unwrap();
    for package in packages.split(' ') {
        assert!(installed.split(' ').any(|word| word == package), "{package}: {installed}");
    }
}

#[test]
fn containers_run_pinned_stages_without_root() {
    let dockerfile = instructions();
    let stages: Vec<_> = dockerfile.iter().filter_map(|line| line.strip_prefix("FROM ")).collect();
    for stage in &stages {
        assert!(stage.contains(|sign: char| sign.is_ascii_digit()), "{stage} names no version");
    }
    for target in COMPOSE.lines().filter_map(|line| line.trim().strip_prefix("target: ")) {
        let end = format!(" AS {target}");
        let start = dockerfile.iter().position(|line| line.ends_with(&end)).unwrap();
        let stage = dockerfile[start + 1..].iter().take_while(|line| !line.starts_with("FROM "));
        assert_eq!(stage.filter(|line| *line == "USER 10001:10001").count(), 1, "{target}");
    }
}

#[test]
fn ports_are_published_to_this_computer_alone() {
    let published: Vec<_> =
        COMPOSE.lines().filter(|line| line.trim().starts_with("- ")).map(str::trim).collect();
    // The same port inside and outside, because references and signed URLs contain it.
    assert_eq!(published, [r#"- "127.0.0.1:4566:4566""#, r#"- "127.0.0.1:8080:8080""#]);
}

#[test]
fn the_container_and_the_runtime_are_the_same_localstack() {
    let localstack = containers().remove("localstack").unwrap();
    let version = rest(RUNTIME_RELEASES, "localstack-core==");
    let image = localstack["image"].as_str().unwrap();
    assert_eq!(image, format!("localstack/localstack:{version}"));
    for (name, value) in localstack["environment"].as_mapping().unwrap() {
        // Only browsers need CORS.
        if name.as_str() == Some("EXTRA_CORS_ALLOWED_ORIGINS") {
            continue;
        }
        let setting = format!("{}={}", name.as_str().unwrap(), value.as_str().unwrap());
        assert!(RUNTIME.split_whitespace().any(|word| word == setting), "{setting}");
    }
}
