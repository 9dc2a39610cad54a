//! The company's answer in words to a candidate's request for help.

use chrono::{DateTime, Utc};

use super::{CandidateChange, CandidateMail};
use crate::candidate::{Candidate, HelpText, NOTHING_TO_ANSWER};
use crate::mail::rate::RefusedOrThrottled;

impl Candidate {
    /// Answers the candidate's request in words at `now`, with a mail. A request that an action has answered, such as a new
    /// deadline, can still get words. Fails with [`NOTHING_TO_ANSWER`], or after too many mails.
    pub fn answer_help_request(
        mut self,
        answer: HelpText,
        now: DateTime<Utc>,
    ) -> Result<CandidateChange, RefusedOrThrottled> {
        let request = self.help_request.as_mut().filter(|request| request.answer.is_none());
        let request = request.ok_or(NOTHING_TO_ANSWER)?;
        request.answer = Some(answer);
        request.answered_at = Some(request.answered_at.unwrap_or(now));
        let mut change = CandidateChange::new(self, Some(CandidateMail::HelpAnswered), now);
        change.count_mail(now)?;
        Ok(change)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::candidate::{HelpKind, HelpRequest};
    use crate::samples;
    use crate::text::Email;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn words() -> HelpText {
        HelpText::parse("You have three more days.").unwrap()
    }

    fn asking() -> Candidate {
        let mut one = samples::candidate();
        one.profile.email = Some(Email::parse("ada@mail.example").unwrap());
        let request = HelpRequest::new(HelpKind::Time, HelpText::parse("My exam is today.").unwrap(), at(0));
        one.with_help_request(request).unwrap()
    }

    #[test]
    fn one_answer_in_words_is_mailed_also_after_a_deed() {
        let answered = asking().answer_help_request(words(), at(5)).unwrap();
        assert_eq!(answered.mail, Some(CandidateMail::HelpAnswered));
        assert_eq!(answered.candidate.help_request.as_ref().unwrap().answered_at, Some(at(5)));
        let again = answered.candidate.answer_help_request(words(), at(6));
        assert_eq!(again, Err(NOTHING_TO_ANSWER.into()));

        let mut closed = asking();
        closed.close_help_request(at(5));
        let told = closed.answer_help_request(words(), at(9)).unwrap().candidate.help_request.unwrap();
        assert_eq!((told.answered_at, told.answer), (Some(at(5)), Some(words())));
    }

    #[test]
    fn nothing_is_mailed_to_candidates_whom_the_client_mails() {
        let mut one = asking();
        one.profile.receive_mails = false;
        assert_eq!(one.answer_help_request(words(), at(5)).unwrap().mail, None);
    }

    #[test]
    fn nobody_has_asked() {
        assert_eq!(samples::candidate().answer_help_request(words(), at(5)), Err(NOTHING_TO_ANSWER.into()));
    }
}
