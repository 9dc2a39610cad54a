//! Archives have every attribute of every stored type, and the description of the format names them.

use std::collections::BTreeSet;

use shared::domain::archive::RecordKind;
use tests::app::TestApp;

use super::Archive;
use super::content::everything;
use super::stored_types::{Shape, StoredTypes};

/// The description of the format.
const FORMAT: &str = include_str!("../../../../functions/PORTABILITY.md");
/// The folders that declare the types of what is stored, and of receipts.
const SOURCES: [&str; 2] = ["shared/domain/src", "shared/src/http"];
/// Attributes that no value of the company of these tests has, each with the reason.
const WITHOUT_VALUES: [(RecordKind, &str, &str); 2] = [
    (
        RecordKind::Videos,
        "author.claim.account.candidate",
        "candidates send photos and CVs, no welcome videos",
    ),
    (RecordKind::Videos, "author.claim.account.project", "with the candidate"),
];

/// The name of the type whose values are the records of a kind; `None` for counts, which no type declares as they are stored.
fn type_of(kind: RecordKind) -> Option<&'static str> {
    Some(match kind {
        RecordKind::AnswerCaptions => "AnswerCaptions",
        RecordKind::Answers => "Answers",
        RecordKind::Candidates => "Candidate",
        RecordKind::Captions => "Captions",
        RecordKind::Company => "Company",
        RecordKind::Customers => "Customer",
        RecordKind::Evaluations => "Evaluation",
        RecordKind::Events => "HistoryEntry",
        RecordKind::GuestLinks => "GuestLink",
        RecordKind::Labels => "Label",
        RecordKind::LegalTexts => "LegalText",
        RecordKind::Logos => "Logo",
        RecordKind::Projects => "Project",
        RecordKind::Questionnaires => "Questionnaire",
        RecordKind::ReceiptKeys => "ReceiptKeyView",
        RecordKind::Receipts => "ReceiptView",
        RecordKind::Retention => "RetentionPolicy",
        RecordKind::SignIn => "SignInSettings",
        RecordKind::Statistics => return None,
        RecordKind::Tokens => "NamedToken",
        RecordKind::Usage => "UsageCounts",
        RecordKind::Videos => "Video",
        RecordKind::Webhooks => "Webhook",
        RecordKind::WrittenAnswers => "WrittenAnswer",
    })
}

/// The attributes that records of a kind can have.
fn shape_of(kind: RecordKind, types: &StoredTypes) -> Shape {
    let mut shape = match type_of(kind) {
        Some(name) => types.shape_of(name),
        None => Shape::of_names(["has_begun", "…"]),
    };
    kind.left_out().iter().for_each(|path| shape.remove(path));
    shape
}

/// The attributes that the description of the format lists for a kind.
fn described(kind: RecordKind) -> BTreeSet<String> {
    let start = format!("\n| `{}` |", kind.name());
    let (_, rest) = FORMAT.rsplit_once(&start).unwrap_or_else(|| panic!("{} is not described", kind.name()));
    let attributes = rest.split('|').next().unwrap();
    attributes.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The lines that `differences` has for some kinds.
fn assert_none(differences: impl Fn(RecordKind, &Shape) -> [(&'static str, Vec<String>); 2]) {
    let types = StoredTypes::declared_in(&SOURCES);
    let mut wrong = String::new();
    for kind in RecordKind::ALL {
        for (problem, names) in differences(kind, &shape_of(kind, &types)) {
            if !names.is_empty() {
                wrong += &format!("{}: {problem}: `{}`\n", kind.name(), names.join("`, `"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_description_of_the_format_names_every_attribute_of_every_type() {
    assert_none(|kind, shape| {
        let (described, declared) = (described(kind), shape.paths());
        let lacks = declared.difference(&described).cloned().collect();
        [
            ("the description lacks", lacks),
            ("no type has", described.difference(&declared).cloned().collect()),
        ]
    });
}

/// A company that lacks an attribute proves nothing about it in the tests of exports and imports.
#[tokio::test(flavor = "multi_thread")]
async fn the_company_of_these_tests_has_a_value_of_every_attribute() {
    let app = TestApp::start().await;
    everything(&app).await;
    let archive = Archive::of(&app).await;
    archive.assert_whole();
    assert!(archive.result.is_exact);
    assert_none(|kind, shape| {
        let mut found = BTreeSet::new();
        for record in archive.of_kind(kind).values() {
            shape.find(&record["value"], &mut found);
        }
        let excused = WITHOUT_VALUES.iter().filter(|(of, ..)| *of == kind);
        let excused: BTreeSet<String> = excused.map(|(_, path, _)| (*path).to_owned()).collect();
        let lacking: BTreeSet<String> = shape.paths().difference(&found).cloned().collect();
        [
            ("no record has a value of", lacking.difference(&excused).cloned().collect()),
            ("the list of those without values has", excused.difference(&lacking).cloned().collect()),
        ]
    });
}
