//! Formats a time in a language and a named time zone.

use chrono::{DateTime, Datelike, FixedOffset, Timelike, Utc};

use crate::domain::language::Language;
use crate::domain::time_zone::TimeZone;

/// The weekdays from Monday and the months from January, each list separated by spaces.
fn names_in(language: Language) -> (&'static str, &'static str) {
    match language {
        Language::En => (
            "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
            "January February March April May June July August September October November December",
        ),
        Language::De => (
            "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        ),
        Language::Fr => (
            "lundi mardi mercredi jeudi vendredi samedi dimanche",
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        ),
        Language::Es => (
            "lunes martes miércoles jueves viernes sábado domingo",
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        ),
        Language::It => (
            "lunedì martedì mercoledì giovedì venerdì sabato domenica",
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        ),
        Language::Nl => (
            "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
            "januari februari maart april mei juni juli augustus september oktober november december",
        ),
    }
}

fn nth(names: &'static str, index: u32) -> &'static str {
    names.split(' ').nth(index as usize).unwrap_or_default()
}

/// Formats `moment` in `timezone`, truncated to the minute. An unknown or empty `timezone` is UTC.
pub fn in_words(moment: DateTime<Utc>, timezone: &str, language: Language) -> String {
    // The name is empty for companies without a time zone.
    let zone = TimeZone::named(timezone).unwrap_or_else(TimeZone::utc);
    let local = zone.local_time(moment);
    let (weekdays, months) = names_in(language);
    let weekday = nth(weekdays, local.weekday().num_days_from_monday());
    let month = nth(months, local.month0());
    let day = local.day();
    let year = local.year();
    let hour = local.hour();
    let minute = local.minute();
    // French and Italian use an ordinal only for the first day of a month.
    let [french, italian] = if day == 1 { ["er", "º"] } else { ["", ""] };
    // Truncate the seconds, so that a mail never promises more time.
    let words = match language {
        Language::En => format!("{weekday} {day} {month} {year} at {hour:02}:{minute:02}"),
        Language::De => format!("{weekday}, {day}. {month} {year}, {hour:02}:{minute:02} Uhr"),
        Language::Fr => format!("{weekday} {day}{french} {month} {year} à {hour}\u{a0}h\u{a0}{minute:02}"),
        Language::Es => format!("{weekday}, {day} de {month} de {year}, {hour:02}:{minute:02}\u{a0}h"),
        Language::It => format!("{weekday} {day}{italian} {month} {year}, ore {hour:02}:{minute:02}"),
        Language::Nl => format!("{weekday} {day} {month} {year}, {hour:02}.{minute:02} uur"),
    };
    format!("{words} ({})", zone_of(&local, &zone))
}

/// The name of the zone, and its offset from UTC at the time `local`.
fn zone_of(local: &DateTime<FixedOffset>, zone: &TimeZone) -> String {
    if zone.is_utc() {
        return "UTC".to_owned();
    }
    let ahead = local.offset().local_minus_utc() / 60;
    let sign = if ahead < 0 { '−' } else { '+' };
    let hours = ahead.abs() / 60;
    let minutes = ahead.abs() % 60;
    let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
    format!("{}, UTC{sign}{hours}{minutes}", zone.name().replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_words(moment: &str, timezone: &str, language: Language) -> String {
        super::in_words(moment.parse().unwrap(), timezone, language)
    }

    #[test]
    fn each_language_writes_a_moment_its_own_way() {
        for (language, expected) in [
            (Language::En, "Sunday 8 November 2026 at 23:59 (Europe/Berlin, UTC+1)"),
            (Language::De, "Sonntag, 8. November 2026, 23:59 Uhr (Europe/Berlin, UTC+1)"),
            (Language::Fr, "dimanche 8 novembre 2026 à 23\u{a0}h\u{a0}59 (Europe/Berlin, UTC+1)"),
            (Language::Es, "domingo, 8 de noviembre de 2026, 23:59\u{a0}h (Europe/Berlin, UTC+1)"),
            (Language::It, "domenica 8 novembre 2026, ore 23:59 (Europe/Berlin, UTC+1)"),
            (Language::Nl, "zondag 8 november 2026, 23.59 uur (Europe/Berlin, UTC+1)"),
        ] {
            assert_eq!(in_words("2026-11-08T22:59:59Z", "Europe/Berlin", language), expected);
        }
    }

    #[test]
    fn every_day_and_month_has_a_name() {
        for (weekdays, months) in Language::ALL.map(names_in) {
            assert_eq!((weekdays.split(' ').count(), months.split(' ').count()), (7, 12));
        }
    }

    #[test]
    fn the_first_day_of_a_month_is_counted_where_people_do() {
        let first = |language| in_words("2027-03-01T08:05:00Z", "", language);
        assert_eq!(first(Language::Fr), "lundi 1er mars 2027 à 8\u{a0}h\u{a0}05 (UTC)");
        assert_eq!(first(Language::It), "lunedì 1º marzo 2027, ore 08:05 (UTC)");
        assert_eq!(first(Language::En), "Monday 1 March 2027 at 08:05 (UTC)");
    }

    #[test]
    fn the_zone_is_named_and_follows_summer_time() {
        let at = |moment, zone| in_words(moment, zone, Language::En);
        for (zone, moment, expected) in [
            (
                "Europe/Berlin",
                "2026-07-01T10:00:00Z",
                "Wednesday 1 July 2026 at 12:00 (Europe/Berlin, UTC+2)",
            ),
            (
                "America/New_York",
                "2026-01-01T03:00:00Z",
                "Wednesday 31 December 2025 at 22:00 (America/New York, UTC−5)",
            ),
            (
                "Asia/Kolkata",
                "2026-01-01T00:00:00Z",
                "Thursday 1 January 2026 at 05:30 (Asia/Kolkata, UTC+5:30)",
            ),
            (
                "America/St_Johns",
                "2026-01-01T12:00:00Z",
                "Thursday 1 January 2026 at 08:30 (America/St Johns, UTC−3:30)",
            ),
            // Vancouver has summer time all year since 2026.
            (
                "America/Vancouver",
                "2026-12-15T12:00:00Z",
                "Tuesday 15 December 2026 at 05:00 (America/Vancouver, UTC−7)",
            ),
            (
                "Europe/London",
                "2026-01-01T12:00:00Z",
                "Thursday 1 January 2026 at 12:00 (Europe/London, UTC+0)",
            ),
        ] {
            assert_eq!(at(moment, zone), expected);
        }
    }

    #[test]
    fn an_unknown_zone_means_utc() {
        for zone in ["", "UTC", "Etc/UTC", "Mars/Olympus", "europe/berlin<script>"] {
            let words = in_words("2026-01-01T12:00:00Z", zone, Language::De);
            assert_eq!(words, "Donnerstag, 1. Januar 2026, 12:00 Uhr (UTC)", "{zone}");
        }
    }
}
