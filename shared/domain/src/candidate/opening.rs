//! When a candidate first opens the interview.

use chrono::{DateTime, DurationRound as _, SubsecRound as _, TimeDelta, Utc};

use super::Candidate;

impl Candidate {
    /// The candidate after they opened the interview at `now`; `None` if it is not the first time.
    pub fn with_opening(self, now: DateTime<Utc>) -> Option<Self> {
        // Managers need only the minute, so no more is stored about the candidate.
        let minute = now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now);
        // Managers see both times, so an opening must not precede the invitation.
        let at = self.invited_at.map_or(minute, |invited_at| minute.max(invited_at.trunc_subsecs(0)));
        self.opened_at.is_none().then_some(Self { opened_at: Some(at), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn an_opening_is_kept_to_the_minute_and_not_before_the_invitation() {
        let never_invited = samples::candidate();
        for (invited_at, now, opened_at) in [
            (None, "2026-11-08T10:00:59.9Z", "2026-11-08T10:00:00Z"),
            (Some("2026-11-08T09:59:59Z"), "2026-11-08T10:00:59.9Z", "2026-11-08T10:00:00Z"),
            (Some("2026-11-08T10:00:20.7Z"), "2026-11-08T10:00:59.9Z", "2026-11-08T10:00:20Z"),
        ] {
            let invited = Candidate { invited_at: invited_at.map(at), ..never_invited.clone() };
            let opened = invited.with_opening(at(now)).unwrap();
            assert_eq!(opened.opened_at, Some(at(opened_at)));
            // A repeated invitation makes no difference.
            assert_eq!(Candidate { invited_at: Some(at(now)), ..opened }.with_opening(at(now)), None);
        }
    }
}
