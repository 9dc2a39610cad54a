//! The events that changes lead to.

use super::FieldChanges;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::customer::{Customer, CustomerStatus};
use crate::domain::names::named;
use crate::domain::suppression::EmailStatus;
use crate::domain::video::{ConversionStatus, Video};
use crate::domain::webhook::Webhook;

named! {
    /// What an event tells.
    pub enum EventType {
        /// A candidate was created.
        CandidateCreated = "candidate.created",
        /// A candidate was invited, perhaps again.
        CandidateInvited = "candidate.invited",
        /// A candidate has accepted the invitation, or may start again.
        CandidateConfirmed = "candidate.confirmed",
        /// A candidate has started the interview.
        CandidateInterviewing = "candidate.interviewing",
        /// A candidate has completed the interview.
        CandidateInterviewed = "candidate.interviewed",
        /// A candidate has started but did not complete the interview.
        CandidateAborted = "candidate.aborted",
        /// A candidate has missed the deadline.
        CandidateExpired = "candidate.expired",
        /// A manager has withdrawn a candidate.
        CandidateSkipped = "candidate.skipped",
        /// A candidate's deadline was set, moved or removed.
        CandidateDeadlineChanged = "candidate.deadline_changed",
        /// A manager has reminded a candidate.
        CandidateReminded = "candidate.reminded",
        /// An evaluation of a candidate was completed, changed afterwards or taken back, or an evaluator has vetoed.
        CandidateEvaluated = "candidate.evaluated",
        /// A candidate was shared with a customer.
        CandidateShared = "candidate.shared",
        /// A share of a candidate was deleted.
        CandidateUnshared = "candidate.unshared",
        /// Mails to a candidate bounced or were reported as spam.
        CandidateUndeliverable = "candidate.undeliverable",
        /// Other fields of a candidate were changed, files and the password among them.
        CandidateUpdated = "candidate.updated",
        /// A candidate was deleted with all their data.
        CandidateDeleted = "candidate.deleted",
        /// Everything that was left of a deleted candidate was erased: files, evaluations, and what their events had said.
        CandidateErased = "candidate.erased",
        /// A project was created.
        ProjectCreated = "project.created",
        /// Settings, questions or criteria of a project were changed.
        ProjectUpdated = "project.updated",
        /// A project has another status.
        ProjectStatusChanged = "project.status_changed",
        /// Customers were given roles in a project, or lost them.
        ProjectStaffChanged = "project.staff_changed",
        /// A customer was created.
        CustomerCreated = "customer.created",
        /// A customer has chosen the first password.
        CustomerConfirmed = "customer.confirmed",
        /// Fields of a customer were changed, the photo and the password among them.
        CustomerUpdated = "customer.updated",
        /// A customer may log in again.
        CustomerActivated = "customer.activated",
        /// A customer may no longer log in.
        CustomerDeactivated = "customer.deactivated",
        /// A customer was deleted with all their data.
        CustomerDeleted = "customer.deleted",
        /// A welcome video was created.
        VideoCreated = "video.created",
        /// A welcome video can be played.
        VideoConverted = "video.converted",
        /// The upload or the conversion of a welcome video has failed.
        VideoFailed = "video.failed",
        /// Fields of a welcome video were changed.
        VideoUpdated = "video.updated",
        /// A welcome video was deleted.
        VideoDeleted = "video.deleted",
        /// A label was created.
        LabelCreated = "label.created",
        /// The text of a label was changed.
        LabelUpdated = "label.updated",
        /// A label was deleted.
        LabelDeleted = "label.deleted",
        /// A named token was created.
        TokenCreated = "token.created",
        /// A named token was deleted.
        TokenDeleted = "token.deleted",
        /// The company was created.
        CompanyCreated = "company.created",
        /// Settings of the company were changed.
        CompanyUpdated = "company.updated",
        /// A webhook was created.
        WebhookCreated = "webhook.created",
        /// Fields of a webhook were changed, its secret among them, or it was enabled.
        WebhookUpdated = "webhook.updated",
        /// A webhook was disabled, by a client or since it has failed for too long.
        WebhookDisabled = "webhook.disabled",
        /// A webhook was deleted.
        WebhookDeleted = "webhook.deleted",
        /// A test event, which is sent to one webhook and is not part of the feed.
        WebhookPing = "webhook.ping",
    }
}

use EventType as Event;

/// Those events whose condition holds.
fn when<const N: usize>(events: [(bool, Event); N]) -> Vec<Event> {
    events.into_iter().filter(|(holds, _)| *holds).map(|(_, event)| event).collect()
}

/// The event of a candidate's move to `status`.
fn arrival(status: CandidateStatus) -> Option<Event> {
    match status {
        CandidateStatus::New => None,
        CandidateStatus::Invited => Some(Event::CandidateInvited),
        CandidateStatus::Confirmed => Some(Event::CandidateConfirmed),
        CandidateStatus::Interviewing => Some(Event::CandidateInterviewing),
        CandidateStatus::Interviewed => Some(Event::CandidateInterviewed),
        CandidateStatus::Expired => Some(Event::CandidateExpired),
        CandidateStatus::Aborted => Some(Event::CandidateAborted),
        CandidateStatus::Skipped => Some(Event::CandidateSkipped),
    }
}

/// The events of a candidate who becomes `after`; `before` is none for a new one.
pub(super) fn of_candidate(
    before: Option<&Candidate>,
    after: &Candidate,
    details: &FieldChanges,
) -> Vec<Event> {
    let arrived = arrival(after.status).filter(|_| before.is_none_or(|before| before.status != after.status));
    let Some(before) = before else { return [Event::CandidateCreated].into_iter().chain(arrived).collect() };
    let is_undeliverable = matches!(after.email_status(), EmailStatus::Bounced | EmailStatus::Complained);
    let others = when([
        (details.has_changed("deadline"), Event::CandidateDeadlineChanged),
        (before.reminded_at != after.reminded_at, Event::CandidateReminded),
        (was_evaluated(before, after), Event::CandidateEvaluated),
        (details.added.contains_key("shares"), Event::CandidateShared),
        (details.removed.contains_key("shares"), Event::CandidateUnshared),
        (details.has_changed("email_status") && is_undeliverable, Event::CandidateUndeliverable),
        (details.has_changed_besides(&TOLD_OF_CANDIDATES), Event::CandidateUpdated),
    ]);
    arrived.into_iter().chain(others).collect()
}

/// The fields of a candidate whose changes have events of their own.
const TOLD_OF_CANDIDATES: [&str; 9] = [
    "status",
    "deadline",
    "invitationdate",
    "confirmationdate",
    "interviewdate",
    "email_status",
    "completed_evaluations",
    "evaluations",
    "shares",
];

/// Whether an evaluation that is or was completed has changed, or a veto was cast. Drafts have no event.
fn was_evaluated(before: &Candidate, after: &Candidate) -> bool {
    let everyone = before.evaluations.keys().chain(after.evaluations.keys());
    let written = |one: &Candidate, by| (one.evaluations.get(&by).copied(), one.scores.get(&by).cloned());
    everyone.copied().any(|by| {
        let is_completed = before.completed_at(by).or(after.completed_at(by)).is_some();
        is_completed && written(before, by) != written(after, by)
    })
}

/// The events of a changed project.
pub(super) fn of_project(details: &FieldChanges) -> Vec<Event> {
    let staff = ["interview_managers", "evaluators", "reviewers"];
    if details.has_changed("status") {
        return vec![Event::ProjectStatusChanged];
    }
    when([
        (staff.iter().any(|role| details.has_changed(role)), Event::ProjectStaffChanged),
        (details.has_changed_besides(&staff), Event::ProjectUpdated),
    ])
}

/// The events of a customer who becomes `after`; `before` is none for a new one.
pub(super) fn of_customer(before: Option<&Customer>, after: &Customer, details: &FieldChanges) -> Vec<Event> {
    let is_confirmed = |one: &Customer| one.status == CustomerStatus::Confirmed;
    let confirmed = is_confirmed(after) && !before.is_some_and(is_confirmed);
    let Some(before) = before else {
        return when([(true, Event::CustomerCreated), (confirmed, Event::CustomerConfirmed)]);
    };
    // The first password is part of the confirmation.
    let told = ["status", "confirmationdate", "is_active", if confirmed { "password" } else { "status" }];
    when([
        (confirmed, Event::CustomerConfirmed),
        (!before.is_active && after.is_active, Event::CustomerActivated),
        (before.is_active && !after.is_active, Event::CustomerDeactivated),
        (details.has_changed_besides(&told), Event::CustomerUpdated),
    ])
}

/// The event of a new resource, or of one with changed fields.
pub(super) fn created_or_updated<T>(
    before: Option<&T>,
    details: &FieldChanges,
    (created, updated): (Event, Event),
) -> Vec<Event> {
    when([(before.is_none(), created), (!details.changed.is_empty(), updated)])
}

/// The events of a changed video.
pub(super) fn of_video(after: &Video, details: &FieldChanges) -> Vec<Event> {
    let told = ["video_conversion_status", "video_conversion_error", "length"];
    let ended = details.has_changed("video_conversion_status");
    when([
        (ended && after.status == ConversionStatus::Successful, Event::VideoConverted),
        (ended && after.status == ConversionStatus::Failed, Event::VideoFailed),
        (details.has_changed_besides(&told), Event::VideoUpdated),
    ])
}

/// The events of a changed webhook.
pub(super) fn of_webhook(after: &Webhook, details: &FieldChanges) -> Vec<Event> {
    let told: &[&str] = if after.is_enabled() { &[] } else { &["is_enabled", "disabled_reason"] };
    let is_disabled = details.has_changed("is_enabled") && !after.is_enabled();
    when([(is_disabled, Event::WebhookDisabled), (details.has_changed_besides(told), Event::WebhookUpdated)])
}
