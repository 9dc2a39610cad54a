//! Responses of endpoints, and the verdicts on event and endpoint that follow from them.

use chrono::{DateTime, TimeDelta, Utc};

use crate::outgoing::OutgoingError;

/// The longest pause that an endpoint can request.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(24);

/// A response of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointResponse {
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The beginning of the body.
    pub start: String,
}

/// The verdict of an attempt on the event and on its endpoint. The durations are pauses that the endpoint requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryVerdict {
    /// The endpoint has accepted the event.
    Accepted,
    /// The endpoint gets more events than it can handle. This says nothing about the event.
    Throttled(TimeDelta),
    /// The endpoint has understood the request and rejects it, so the event is probably at fault.
    Rejected(TimeDelta),
    /// Either the event or the endpoint is at fault. Other events show which.
    Unclear(TimeDelta),
    /// The endpoint accepts no more events.
    Gone,
}

impl DeliveryVerdict {
    /// The verdict on an attempt that has ended at `now`.
    pub fn of(response: &Result<EndpointResponse, OutgoingError>, now: DateTime<Utc>) -> Self {
        let Ok(response) = response else { return Self::Unclear(TimeDelta::zero()) };
        let asked = response.retry_after.as_deref();
        let wait = asked.map_or(TimeDelta::zero(), |header| parse_wait(header, now));
        match response.status {
            200..=299 => Self::Accepted,
            400 | 405 | 409 | 413 | 415 | 422 => Self::Rejected(wait),
            410 => Self::Gone,
            429 => Self::Throttled(wait),
            // A 503 without the header comes from a proxy whose server is down.
            503 if asked.is_some() => Self::Throttled(wait),
            _ => Self::Unclear(wait),
        }
    }
}

/// Parses a number of seconds or a date.
fn parse_wait(header: &str, now: DateTime<Utc>) -> TimeDelta {
    let wait = match header.parse::<u32>() {
        Ok(seconds) => TimeDelta::seconds(seconds.into()),
        Err(_) => DateTime::parse_from_rfc2822(header).map_or(TimeDelta::zero(), |date| date.to_utc() - now),
    };
    // Neither a date in the past nor one years ahead may determine when the next event is sent.
    wait.clamp(TimeDelta::zero(), LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, retry_after: Option<&str>) -> DeliveryVerdict {
        let retry_after = retry_after.map(str::to_owned);
        let now = "2026-11-22T12:00:00Z".parse().unwrap();
        DeliveryVerdict::of(&Ok(EndpointResponse { status, retry_after, start: String::new() }), now)
    }

    #[test]
    fn the_status_decides() {
        use DeliveryVerdict::{Accepted, Gone, Rejected, Throttled, Unclear};
        let none = TimeDelta::zero();
        for (statuses, expected) in [
            (&[200, 204, 299][..], Accepted),
            (&[400, 405, 409, 413, 415, 422], Rejected(none)),
            (&[410], Gone),
            (&[429], Throttled(none)),
            (&[101, 301, 302, 401, 403, 404, 408, 451, 500, 501, 502, 503, 504, 999], Unclear(none)),
        ] {
            for status in statuses {
                assert_eq!(verdict(*status, None), expected, "{status}");
            }
        }
        for error in [OutgoingError::Timeout, OutgoingError::ForbiddenAddress, OutgoingError::Tls] {
            assert_eq!(DeliveryVerdict::of(&Err(error), DateTime::UNIX_EPOCH), Unclear(none));
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
            let wait = TimeDelta::seconds(seconds);
            assert_eq!(verdict(503, Some(header)), DeliveryVerdict::Throttled(wait), "{header}");
        }
        let minute = TimeDelta::minutes(1);
        assert_eq!(verdict(429, Some("60")), DeliveryVerdict::Throttled(minute));
        assert_eq!(verdict(500, Some("60")), DeliveryVerdict::Unclear(minute));
        assert_eq!(verdict(400, Some("60")), DeliveryVerdict::Rejected(minute));
    }
}
