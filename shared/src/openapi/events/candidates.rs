//! Sample events of one candidate, from creation to erasure.

use super::sample::{EventSample, at, company, id};
use crate::domain::account::Creator;
use crate::domain::answers::{Answers, TakeTerms};
use crate::domain::candidate::{
    Cancellation, CancellationReason, Candidate, CandidateProfile, CandidateStatus, EndedByTime, HelpKind,
    HelpRequest, HelpText, Reopening, ReopeningReason,
};
use crate::domain::evaluation::EvaluationReport;
use crate::domain::evaluation::evaluator_index::EvaluatorIndex;
use crate::domain::history::erasure::{CopyRetention, ErasureCounts, ErasureDetails, ErasureReason};
use crate::domain::history::{ChangeAuthor, ResourceChange, ResourceRef};
use crate::domain::id::{CandidateId, CustomerId, ProjectId, TakeRef};
use crate::domain::language::Language;
use crate::domain::mail::suppression::{Suppression, SuppressionReason};
use crate::domain::media::conversion::{Conversion, ConversionResult};
use crate::domain::privacy::consent::CandidateConsent;
use crate::domain::privacy::erasure_request::ErasureRequest;
use crate::domain::privacy::hold::{CandidateHold, HoldReason};
use crate::domain::privacy::legal::LegalKind;
use crate::domain::questionnaire::{ANSWER_SECONDS, Anchors, Question, QuestionKind, QuestionText};
use crate::domain::text::{Email, ExternalId, ShortName, TextLine, TextLines};
use crate::http::example_uri;

/// At least one event of each type about candidates and their interviews.
pub(super) fn samples() -> Result<Vec<EventSample>, String> {
    let customer: CustomerId = id(example_uri::CUSTOMER)?;
    let project: ProjectId = id(example_uri::PROJECT)?;
    let candidate: CandidateId = id(example_uri::CANDIDATE)?;
    let [manager, itself] =
        [ChangeAuthor::Customer { customer }, ChangeAuthor::Candidate { project, candidate }];
    let system = ChangeAuthor::System;
    let company = company()?.id;

    let email = Email::parse("ada@example.com")?;
    let profile = CandidateProfile {
        email: Some(email.clone()),
        external_id: Some(ExternalId::parse("4711")?),
        ..CandidateProfile::new(ShortName::parse("Ada")?, ShortName::parse("Lovelace")?)
    };
    let new = Candidate::new(candidate, company.clone(), project, profile, Some(customer));
    let with_deadline = |deadline: &str, of: &Candidate| -> Result<Candidate, String> {
        let profile = CandidateProfile { deadline: Some(at(deadline)?), ..of.profile.clone() };
        Ok(Candidate { profile, ..of.clone() })
    };
    let invited = Candidate {
        status: CandidateStatus::Invited,
        invited_at: Some(at("2026-11-02T09:05:00Z")?),
        ..with_deadline("2026-12-24T17:00:00Z", &new)?
    };
    let opened = Candidate { opened_at: Some(at("2026-11-08T22:18:00Z")?), ..invited.clone() };
    let confirmed = Candidate {
        status: CandidateStatus::Confirmed,
        confirmed_at: Some(at("2026-11-08T22:20:00Z")?),
        ..opened.clone()
    };
    let interviewing = Candidate {
        status: CandidateStatus::Interviewing,
        started_at: Some(at("2026-11-08T22:30:00Z")?),
        ..confirmed.clone()
    };
    let interviewed_at = at("2026-11-08T22:59:00Z")?;
    let interviewed = Candidate {
        status: CandidateStatus::Interviewed,
        interviewed_at: Some(interviewed_at),
        ..interviewing.clone()
    };
    let reopening = Reopening {
        reason: ReopeningReason::parse("The second answer has no sound.")?,
        message: None,
        reopened_at: at("2026-11-09T08:00:00Z")?,
        count: 1,
        was_complete: true,
    };
    let reopened = Candidate {
        status: CandidateStatus::Interviewing,
        interviewed_at: None,
        reopening: Some(reopening),
        ..interviewed.clone()
    };
    let cancellation = Cancellation {
        reason: CancellationReason::parse("The position is filled.")?,
        at: at("2026-11-08T22:45:00Z")?,
        by: Some(Creator::Customer(customer)),
    };
    let cancelled = Candidate {
        status: CandidateStatus::Skipped,
        cancellation: Some(cancellation),
        ..interviewing.clone()
    };
    let asked_at = at("2026-11-08T22:25:00Z")?;
    let request = HelpRequest::new(HelpKind::Time, HelpText::parse("My exam is on the same day.")?, asked_at);
    let answer = Some(HelpText::parse("You have until Friday.")?);
    let replied = HelpRequest { answered_at: Some(interviewed_at), answer, ..request.clone() };
    let [asking, replied] =
        [request, replied].map(|request| Candidate { help_request: Some(request), ..invited.clone() });
    let ended_at = at("2026-11-08T23:15:00Z")?;
    let aborted = Candidate {
        status: CandidateStatus::Aborted,
        aborted_at: Some(ended_at),
        ended_by_time: Some(EndedByTime { ended_at, answered: 2, questions: 3 }),
        ..interviewing.clone()
    };
    let bit = EvaluatorIndex::default().assign_bit(customer).map_err(|refusal| refusal.detail)?;
    let evaluated = Candidate {
        evaluations: [(customer, EvaluationReport { completed: true, at: interviewed_at, bit })].into(),
        ..interviewed.clone()
    };
    let shared = Candidate { shares: [(id(example_uri::SHARE)?, customer)].into(), ..interviewed.clone() };
    let link_ends_at = at("2026-11-22T09:00:00Z")?;
    let linked = Candidate {
        guest_links: [(id(example_uri::GUEST_LINK)?, link_ends_at)].into(),
        ..interviewed.clone()
    };
    let bounced = SuppressionReason::Bounced;
    let suppression = Suppression::after_report(None, Some(&email), email.as_str(), bounced);
    let undeliverable = Candidate { suppression, ..invited.clone() };
    let requested = ErasureRequest::new(30, interviewed_at);
    let requested = Candidate { erasure_request: Some(requested), ..interviewed.clone() };
    let consent = CandidateConsent {
        version: 3,
        language: Language::En,
        obtained_at: at("2026-11-08T22:20:00Z")?,
        recorded_by: itself,
        withdrawn_at: None,
    };
    let withdrawn = CandidateConsent { withdrawn_at: Some(interviewed_at), ..consent.clone() };
    let [consented, unconsented] = [consent, withdrawn]
        .map(|consent| Candidate { consents: [(LegalKind::Consent, consent)].into(), ..invited.clone() });
    let hold = CandidateHold { reason: HoldReason::parse("A lawsuit.")?, until: None };
    let held = Candidate { hold: Some(hold), ..interviewed.clone() };
    let phone = TextLine::parse("+44 20 7946 0000")?;
    let updated =
        Candidate { profile: CandidateProfile { phone, ..invited.profile.clone() }, ..invited.clone() };
    let expired = Candidate { status: CandidateStatus::Expired, ..invited.clone() };
    let skipped = Candidate { status: CandidateStatus::Skipped, ..invited.clone() };
    let postponed = with_deadline("2026-12-31T17:00:00Z", &invited)?;
    let reminded = Candidate { reminded_at: Some(interviewed_at), ..invited.clone() };

    let told = [
        (manager, None, Some(&new)),
        (manager, Some(&new), Some(&invited)),
        (itself, Some(&invited), Some(&opened)),
        (itself, Some(&opened), Some(&confirmed)),
        (itself, Some(&confirmed), Some(&interviewing)),
        (itself, Some(&interviewing), Some(&interviewed)),
        (manager, Some(&interviewed), Some(&reopened)),
        (system, Some(&interviewing), Some(&aborted)),
        (system, Some(&invited), Some(&expired)),
        (manager, Some(&interviewing), Some(&cancelled)),
        (manager, Some(&invited), Some(&skipped)),
        (manager, Some(&invited), Some(&postponed)),
        (manager, Some(&invited), Some(&reminded)),
        (itself, Some(&invited), Some(&asking)),
        (manager, Some(&asking), Some(&replied)),
        (manager, Some(&interviewed), Some(&evaluated)),
        (manager, Some(&interviewed), Some(&shared)),
        (manager, Some(&shared), Some(&interviewed)),
        (manager, Some(&interviewed), Some(&linked)),
        (manager, Some(&linked), Some(&interviewed)),
        (system, Some(&invited), Some(&undeliverable)),
        (itself, Some(&interviewed), Some(&requested)),
        (itself, Some(&requested), Some(&interviewed)),
        (itself, Some(&invited), Some(&consented)),
        (itself, Some(&consented), Some(&unconsented)),
        (manager, Some(&interviewed), Some(&held)),
        (manager, Some(&held), Some(&interviewed)),
        (manager, Some(&invited), Some(&updated)),
        (manager, Some(&interviewed), None),
    ];
    let told = told.into_iter().filter_map(|(by, before, after)| EventSample::of(by, before, after));

    let erased = ErasureCounts { items: 17, evaluations: 2, history_entries: 8, files: 2, bytes: 183_422 };
    let erasure = ErasureDetails { reason: ErasureReason::Deleted, erased };
    let copies = CopyRetention { recovery_days: 35, log_days: 90 };
    let resource = ResourceRef::Candidate { project, candidate };
    let erasure = ResourceChange::of_erasure(&company, resource, erasure, interviewed_at, copies);

    let conversions = conversions(&interviewing)?.into_iter().flatten();
    let by_service = [(9, erasure)].into_iter().chain(conversions.map(|change| (3, change)));
    let by_service = by_service.map(|(version, change)| EventSample::new(system, version, change));
    let captioned = captioning(&interviewing)?.map(|change| EventSample::new(manager, 4, change));
    Ok(told.chain(by_service).chain(captioned).collect())
}

/// The first take of a question, and the answers of a candidate who has begun that take.
fn begun(candidate: &Candidate) -> Result<(TakeRef, Answers), String> {
    let question = Question {
        id: id(example_uri::QUESTION)?,
        revision: 1,
        position: 1,
        text: QuestionText::parse("Which project are you most proud of?")?,
        former_texts: Vec::new(),
        kind: QuestionKind::Video,
        video: None,
        preparation_seconds: None,
        answer_seconds: ANSWER_SECONDS,
        takes: None,
        is_required: true,
        internal_description: TextLines::default(),
        anchors: Anchors::default(),
    };
    let terms = TakeTerms::of(candidate);
    let begun = Answers::of(candidate).begin_take(&question, &terms, &[], at("2026-11-08T22:55:00Z")?);
    let begun = begun.map_err(|refusal| refusal.detail)?;
    Ok((TakeRef { question: question.id, number: 1 }, begun))
}

fn converted() -> Conversion {
    Conversion::succeeded(ConversionResult { seconds: 87, width: 1280, height: 720 })
}

/// The changes of a candidate's interview after a successful and after a failed conversion.
fn conversions(candidate: &Candidate) -> Result<[Option<ResourceChange>; 2], String> {
    let (take, begun) = begun(candidate)?;
    let ends = [converted(), Conversion::failed("The recording has no picture.")];
    Ok(ends.map(|end| {
        let ended = begun.clone().with_take(take, |take| take.end_conversion(end));
        Answers::change_between(Some(&begun), Some(&ended))
    }))
}

/// The change of a candidate's interview when captions are added.
fn captioning(candidate: &Candidate) -> Result<Option<ResourceChange>, String> {
    let (take, begun) = begun(candidate)?;
    let answered = begun.with_take(take, |take| take.end_conversion(converted()));
    let captioned = answered.clone().with_captions(take, Language::En, "a digest".to_owned());
    Ok(Answers::change_between(Some(&answered), Some(&captioned)))
}
