//! Interviews that the company cancels, at any time before they are complete.

use super::{CandidateChange, CandidateMail};
use crate::Refusal;
use crate::answers::ALREADY_INTERVIEWED;
use crate::candidate::{Cancellation, Candidate, CandidateStatus};

impl Candidate {
    /// Withdraws the candidate permanently, even from an interview in progress, and revokes their sessions and their key. With
    /// `notify`, they get a mail about it if they were ever invited. `None` if they are already skipped. Fails with
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
        // Candidates who were never invited do not know of the interview.
        let was_invited = cancelled.invited_at.is_some();
        let mail = (notify && was_invited).then_some(CandidateMail::Cancelled);
        Ok(Some(CandidateChange::new(cancelled, mail, now)))
    }
}
