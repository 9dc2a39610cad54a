use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta};
use serde_json::json;

use super::*;
use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::EvaluationReport;
use crate::evaluation::ScoreNumbers;
use crate::id::Id;
use crate::language::Language;
use crate::project::ProjectStatus;
use crate::questionnaire::Questionnaire;
use crate::samples::{self, candidate, customer, evaluator_index, project};
use crate::staff::customer::{AccountType, Customer, CustomerStatus, NewCustomer};
use crate::text::{Email, ShortName, Username};

fn change<T: HasHistory>(before: Option<&T>, after: Option<&T>) -> ResourceChange {
    ResourceChange::of(before, after).unwrap()
}

fn types_of<T: HasHistory + Clone>(before: &T, edit: impl FnOnce(&mut T)) -> Vec<String> {
    let mut after = before.clone();
    edit(&mut after);
    change(Some(before), Some(&after)).types
}

fn staff_user() -> Customer {
    let new = NewCustomer {
        account_type: AccountType::Recruiter,
        username: Username::parse("grace").unwrap(),
        email: Email::parse("grace@acme.example").unwrap(),
        first_name: ShortName::parse("Grace").unwrap(),
        last_name: ShortName::parse("Hopper").unwrap(),
        preferred_language: Language::En,
    };
    Customer::invited(customer(1), samples::company().id, new, None, DateTime::UNIX_EPOCH)
}

#[test]
fn candidates_have_events_for_what_happens_to_them() {
    let before = candidate();
    let deadline = Some(DateTime::UNIX_EPOCH);
    assert_eq!(types_of(&before, |_| ()), [""; 0]);
    assert_eq!(types_of(&before, |after| after.session_epoch += 1), [""; 0]);
    assert_eq!(types_of(&before, |after| after.photo = Some(photo())), ["candidate.updated"]);
    assert_eq!(types_of(&before, |after| after.reminded_at = deadline), ["candidate.reminded"]);
    let types = types_of(&before, |after| {
        after.status = CandidateStatus::Invited;
        after.invited_at = deadline;
        after.profile.deadline = deadline;
        after.profile.first_name = ShortName::parse("Grace").unwrap();
    });
    assert_eq!(types, ["candidate.invited", "candidate.deadline_changed", "candidate.updated"]);
    let invited = Candidate { status: CandidateStatus::Invited, ..candidate() };
    assert_eq!(change(None, Some(&invited)).types, ["candidate.created", "candidate.invited"]);
    assert_eq!(change(None, Some(&before)).types, ["candidate.created"]);
    let shared = before.clone().shared_with(customer(2), Id::from_bytes([3; 16])).unwrap();
    assert_eq!(change(Some(&before), Some(&shared)).types, ["candidate.shared"]);
    assert_eq!(change(Some(&shared), Some(&before)).types, ["candidate.unshared"]);
    let deleted = change(Some(&before), None);
    assert_eq!(
        (deleted.types, deleted.details),
        (vec!["candidate.deleted".to_owned()], FieldChanges::default())
    );
}

fn photo() -> crate::media::file::StoredFile {
    let file_type = crate::media::file::FileType::Jpeg;
    crate::media::file::StoredFile { id: Id::from_bytes([5; 16]), file_type }
}

#[test]
fn drafts_have_no_event_and_completed_evaluations_have_one_each_time() {
    let at = DateTime::UNIX_EPOCH;
    let bit = evaluator_index().assign_bit(customer(1)).unwrap();
    let written = |completed, revision| {
        let mut candidate = candidate();
        candidate.evaluations.insert(customer(1), EvaluationReport { completed, at, bit });
        candidate.scores.insert(customer(1), ScoreNumbers { revision, ..ScoreNumbers::default() });
        candidate
    };
    let types = |before: &Candidate, after: &Candidate| change(Some(before), Some(after)).types;
    assert_eq!(types(&candidate(), &written(false, 1)), [""; 0]);
    assert_eq!(types(&written(false, 1), &written(false, 2)), [""; 0]);
    for (before, after) in [(written(false, 1), written(true, 2)), (written(true, 2), written(true, 3))] {
        assert_eq!(types(&before, &after), ["candidate.evaluated"]);
        assert_eq!(types(&after, &written(false, 4)), ["candidate.evaluated"]);
    }
    let completed = change(Some(&candidate()), Some(&written(true, 1))).details;
    assert_eq!(completed.added["evaluations"], BTreeSet::from([customer(1)]));
    assert_eq!(
        (&completed.previous["completed_evaluations"], &completed.facts["completed_evaluations"]),
        (&json!(0), &json!(1))
    );
}

#[test]
fn the_values_of_facts_are_kept_and_of_all_else_the_name() {
    let before = candidate();
    let mut after = before.clone();
    after.status = CandidateStatus::Interviewed;
    after.interviewed_at = DateTime::from_timestamp(0, 7);
    after.profile.email = Some(Email::parse("ada@mail.example").unwrap());
    let details = change(Some(&before), Some(&after)).details;
    let changed: Vec<&str> = details.changed.iter().map(String::as_str).collect();
    assert_eq!(changed, ["email", "email_status", "interviewdate", "status"]);
    let previous = json!({ "status": "new", "interviewdate": null, "email_status": "" });
    assert_eq!(json!(details.previous), previous);
    let facts = json!({
        "status": "interviewed", "interviewdate": "1970-01-01T00:00:00Z", "email_status": "deliverable",
        "completed_evaluations": 0,
    });
    assert_eq!(json!(details.facts), facts);
}

#[test]
fn projects_and_their_interviews_have_events() {
    let before = project();
    assert_eq!(change(None, Some(&before)).types, ["project.created"]);
    let (closed, _) = before.clone().move_to(ProjectStatus::Closed, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(change(Some(&before), Some(&closed)).types, ["project.status_changed"]);
    assert_eq!(types_of(&before, |after| after.evaluator_index = evaluator_index()), [""; 0]);
    let types = types_of(&before, |after| {
        after.staff.evaluators.insert(customer(1));
        after.settings.veto_enabled = true;
    });
    assert_eq!(types, ["project.staff_changed", "project.updated"]);
    let nothing = Questionnaire::new(before.company.clone(), before.id);
    let change = before.questionnaire_change(&nothing, &nothing);
    assert_eq!(change.types, ["project.updated"]);
    assert_eq!(change.details.facts["status"], json!(before.status));
    assert_eq!(change.resource.history_id(&before.company), before.id.to_string());
}

#[test]
fn customers_have_events() {
    let invited = staff_user();
    assert_eq!(change(None, Some(&invited)).types, ["customer.created"]);
    let confirmed = types_of(&invited, |after| after.status = CustomerStatus::Confirmed);
    assert_eq!(confirmed, ["customer.confirmed"]);
    assert_eq!(types_of(&invited, |after| after.is_active = false), ["customer.deactivated"]);
    let types = types_of(&invited, |after| after.account_type = AccountType::Admin);
    assert_eq!(types, ["customer.updated"]);
    assert_eq!(types_of(&invited, |after| after.one_time_key = None), [""; 0]);
}

#[test]
fn identifiers_of_events_are_read_as_they_are_written() {
    let origin = ChangeOrigin::new(ChangeAuthor::System, DateTime::from_timestamp(1_800_000_000, 5).unwrap());
    let entry = HistoryEntry::new(change(None, Some(&candidate())), 7, origin, TimeDelta::days(400));
    let id = entry.id().to_string();
    assert_eq!(id, format!("evt_{}_7_1800000000", candidate().id));
    assert_eq!(id.parse::<EventId>().unwrap(), entry.id());
    for wrong in ["", "evt_", "evt_a_1", "evt_a_x_1", "a_1_2"] {
        assert!(wrong.parse::<EventId>().is_err(), "{wrong}");
    }
}
