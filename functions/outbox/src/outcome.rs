//! Results of effects and of sweeps.

use shared::mail::{MailDelivery, MailEnvelope, Mailer, PersonalMail};
use shared::{Error, Result, invocation_summary};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectResult {
    /// SES accepted the mail.
    Sent,
    /// A conversion will start.
    Started,
    /// Objects are deleted, or a deletion is complete and recorded.
    Deleted,
    /// The effect is pointless: for example, the candidate has moved on, is deleted or takes no mails.
    Outdated,
    /// Retried later.
    Failed,
    /// Retried once SES or the storage is available again; does not count as an attempt.
    Postponed,
    /// The effect has done its share of the work and continues next time; does not count as an attempt.
    Continued,
    /// Everything is erased, but files may still arrive; does not count as an attempt.
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
        /// Recordings queued for conversion.
        pub started: usize,
        /// Recorded deletions, and deleted objects without references.
        pub deleted: usize,
        /// Effects that later changes made pointless.
        pub outdated: usize,
        /// Effects to retry later.
        pub postponed: usize,
        /// Effects that failed permanently or too often.
        pub given_up: usize,
        /// Uploads and videos that did not arrive in time, and videos that cannot be converted.
        pub uploads_given_up: usize,
        /// Videos that were queued again.
        pub videos_queued: usize,
        /// Answers with takes that were closed or queued again, or whose conversions were killed.
        pub takes_closed: usize,
        /// Mails to staff about ended interviews and delayed requests for help, and reminders.
        pub notices: usize,
        /// Events numbered by the schedule, because the stream had missed them.
        pub events: usize,
        /// The age of the oldest event in `events`, in seconds.
        pub numbering_lag_seconds: i64,
        /// The age of the oldest unfinished deletion, in seconds.
        pub erasure_delay_seconds: i64,
        /// Seconds since the morning of the oldest unfinished round of reminders.
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
