//! The types of events, and the names that clients choose them by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::named;

named! {
    /// The type of an event.
    pub enum EventType {
        /// A candidate was created.
        CandidateCreated = "candidate.created",
        /// A candidate was invited, perhaps again.
        CandidateInvited = "candidate.invited",
        /// A candidate has opened the interview for the first time.
        CandidateOpened = "candidate.opened",
        /// A candidate has accepted the invitation, or may start the interview again.
        CandidateConfirmed = "candidate.confirmed",
        /// A candidate has started the interview.
        CandidateInterviewing = "candidate.interviewing",
        /// A candidate has completed the interview.
        CandidateInterviewed = "candidate.interviewed",
        /// A manager has reopened an interview that the candidate had completed or whose time had ended, so that they can continue it.
        CandidateReopened = "candidate.reopened",
        /// A candidate has started but did not complete the interview.
        CandidateAborted = "candidate.aborted",
        /// A candidate has missed the deadline.
        CandidateExpired = "candidate.expired",
        /// A manager has cancelled a candidate's interview, which may have begun. The event also has the type `candidate.skipped`.
        CandidateCancelled = "candidate.cancelled",
        /// A manager has withdrawn a candidate.
        CandidateSkipped = "candidate.skipped",
        /// A candidate's deadline was set, moved or removed.
        CandidateDeadlineChanged = "candidate.deadline_changed",
        /// A manager has reminded a candidate.
        CandidateReminded = "candidate.reminded",
        /// A candidate has asked the company for help: more time, another way to answer, help with a device, or to stop.
        CandidateHelpRequested = "candidate.asked",
        /// The company has answered the candidate's request for help, in words or by what it has done.
        CandidateHelpAnswered = "candidate.answered",
        /// An evaluation of a candidate was completed, changed afterwards or taken back, or an evaluator has vetoed.
        CandidateEvaluated = "candidate.evaluated",
        /// A candidate was shared with a customer.
        CandidateShared = "candidate.shared",
        /// A share of a candidate was deleted.
        CandidateUnshared = "candidate.unshared",
        /// A guest link was created. It lets a person without an account watch a candidate's answers.
        CandidateGuestLinkCreated = "candidate.guest_link_created",
        /// A guest link to a candidate's answers was deleted. A link that expires has no event.
        CandidateGuestLinkDeleted = "candidate.guest_link_deleted",
        /// Mails to a candidate bounced or were reported as spam.
        CandidateUndeliverable = "candidate.undeliverable",
        /// A candidate, or a manager for them, has requested the candidate's erasure.
        CandidateErasureRequested = "candidate.erasure_requested",
        /// A request for erasure was withdrawn.
        CandidateErasureWithdrawn = "candidate.erasure_withdrawn",
        /// A candidate has accepted a legal text, or it was recorded that they had accepted one elsewhere.
        CandidateConsented = "candidate.consented",
        /// A consent of a candidate was withdrawn.
        CandidateConsentWithdrawn = "candidate.consent_withdrawn",
        /// A candidate was put on hold, or the hold was changed.
        CandidateHeld = "candidate.held",
        /// The hold of a candidate was deleted.
        CandidateReleased = "candidate.released",
        /// Fields of a candidate without an event of their own were changed, such as files or the password.
        CandidateUpdated = "candidate.updated",
        /// A candidate was deleted with all their data.
        CandidateDeleted = "candidate.deleted",
        /// Everything that was left of a deleted candidate was erased: files, evaluations, and the contents of their earlier events.
        CandidateErased = "candidate.erased",
        /// A recorded answer can be played. `question` is the question's URL, `take` the number of the take, `seconds` its length.
        AnswerConverted = "answer.converted",
        /// The conversion of a recorded answer has failed, so the take does not count. `question` is the question's URL, `take` the
        /// take's number.
        AnswerFailed = "answer.failed",
        /// The captions of a recorded answer were set or deleted. `question` is the question's URL, `take` the number of the take.
        /// Captions that are deleted with their take have no event.
        AnswerCaptioned = "answer.captioned",
        /// A project was created.
        ProjectCreated = "project.created",
        /// Settings, questions or criteria of a project were changed.
        ProjectUpdated = "project.updated",
        /// The status of a project was changed.
        ProjectStatusChanged = "project.status_changed",
        /// Customers were given roles in a project, or lost them.
        ProjectStaffChanged = "project.staff_changed",
        /// A customer was created.
        CustomerCreated = "customer.created",
        /// A customer has activated the account: they have chosen the first password, or signed in by the company's provider.
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
        /// The settings of the sign-in by the company's provider were changed.
        CompanySignInChanged = "company.sign_in_changed",
        /// The company's contract has ended: all logins have ended, and the service erases everything.
        CompanyDeleted = "company.deleted",
        /// An export of the company is finished, and owners can download it.
        CompanyExported = "company.exported",
        /// An export of the company was deleted by an owner, or by the service because it may contain data of a deleted candidate
        /// or customer.
        CompanyExportDeleted = "company.export_deleted",
        /// The retention of the company was changed.
        RetentionUpdated = "retention.updated",
        /// A retention run has erased candidates, or has found some that are on hold or will soon be due.
        RetentionCompleted = "retention.completed",
        /// A webhook was created.
        WebhookCreated = "webhook.created",
        /// Fields of a webhook were changed, its secret among them, or it was enabled.
        WebhookUpdated = "webhook.updated",
        /// A webhook was disabled: by a client, because it answered 410 Gone, or because it failed for too long.
        WebhookDisabled = "webhook.disabled",
        /// A webhook was deleted.
        WebhookDeleted = "webhook.deleted",
        /// A test event, which is sent to one webhook and is not part of the feed.
        WebhookPing = "webhook.ping",
    }
}

/// One event type, or all event types about one kind of resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "", example = &"candidate.*")]
pub struct TypeFilter {
    name: String,
}

impl TypeFilter {
    /// Parses the name of a type, such as `candidate.invited`, or `candidate.*` for all types that begin so.
    pub fn parse(name: &str) -> Result<Self, String> {
        let filter = Self { name: name.to_owned() };
        match EventType::ALL.iter().any(|known| filter.fits(known.as_str())) {
            true => Ok(filter),
            false => Err(format!(
                "\"{name}\" is not a type of events. Use one such as candidate.invited, or candidate.*"
            )),
        }
    }

    /// The text that was parsed.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Whether the filter matches the event type with this name.
    pub(crate) fn fits(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => start.ends_with('.') && name.starts_with(start),
            None => name == self.name,
        }
    }
}
