//! What endpoints answer, and what follows from it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::names::named;

/// The longest time for which an endpoint can ask to be left alone.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(24);

named! {
    /// Why there is no answer.
    pub enum Failure {
        /// The host has an address outside of the public internet.
        ForbiddenAddress = "forbidden_address",
        /// The name of the host leads to no address.
        UnknownHost = "unknown_host",
        /// No connection could be made, or it broke.
        Connection = "connection",
        /// No encrypted connection could be made, for example for want of a valid certificate.
        Tls = "tls",
        /// The answer was not complete in time.
        Timeout = "timeout",
        /// The answer was not understood, or its head was too long.
        InvalidAnswer = "invalid_answer",
    }
}

/// What an endpoint has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The start of the body.
    pub start: String,
}

/// What an attempt means for the message and for its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The endpoint has accepted the message.
    Taken,
    /// The endpoint has refused this message. It asks for none in the given time.
    Refused(TimeDelta),
    /// The endpoint is unavailable. It asks for no message in the given time.
    Down(TimeDelta),
    /// The endpoint accepts no messages any more.
    Gone,
}

impl Verdict {
    /// The verdict on an attempt that has ended at `now`.
    pub fn of(answer: &Result<Answer, Failure>, now: DateTime<Utc>) -> Self {
        let Ok(answer) = answer else { return Self::Down(TimeDelta::zero()) };
        let wait = || answer.retry_after.as_deref().map_or(TimeDelta::zero(), |header| wait(header, now));
        match answer.status {
            200..=299 => Self::Taken,
            410 => Self::Gone,
            429 | 502..=504 => Self::Down(wait()),
            _ => Self::Refused(wait()),
        }
    }
}

/// Seconds or a date.
fn wait(header: &str, now: DateTime<Utc>) -> TimeDelta {
    let seconds = header.parse::<u32>().map(|seconds| TimeDelta::seconds(seconds.into()));
    let date = || DateTime::parse_from_rfc2822(header).map(|date| date.with_timezone(&Utc) - now);
    seconds.or_else(|_| date()).unwrap_or_default().clamp(TimeDelta::zero(), LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, retry_after: Option<&str>) -> Verdict {
        let retry_after = retry_after.map(str::to_owned);
        let now = "2026-11-22T12:00:00Z".parse().unwrap();
        Verdict::of(&Ok(Answer { status, retry_after, start: String::new() }), now)
    }

    #[test]
    fn the_status_decides() {
        let none = TimeDelta::zero();
        for (status, expected) in [
            (200, Verdict::Taken),
            (204, Verdict::Taken),
            (299, Verdict::Taken),
            (101, Verdict::Refused(none)),
            (302, Verdict::Refused(none)),
            (400, Verdict::Refused(none)),
            (404, Verdict::Refused(none)),
            (410, Verdict::Gone),
            (429, Verdict::Down(none)),
            (500, Verdict::Refused(none)),
            (501, Verdict::Refused(none)),
            (502, Verdict::Down(none)),
            (503, Verdict::Down(none)),
            (504, Verdict::Down(none)),
            (999, Verdict::Refused(none)),
        ] {
            assert_eq!(verdict(status, None), expected, "{status}");
        }
        for failure in [Failure::Timeout, Failure::ForbiddenAddress, Failure::Tls] {
            assert_eq!(Verdict::of(&Err(failure), DateTime::UNIX_EPOCH), Verdict::Down(none));
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_at_most_a_day() {
        for (header, seconds) in [
            ("0", 0),
            ("120", 120),
            ("86401", 86_400),
            ("99999999999999999999", 0),
            ("-5", 0),
            ("1.5", 0),
            ("soon", 0),
            ("", 0),
            ("Sun, 22 Nov 2026 12:30:00 GMT", 1_800),
            ("Sun, 22 Nov 2026 11:30:00 GMT", 0),
            ("Wed, 22 Nov 2028 12:30:00 GMT", 86_400),
        ] {
            assert_eq!(verdict(503, Some(header)), Verdict::Down(TimeDelta::seconds(seconds)), "{header}");
        }
        assert_eq!(verdict(500, Some("60")), Verdict::Refused(TimeDelta::seconds(60)));
    }
}
