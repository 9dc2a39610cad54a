//! Results of effects and of sweeps.

use shared::mail::{MailDelivery, MailEnvelope, Mailer, PersonalMail};
use shared::{Error, Result, invocation_summary};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectResult {
    /// SES accepted the mail.
    Sent,
    /// A conversion will start.
    Started,
    /// Objects are deleted, and a deletion is recorded.
    Deleted,
    /// The mail is pointless: the candidate has moved on, is deleted or takes no mails.
    Outdated,
    /// Retried later.
    Failed,
    /// Retried once SES accepts mails again; does not count as a try.
    Postponed,
    /// Has done its share of the work, and the next try continues; does not count as a try.
    Continued,
    /// Everything is erased, but files may still arrive. This does not count as a try.
    Settling,
    /// Kept for the operator.
    GivenUp,
    /// Another worker holds the lease or has completed the effect.
    Skipped,
}

/// Sends a mail. Returns the effect's result for SES's response, and the reason.
pub(crate) async fn send_mail(
    mailer: &Mailer<'_>,
    envelope: &MailEnvelope<'_>,
    mail: &PersonalMail<'_>,
) -> Result<(EffectResult, String)> {
    let rendered = mail.render().map_err(Error::internal)?;
    Ok(match mailer.send(envelope, &rendered).await {
        MailDelivery::Sent(message) => (EffectResult::Sent, message),
        MailDelivery::Rejected(code) => (EffectResult::GivenUp, code),
        MailDelivery::Postponed(code) => (EffectResult::Postponed, code),
        MailDelivery::Transient(code) => (EffectResult::Failed, code),
    })
}

invocation_summary! {
    "outbox", "swept";
    /// The result of one sweep.
    pub struct SweepSummary {
        /// Mails that SES accepted.
        pub sent: usize,
        /// Recordings that wait for their conversion.
        pub started: usize,
        /// Recorded deletions, and deleted objects without references.
        pub deleted: usize,
        /// Effects that the candidate's moves made pointless.
        pub outdated: usize,
        /// Effects to retry later.
        pub postponed: usize,
        /// Effects that failed permanently or too often.
        pub given_up: usize,
        /// Uploads and videos that did not arrive in time, and videos that cannot be converted.
        pub uploads_given_up: usize,
        /// Videos that were queued again.
        pub videos_queued: usize,
        /// Answers with takes that were abandoned, queued again, or whose conversions were killed.
        pub takes_closed: usize,
        /// Mails to staff that became effects: about ended interviews, about requests for help that had to wait, and reminders.
        pub notices: usize,
        /// Events that the stream did not have numbered.
        pub events: usize,
        /// The age of the oldest of these events.
        pub numbering_lag_seconds: i64,
        /// The time since the oldest deletion whose rest is not erased.
        pub erasure_delay_seconds: i64,
        /// The time since the morning of the oldest round of reminders that a step has left unfinished.
        pub reminder_delay_seconds: i64,
    }
}

impl SweepSummary {
    pub(crate) fn count(&mut self, result: EffectResult) {
        match result {
            EffectResult::Sent => self.sent += 1,
            EffectResult::Started => self.started += 1,
            EffectResult::Deleted => self.deleted += 1,
            EffectResult::Outdated => self.outdated += 1,
            EffectResult::Failed
            | EffectResult::Postponed
            | EffectResult::Continued
            | EffectResult::Settling => self.postponed += 1,
            EffectResult::GivenUp => self.given_up += 1,
            EffectResult::Skipped => self.moved_on += 1,
        }
    }
}
