use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::*;
use crate::company::Company;
use crate::language::Language;
use crate::privacy::consent::{NOT_CURRENT, OTHER_LANGUAGE};
use crate::privacy::legal::{LegalDraft, LegalWording};
use crate::samples;

const CONSENT: LegalKind = LegalKind::Consent;
const BY: ChangeAuthor = ChangeAuthor::System;

fn now() -> DateTime<Utc> {
    "2026-11-08T10:00:00.250Z".parse().unwrap()
}

fn days_ago(days: i64) -> DateTime<Utc> {
    now().trunc_subsecs(0) - TimeDelta::days(days)
}

/// A company with this number of versions of the consent, all only in German.
fn company(versions: u32) -> Company {
    (0..versions).fold(samples::company(), |company, _| {
        let texts = BTreeMap::from([(Language::De, LegalWording::parse("Ja.").unwrap())]);
        company.publish(LegalDraft { kind: CONSENT, texts, is_required: true }, now()).unwrap().0
    })
}

fn statement(version: u32, obtained_at: Option<DateTime<Utc>>) -> ConsentStatement {
    ConsentStatement { text: LegalTextId { kind: CONSENT, version }, language: Language::De, obtained_at }
}

fn record(
    candidate: &Candidate,
    company: &Company,
    statement: ConsentStatement,
) -> Result<Candidate, ConsentProblem> {
    candidate.clone().with_consent(statement, &company.legal, BY, now())
}

#[test]
fn a_given_consent_is_to_the_current_version_in_one_of_its_languages() {
    let company = company(3);
    let candidate = samples::candidate();
    for version in [0, 1, 2, 4] {
        assert_eq!(record(&candidate, &company, statement(version, None)), Err(NOT_CURRENT), "{version}");
    }
    let english = ConsentStatement { language: Language::En, ..statement(3, None) };
    assert_eq!(record(&candidate, &company, english), Err(OTHER_LANGUAGE));
    let after = record(&candidate, &company, statement(3, None)).unwrap();
    assert_eq!(after.standing_consent(CONSENT).unwrap().obtained_at, now().trunc_subsecs(0));
    assert!(
        after.has_accepted(&company.legal.required()) && !candidate.has_accepted(&company.legal.required())
    );
}

#[test]
fn a_consent_obtained_elsewhere_may_be_to_an_earlier_version_which_it_stays() {
    let company = company(3);
    let candidate = samples::candidate();
    for version in [0, 4] {
        let unknown = statement(version, Some(days_ago(9)));
        assert_eq!(record(&candidate, &company, unknown), Err(NOT_CURRENT), "{version}");
    }
    let after = record(&candidate, &company, statement(2, Some(days_ago(9)))).unwrap();
    assert!(!after.has_accepted(&company.legal.required()));
    let after = record(&after, &company, statement(3, Some(days_ago(8)))).unwrap();
    assert!(after.has_accepted(&company.legal.required()));
    assert_eq!(record(&after, &company, statement(2, Some(days_ago(1)))), Err(SUPERSEDED));
    assert_eq!(
        record(&candidate, &company, statement(3, Some(now() + TimeDelta::seconds(1)))),
        Err(IN_FUTURE)
    );
}

#[test]
fn to_record_a_consent_again_changes_nothing_and_another_date_corrects_it() {
    let company = company(1);
    let after = record(&samples::candidate(), &company, statement(1, Some(days_ago(2)))).unwrap();
    for same in [None, Some(days_ago(2))] {
        assert_eq!(record(&after, &company, statement(1, same)).unwrap(), after, "{same:?}");
    }
    let corrected = record(&after, &company, statement(1, Some(days_ago(3)))).unwrap();
    assert_eq!(corrected.standing_consent(CONSENT).unwrap().obtained_at, days_ago(3));
}

#[test]
fn a_withdrawn_consent_is_not_brought_back_by_an_older_record() {
    let company = company(1);
    let given = record(&samples::candidate(), &company, statement(1, Some(days_ago(5)))).unwrap();
    let withdrawn = given.without_consent(CONSENT, days_ago(3));
    assert_eq!(withdrawn.standing_consents().count(), 0);
    assert!(!withdrawn.has_accepted(&company.legal.required()));
    assert_eq!(withdrawn.clone().without_consent(CONSENT, now()), withdrawn, "withdrawn once");
    for at in [days_ago(5), days_ago(3)] {
        assert_eq!(record(&withdrawn, &company, statement(1, Some(at))), Err(WITHDRAWN));
    }
    for later in [None, Some(days_ago(1))] {
        let again = record(&withdrawn, &company, statement(1, later)).unwrap();
        assert!(again.has_accepted(&company.legal.required()), "{later:?}");
    }
}
