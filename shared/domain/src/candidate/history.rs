//! The events and facts with which the history records changes of a candidate.

use std::collections::BTreeMap;

use super::{Candidate, CandidateProfile, CandidateStatus};
use crate::history::{
    EventType, FieldChanges, FieldValue, HasHistory, ResourceRef, customers, events_that_apply, facts,
    private,
};
use crate::id::CompanyId;
use crate::mail::suppression::EmailStatus;
use crate::privacy::legal::LegalKind;
use crate::text::ExternalId;
use crate::timestamp::Timestamp;

/// The fields whose changes have specific events.
const WITH_OWN_EVENT: [&str; 18] = [
    "status",
    "deadline",
    "invitationdate",
    "opened_at",
    "confirmationdate",
    "interviewdate",
    "ended_by_time",
    "email_status",
    "completed_evaluations",
    "evaluations",
    "shares",
    "is_on_hold",
    "erasure_due_at",
    "consents",
    "reopening",
    "cancellation",
    "help_request",
    "guest_links",
];

facts! {
    /// The facts of a candidate: values that events about the candidate contain.
    pub struct CandidateFacts {
        /// The candidate's status.
        status: CandidateStatus,
        /// When the time for the interview ends; null without a deadline.
        deadline: Option<Timestamp>,
        /// When the candidate was last invited; null before the first invitation.
        invitationdate: Option<Timestamp>,
        /// When the candidate first opened the interview, to the minute; null before.
        opened_at: Option<Timestamp>,
        /// When the invitation was accepted; null before.
        confirmationdate: Option<Timestamp>,
        /// When the interview was completed; null while it is not complete.
        interviewdate: Option<Timestamp>,
        /// True if the interview's time ended after the candidate had answered something but before the interview was complete;
        /// null otherwise.
        ended_by_time: Option<bool>,
        /// Whether mails reach the candidate's email address.
        email_status: EmailStatus,
        /// False while the candidate has yet to confirm a new email address; null otherwise.
        email_confirmed: Option<bool>,
        /// The number of completed evaluations.
        completed_evaluations: usize,
        /// When the service will erase the candidate because erasure was requested; null without a request.
        erasure_due_at: Option<Timestamp>,
        /// For each kind of legal text, the version that the candidate has accepted; null if they have accepted none.
        consents: Option<BTreeMap<LegalKind, u32>>,
    }
}

impl HasHistory for Candidate {
    const CREATED: EventType = EventType::CandidateCreated;
    const UPDATED: Option<EventType> = Some(EventType::CandidateUpdated);
    const DELETED: Option<EventType> = Some(EventType::CandidateDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Candidate { project: self.project, candidate: self.id })
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.profile.external_id.as_ref()
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            status, profile, invited_at, opened_at, confirmed_at, interviewed_at, shares, password_hash, photo, cv,
            hold, erasure_request, ended_by_time, reopening, cancellation, help_request, guest_links, pending_email, consents: _,
            // Adjustments hint at the candidate's health, so the history does not even keep the field's name.
            adjustments: _,
            // Recorded by the identifiers, by events, or by other fields.
            id: _, company: _, project: _, created_by: _, reminded_at: _, reminders: _, mailed_at: _, evaluations: _, scores: _, suppression: _,
            // Internal.
            interview: _, started_at: _, aborted_at: _, expired_at: _, skipped_at: _, mail_rate: _, own_changes: _, help_asked: _,
            links_mailed: _, access_key: _,
            is_key_mailed: _, former_keys: _, session_epoch: _, one_time_key: _,
            email_keys: _,
        } = self;
        let CandidateProfile {
            first_name, last_name, username, email: _, external_id, deadline, phone, gender, address, partner_data, language, receive_mails,
        } = profile;
        let completed_by = self.completed_by();
        let facts = CandidateFacts {
            status: *status,
            deadline: deadline.map(Timestamp),
            invitationdate: invited_at.map(Timestamp),
            opened_at: opened_at.map(Timestamp),
            confirmationdate: confirmed_at.map(Timestamp),
            interviewdate: interviewed_at.map(Timestamp),
            // Null instead of false, which every event of other candidates would carry.
            ended_by_time: ended_by_time.map(|_| true),
            email_status: self.email_status(),
            // Null instead of true, which every event of a new candidate would carry.
            email_confirmed: pending_email.as_ref().map(|_| false),
            completed_evaluations: completed_by.len(),
            erasure_due_at: erasure_request.map(|request| Timestamp(request.due_at)),
            consents: accepted(self),
        };
        let others = [
            ("evaluations", customers(&completed_by)),
            ("shares", customers(shares.values())),
            // Named as in the API. The hold's reason may name people.
            ("is_on_hold", private(hold)),
            // The reasons for these may name people, too.
            ("reopening", private(reopening)),
            ("cancellation", private(cancellation)),
            // The candidate's own words may be about their health, so not even the kind is recorded.
            ("help_request", private(help_request)),
            ("guest_links", private(guest_links)),
            ("first_name", private(first_name)),
            ("last_name", private(last_name)),
            ("username", private(username)),
            ("email", private(&self.shown_email())),
            ("external_id", private(external_id)),
            ("phone", private(phone)),
            ("gender", private(gender)),
            ("address", private(address)),
            ("partner_data", private(partner_data)),
            ("language", private(language)),
            ("receive_mails", private(receive_mails)),
            ("password", private(password_hash)),
            ("photo", private(photo)),
            ("cv", private(cv)),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }

    fn events(before: Option<&Self>, after: &Self, changes: &FieldChanges) -> Vec<EventType> {
        let has_moved = before.is_none_or(|before| before.status != after.status);
        let is_reopened = before.is_some_and(|before| before.reopening != after.reopening);
        let moved = if is_reopened { Some(EventType::CandidateReopened) } else { arrival(after.status) };
        let is_cancelled = before.is_some_and(|before| before.cancellation != after.cancellation);
        let mut events: Vec<EventType> =
            is_cancelled.then_some(EventType::CandidateCancelled).into_iter().collect();
        events.extend(moved.filter(|_| has_moved));
        events.extend(has_consented(before, after).then_some(EventType::CandidateConsented));
        let Some(before) = before else { return events };
        let is_undeliverable = matches!(after.email_status(), EmailStatus::Bounced | EmailStatus::Complained);
        // Receivers of `candidate.undeliverable` must learn that the operator allows mails again.
        let is_deliverable_again = changes.has("email_status") && !is_undeliverable;
        events.extend(events_that_apply([
            (before.opened_at.is_none() && after.opened_at.is_some(), EventType::CandidateOpened),
            (changes.has("deadline"), EventType::CandidateDeadlineChanged),
            (before.reminded_at != after.reminded_at, EventType::CandidateReminded),
            (has_requested_help(before, after), EventType::CandidateHelpRequested),
            (was_help_answered(before, after), EventType::CandidateHelpAnswered),
            (was_evaluated(before, after), EventType::CandidateEvaluated),
            (changes.added.contains_key("shares"), EventType::CandidateShared),
            (changes.removed.contains_key("shares"), EventType::CandidateUnshared),
            (has_new_guest_link(before, after), EventType::CandidateGuestLinkCreated),
            (has_lost_guest_link(before, after), EventType::CandidateGuestLinkDeleted),
            (changes.has("email_status") && is_undeliverable, EventType::CandidateUndeliverable),
            (
                before.erasure_request.is_none() && after.erasure_request.is_some(),
                EventType::CandidateErasureRequested,
            ),
            (
                before.erasure_request.is_some() && after.erasure_request.is_none(),
                EventType::CandidateErasureWithdrawn,
            ),
            (has_withdrawn(before, after), EventType::CandidateConsentWithdrawn),
            (after.hold.is_some() && before.hold != after.hold, EventType::CandidateHeld),
            (before.hold.is_some() && after.hold.is_none(), EventType::CandidateReleased),
            (is_deliverable_again || changes.has_other_than(&WITH_OWN_EVENT), EventType::CandidateUpdated),
        ]));
        events
    }
}

/// The version of each kind of legal text that the candidate has accepted. Together with the author and time of the entry, it is
/// the proof of the consent.
fn accepted(candidate: &Candidate) -> Option<BTreeMap<LegalKind, u32>> {
    let versions: BTreeMap<_, _> =
        candidate.standing_consents().map(|(kind, consent)| (kind, consent.version)).collect();
    // Null instead of an empty map, which every event of the candidate would carry.
    (!versions.is_empty()).then_some(versions)
}

/// Whether a consent was recorded or changed.
fn has_consented(before: Option<&Candidate>, after: &Candidate) -> bool {
    let known = |kind| before.and_then(|before| before.standing_consent(kind));
    after.standing_consents().any(|(kind, consent)| known(kind) != Some(consent))
}

/// Whether a standing consent was withdrawn.
fn has_withdrawn(before: &Candidate, after: &Candidate) -> bool {
    before.standing_consents().any(|(kind, _)| after.standing_consent(kind).is_none())
}

/// Whether the candidate has asked for help, or has replaced an open request.
fn has_requested_help(before: &Candidate, after: &Candidate) -> bool {
    let asked_at = |candidate: &Candidate| candidate.open_help_request().map(|request| request.asked_at);
    asked_at(after).is_some() && asked_at(before) != asked_at(after)
}

/// Whether the company has answered the candidate's request, in words or by an action.
fn was_help_answered(before: &Candidate, after: &Candidate) -> bool {
    let has_answer = after.help_request.as_ref().is_some_and(|request| !request.is_open());
    has_answer && before.help_request != after.help_request
}

fn has_new_guest_link(before: &Candidate, after: &Candidate) -> bool {
    after.guest_links.keys().any(|link| !before.guest_links.contains_key(link))
}

/// Whether a link was deleted. Adding a link also drops links that ended long ago, which is no deletion.
fn has_lost_guest_link(before: &Candidate, after: &Candidate) -> bool {
    after.guest_links.len() < before.guest_links.len() && !has_new_guest_link(before, after)
}

/// The event of a move to `status`.
fn arrival(status: CandidateStatus) -> Option<EventType> {
    match status {
        CandidateStatus::New => None,
        CandidateStatus::Invited => Some(EventType::CandidateInvited),
        CandidateStatus::Confirmed => Some(EventType::CandidateConfirmed),
        CandidateStatus::Interviewing => Some(EventType::CandidateInterviewing),
        CandidateStatus::Interviewed => Some(EventType::CandidateInterviewed),
        CandidateStatus::Expired => Some(EventType::CandidateExpired),
        CandidateStatus::Aborted => Some(EventType::CandidateAborted),
        CandidateStatus::Skipped => Some(EventType::CandidateSkipped),
    }
}

/// Whether an evaluation was completed, changed afterwards or taken back, or its author has vetoed.
fn was_evaluated(before: &Candidate, after: &Candidate) -> bool {
    // Drafts have no event: others must not learn that someone is writing.
    before.evaluations.keys().chain(after.evaluations.keys()).any(|by| {
        let is_completed = before.completed_at(*by).or(after.completed_at(*by)).is_some();
        is_completed
            && (before.evaluations.get(by) != after.evaluations.get(by)
                || before.scores.get(by) != after.scores.get(by))
    })
}
