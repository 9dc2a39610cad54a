//! Logs of the functions: every line that they mean to write is checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use shared::telemetry::TARGETS;

/// The targets that the sources below a folder name.
fn targets_in(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            targets_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let named = source.split("target: \"").skip(1).filter_map(|rest| rest.split_once('"'));
            found.extend(named.map(|(target, _)| target.to_owned()));
        }
    }
}

#[test]
fn every_target_in_use_is_heard() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut used = BTreeSet::new();
    targets_in(&root.join("shared/src"), &mut used);
    for function in fs::read_dir(root.join("functions")).unwrap() {
        let sources = function.unwrap().path().join("src");
        if sources.is_dir() {
            targets_in(&sources, &mut used);
        }
    }
    assert_eq!(used, TARGETS.map(str::to_owned).into(), "shared/src/telemetry.rs lists them");
}

/// A function whose errors no alarm sees would fail unnoticed.
#[test]
fn every_function_that_events_start_logs_where_errors_are_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let template = fs::read_to_string(root.join("template.yaml")).unwrap();
    let (_, event_functions) =
        template.split_once("# Functions that the table's stream, schedules and events start.").unwrap();
    let functions = event_functions.matches("Type: AWS::Serverless::Function").count();
    let groups = event_functions.matches("LoggingConfig: {LogGroup: !Ref EventLogs}").count();
    assert_eq!((functions, groups), (8, 8));
    for filter in ["EventFailures", "ReleaseEventFailures"] {
        let filter = format!(
            "  {filter}:\n    Type: AWS::Logs::MetricFilter\n    Condition: HasAlarmEmail\n    Properties:\n      \
             LogGroupName: !Ref EventLogs\n      FilterPattern: '{{ $.level = \"ERROR\" }}'\n"
        );
        assert!(template.contains(&filter), "there is no {filter}");
    }
}

#[test]
fn the_dashboard_has_every_alarm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let template = fs::read_to_string(root.join("template.yaml")).unwrap();
    let resources = template.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix("Alarm:"));
    // The alarms of a release act by themselves.
    let alarms: Vec<&str> = resources.filter(|name| !name.starts_with("Release")).collect();
    assert!(!alarms.is_empty());
    for alarm in alarms {
        assert!(template.contains(&format!("\"${{{alarm}Alarm.Arn}}\"")), "the dashboard lacks {alarm}");
    }
}
