//! Interviews that the company cancels, at any time before they are complete.

use super::{CandidateChange, CandidateMail};
use crate::Refusal;
use crate::answers::ALREADY_INTERVIEWED;
use crate::candidate::{Cancellation, Candidate, CandidateStatus};

impl Candidate {
    /// Withdraws the candidate permanently, also from an interview that has begun: revokes their sessions and their key. With
    /// `notify`, they get a mail about it if they were ever invited. `None` for candidates who are skipped already. Fails with
    /// [`ALREADY_INTERVIEWED`].
    pub fn cancel(
        self,
        cancellation: Cancellation,
        notify: bool,
    ) -> Result<Option<CandidateChange>, Refusal> {
        match self.status {
            CandidateStatus::Skipped => return Ok(None),
            CandidateStatus::Interviewed => return Err(ALREADY_INTERVIEWED),
            _ => {}
        }
        let now = cancellation.at;
        let cancelled = Self { cancellation: Some(cancellation), ..self.withdrawn(now) };
        // Candidates who were never invited know of no interview.
        let was_invited = cancelled.invited_at.is_some();
        let mail = (notify && was_invited).then_some(CandidateMail::Cancelled);
        Ok(Some(CandidateChange::new(cancelled, mail, now)))
    }
}
