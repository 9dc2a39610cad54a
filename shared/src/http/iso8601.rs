//! Parses dates and timestamps in the basic and extended formats of ISO 8601.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Timelike, Utc};

/// The forms of a date in ISO 8601, with 0 for each digit, and chrono's format for each.
const DATES: [(&str, &str); 6] = [
    ("0000-00-00", "%Y-%m-%d"),
    ("00000000", "%Y%m%d"),
    ("0000-000", "%Y-%j"),
    ("0000000", "%Y%j"),
    ("0000-W00-0", "%G-W%V-%u"),
    ("0000W000", "%GW%V%u"),
];
/// The forms of a time of day, without fractions of a second, and chrono's format for each.
const TIMES: [(&str, &str); 4] =
    [("00:00:00", "%H:%M:%S"), ("000000", "%H%M%S"), ("00:00", "%H:%M"), ("0000", "%H%M")];
const ZONES: [(&str, &str); 7] = [
    ("Z", "%#z"),
    ("+00:00", "%:z"),
    ("-00:00", "%:z"),
    ("+0000", "%z"),
    ("-0000", "%z"),
    ("+00", "%#z"),
    ("-00", "%#z"),
];

fn format_of(forms: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    let shape = text.replace(|character: char| character.is_ascii_digit(), "0");
    forms.iter().find(|(form, _)| *form == shape).map(|(_, format)| *format)
}

/// Parses a date in ISO 8601, in the years 1 to 9999.
pub fn parse_date(text: &str) -> Result<NaiveDate, String> {
    let date = format_of(&DATES, text).and_then(|format| NaiveDate::parse_from_str(text, format).ok());
    date.filter(|date| (1..=9999).contains(&date.year()))
        .ok_or_else(|| "Date has wrong format. Use YYYY-MM-DD.".to_owned())
}

/// Parses a timestamp in ISO 8601 with a time zone, in the years 1 to 9999. Drops fractions of a second.
pub fn parse_timestamp(text: &str) -> Result<DateTime<Utc>, String> {
    read_moment(text)
        .filter(|moment| (1..=9999).contains(&moment.year()))
        .ok_or_else(|| "Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z.".to_owned())
}

fn read_moment(text: &str) -> Option<DateTime<Utc>> {
    // RFC 3339 allows lower case, and a space between date and time, which many languages print by default.
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let (time, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    let zone = if zone == "z" { "Z" } else { zone };
    let (time, fraction) = time.split_once(['.', ',']).unwrap_or((time, "0"));
    let time_format = format_of(&TIMES, time)?;
    let has_seconds = time_format.ends_with("%S");
    if fraction.is_empty()
        || !fraction.bytes().all(|byte| byte.is_ascii_digit())
        || !has_seconds && fraction != "0"
    {
        return None;
    }
    // ISO 8601 allows 24:00 for the end of a day. chrono accepts only 00:00 of the next day.
    let ends_day = time.starts_with("24") && !has_other_digits(&time[2..]) && !has_other_digits(fraction);
    let time = if ends_day { time.replacen("24", "00", 1) } else { time.to_owned() };
    let format = format!("{}T{time_format}{}", format_of(&DATES, date)?, format_of(&ZONES, zone)?);
    let moment = DateTime::parse_from_str(&format!("{date}T{time}{zone}"), &format).ok()?;
    let moment = moment.checked_add_signed(TimeDelta::days(i64::from(ends_day)))?;
    // A leap second becomes the second before it: few clients can parse a minute of 61 seconds.
    moment.to_utc().with_nanosecond(0)
}

/// Whether a text has digits other than 0.
fn has_other_digits(time: &str) -> bool {
    time.contains(|character| matches!(character, '1'..='9'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::wire::Timestamp;

    #[test]
    fn dates_are_spelled_as_in_iso_8601() {
        for (sent, taken) in [
            ("2026-11-08", true),
            ("20261108", true),
            ("2026-312", true),
            ("2026-W45-7", true),
            ("2026-02-30", false),
            ("20260230", false),
            ("2026-2-30", false),
            ("2026-1-8", false),
            ("2026- 1-08", false),
            ("+20260-1-1", false),
            ("0000-01-01", false),
        ] {
            assert_eq!(parse_date(sent).is_ok(), taken, "{sent}");
        }
    }

    #[test]
    fn moments_carry_a_zone() {
        for (sent, read) in [
            ("2026-11-08T22:59:00Z", "2026-11-08T22:59:00Z"),
            ("2026-11-08T22:59:00.987+01:00", "2026-11-08T21:59:00Z"),
            ("2026-11-08T22:59:00-0530", "2026-11-09T04:29:00Z"),
            ("2026-11-08T22:59+02", "2026-11-08T20:59:00Z"),
            ("2026-11-08T22:59:60Z", "2026-11-08T22:59:59Z"),
            ("2026-11-08T22:59:00,9Z", "2026-11-08T22:59:00Z"),
            ("20310101T000000Z", "2031-01-01T00:00:00Z"),
            ("20310101T0000Z", "2031-01-01T00:00:00Z"),
            ("20310101T000000.5+0130", "2030-12-31T22:30:00Z"),
            ("20310101T000000-01", "2031-01-01T01:00:00Z"),
            ("2031001T000000Z", "2031-01-01T00:00:00Z"),
            ("2031-W01-3T00:00:00+00:00", "2031-01-01T00:00:00Z"),
            ("2099-01-02t03:04:05z", "2099-01-02T03:04:05Z"),
            ("2099-01-02T03:04:05.6z", "2099-01-02T03:04:05Z"),
            ("2099-01-02 03:04:05+00:00", "2099-01-02T03:04:05Z"),
            ("2099-01-02T24:00:00Z", "2099-01-03T00:00:00Z"),
            ("2099-12-31T24:00-01:00", "2100-01-01T01:00:00Z"),
            ("20990102T240000.000Z", "2099-01-03T00:00:00Z"),
            ("2099002t2400z", "2099-01-03T00:00:00Z"),
        ] {
            assert_eq!(
                parse_timestamp(sent).map(|moment| Timestamp(moment).to_string()).as_deref(),
                Ok(read),
                "{sent}"
            );
        }
        for bad in [
            "2026-11-08T22:59:00",
            "2026-11-08",
            "tomorrow",
            "10000-01-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "+10000-01-01T00:00:00Z",
            "2026-1-08T02:09Z",
            "2026-11- 8T22:59Z",
            "0000-11-08T22:59:00Z",
            "9999-12-31T23:59:59-01:00",
            "20310101T000000",
            "2031-01-01  00:00:00Z",
            "2031-01-01_00:00:00Z",
            "2031-01-01T00:00:00 Z",
            "2031-01-01T24:00:01Z",
            "2031-01-01T24:01Z",
            "2031-01-01T24:00:00.5Z",
            "2031-01-01T25:00:00Z",
            "9999-12-31T24:00:00Z",
            "2031101T000000Z0",
            "20311301T000000Z",
            "20310101T250000Z",
            "20310101T0000.5Z",
            "20310101T000000.Z",
            "20310101T000000.5x5Z",
            "2031010T000000+1",
            "2026-11-08T22:59:00+25:00",
            "2026-11-08T22:59:00Z+01:00",
            "2026-11-08T22:59:00+ 1:00",
        ] {
            assert!(parse_timestamp(bad).is_err(), "{bad}");
        }
    }
}
