//! The usage of a company per month: a fold over the numbered events of its feed.
//!
//! An event counts in the month of its timestamp, in UTC. Events usually get their numbers within seconds, but it may take
//! longer: until three days after the end of a month, its counts may still grow. Then they are final. An event that gets its
//! number after that counts in the first month that is not final.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike as _, Months, NaiveDate, TimeDelta, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::history::{EventType, HistoryEntry};
use crate::id::CompanyId;

/// How long after the end of a month its counts become final.
const FINAL_AFTER: TimeDelta = TimeDelta::days(3);
/// How long before becoming final a month stops counting events.
// A transaction that counts an event commits some time after the `now` that chose the month, and the clocks of functions differ.
const SETTLING: TimeDelta = TimeDelta::hours(1);

/// A calendar month in UTC, such as `2026-11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    first_day: NaiveDate,
}

impl Month {
    /// The month of a moment.
    pub fn of(moment: DateTime<Utc>) -> Self {
        let day = moment.date_naive();
        Self { first_day: day.with_day(1).unwrap_or(day) }
    }

    /// The month after this one.
    #[must_use]
    pub fn next(self) -> Self {
        let next = self.first_day.checked_add_months(Months::new(1));
        Self { first_day: next.unwrap_or(self.first_day) }
    }

    /// The months from this one to `last`; none if `last` is earlier.
    pub fn up_to(self, last: Self) -> impl Iterator<Item = Self> {
        let next = |month: &Self| Some(month.next()).filter(|next| next > month);
        std::iter::successors(Some(self), next).take_while(move |month| *month <= last)
    }

    /// Whether the counts of the month no longer change at `now`.
    pub fn is_final(self, now: DateTime<Utc>) -> bool {
        self < Self::of(now - FINAL_AFTER)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first_day.format("%Y-%m"))
    }
}

impl FromStr for Month {
    /// The message for the client.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let first_day = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok();
        // `parse_from_str` also accepts signs, spaces and single digits, so compare with the canonical form.
        let month = first_day.map(|first_day| Self { first_day }).filter(|month| month.to_string() == text);
        month.ok_or_else(|| "Use a month, for example 2026-11.".to_owned())
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The usage of a company in a month.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCounts {
    /// The number of invitations of candidates; a repeated invitation counts again.
    pub candidates_invited: u64,
    /// The number of completed interviews; a reopened interview that is completed again counts again.
    pub interviews_completed: u64,
    /// The number of converted recorded answers; an answer that is converted again counts again.
    pub answers_converted: u64,
    /// The total length of the converted answers, in seconds.
    pub seconds_converted: u64,
}

impl UsageCounts {
    /// The counts of one event.
    fn of_event(event: &HistoryEntry) -> Self {
        let count = |of: EventType| u64::from(event.tells(of));
        let answers_converted = count(EventType::AnswerConverted);
        let seconds = event.change.details.facts.get("seconds").and_then(serde_json::Value::as_u64);
        Self {
            candidates_invited: count(EventType::CandidateInvited),
            interviews_completed: count(EventType::CandidateInterviewed),
            answers_converted,
            seconds_converted: seconds.unwrap_or_default() * answers_converted,
        }
    }

    fn plus(self, other: Self) -> Self {
        // Saturate: an archive may hold any numbers, and a panic would keep the company's events from being numbered.
        Self {
            candidates_invited: self.candidates_invited.saturating_add(other.candidates_invited),
            interviews_completed: self.interviews_completed.saturating_add(other.interviews_completed),
            answers_converted: self.answers_converted.saturating_add(other.answers_converted),
            seconds_converted: self.seconds_converted.saturating_add(other.seconds_converted),
        }
    }
}

/// The usage of a company by month, without the months that have no usage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsageByMonth {
    months: BTreeMap<Month, UsageCounts>,
}

impl UsageByMonth {
    /// Whether nothing was used.
    pub fn is_empty(&self) -> bool {
        self.months.is_empty()
    }

    /// The counts of a month.
    pub fn of_month(&self, month: Month) -> UsageCounts {
        self.months.get(&month).copied().unwrap_or_default()
    }

    /// The months with usage, earliest first.
    pub fn months(&self) -> impl Iterator<Item = (Month, UsageCounts)> {
        self.months.iter().map(|(month, counts)| (*month, *counts))
    }

    /// Adds counts to a month.
    pub fn add(&mut self, month: Month, counts: UsageCounts) {
        if counts != UsageCounts::default() {
            let before = self.months.entry(month).or_default();
            *before = before.plus(counts);
        }
    }

    /// Counts an event that is numbered at `now`.
    pub fn count(&mut self, event: &HistoryEntry, now: DateTime<Utc>) {
        let first_open = Month::of(now - FINAL_AFTER + SETTLING);
        // Counts that were invoiced stay the same, and no late event is lost.
        self.add(Month::of(event.origin.at).max(first_open), UsageCounts::of_event(event));
    }

    /// Removes and returns the months that are final at `now`.
    #[must_use]
    pub fn take_final(&mut self, now: DateTime<Utc>) -> Self {
        let open = self.months.split_off(&Month::of(now - FINAL_AFTER));
        Self { months: std::mem::replace(&mut self.months, open) }
    }

    /// Merges both. Months in both get the counts of `other`.
    #[must_use]
    pub fn replaced_by(mut self, other: Self) -> Self {
        self.months.extend(other.months);
        self
    }
}

/// The usage of a company in its closed months. A month is closed with the first batch of events that is numbered after the month
/// has become final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedUsage {
    pub company: CompanyId,
    pub usage: UsageByMonth,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{ChangeAuthor, ChangeOrigin, FieldChanges, ResourceChange, ResourceRef};
    use crate::samples;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    fn event(types: &[EventType], seconds: Option<u64>, stamped: &str) -> HistoryEntry {
        let mut details = FieldChanges::default();
        details.facts.extend(seconds.map(|seconds| ("seconds".to_owned(), seconds.into())));
        let company = samples::company().id;
        let change = ResourceChange::new(&company, ResourceRef::Company, types.to_vec(), details);
        HistoryEntry::new(
            change,
            1,
            ChangeOrigin::new(ChangeAuthor::System, at(stamped)),
            TimeDelta::days(400),
        )
    }

    #[test]
    fn months_are_written_in_one_way() {
        for good in ["2026-11", "2026-01", "0001-12", "9999-12"] {
            assert_eq!(month(good).to_string(), good);
        }
        let wrong = [
            "",
            "2026",
            "2026-1",
            "2026-13",
            "2026-00",
            "+2026-11",
            "2026-11 ",
            " 2026-11",
            "26-11",
            "2026-11-01",
            "10000-01",
        ];
        for bad in wrong {
            assert!(bad.parse::<Month>().is_err(), "{bad}");
        }
        let months: Vec<String> =
            month("2026-11").up_to(month("2027-02")).map(|one| one.to_string()).collect();
        assert_eq!(months, ["2026-11", "2026-12", "2027-01", "2027-02"]);
        assert_eq!(month("2026-11").up_to(month("2026-10")).count(), 0);
        assert_eq!(Month::of(at("2026-12-31T23:59:59.9Z")), month("2026-12"));
    }

    #[test]
    fn an_event_counts_in_the_month_of_its_timestamp_until_that_is_about_to_be_final() {
        for (numbered_at, counted_in, is_final) in [
            ("2026-10-31T23:59:59Z", "2026-10", false),
            ("2026-11-03T22:59:59Z", "2026-10", false),
            ("2026-11-03T23:00:00Z", "2026-11", false),
            ("2026-11-03T23:59:59Z", "2026-11", false),
            ("2026-11-04T00:00:00Z", "2026-11", true),
            ("2027-02-02T00:00:00Z", "2027-01", true),
        ] {
            let mut usage = UsageByMonth::default();
            usage
                .count(&event(&[EventType::CandidateInvited], None, "2026-10-31T23:59:59Z"), at(numbered_at));
            let counted: Vec<Month> = usage.months().map(|(month, _)| month).collect();
            assert_eq!(counted, [month(counted_in)], "{numbered_at}");
            assert_eq!(month("2026-10").is_final(at(numbered_at)), is_final, "{numbered_at}");
        }
    }

    #[test]
    fn events_count_by_all_of_their_types() {
        let mut usage = UsageByMonth::default();
        let stamped = "2026-11-08T10:00:00Z";
        for (types, seconds) in [
            (&[EventType::CandidateCreated, EventType::CandidateInvited][..], None),
            (&[EventType::CandidateInterviewed], None),
            (&[EventType::AnswerConverted], Some(87)),
            // An event whose facts were erased.
            (&[EventType::AnswerConverted], None),
            (&[EventType::AnswerFailed], Some(5)),
            (&[EventType::CandidateUpdated], None),
        ] {
            usage.count(&event(types, seconds, stamped), at(stamped));
        }
        let expected = UsageCounts {
            candidates_invited: 1,
            interviews_completed: 1,
            answers_converted: 2,
            seconds_converted: 87,
        };
        assert_eq!(usage.months().collect::<Vec<_>>(), [(month("2026-11"), expected)]);
        assert_eq!(usage.of_month(month("2026-12")), UsageCounts::default());
    }

    #[test]
    fn final_months_are_taken_out_and_others_stay() {
        let invited = UsageCounts { candidates_invited: 1, ..UsageCounts::default() };
        let mut usage = UsageByMonth::default();
        for one in ["2026-09", "2026-10", "2026-11", "2026-12"] {
            usage.add(month(one), invited);
        }
        let whole = usage.clone();
        assert!(usage.take_final(at("2026-10-03T23:59:59Z")).is_empty());
        let taken = usage.take_final(at("2026-12-03T23:59:59Z"));
        let names =
            |usage: &UsageByMonth| usage.months().map(|(month, _)| month.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (names(&taken), names(&usage)),
            (
                vec!["2026-09".to_owned(), "2026-10".to_owned()],
                vec!["2026-11".to_owned(), "2026-12".to_owned()]
            )
        );
        assert_eq!(taken.clone().replaced_by(usage), whole);
        // A month in both counts once.
        assert_eq!(taken.replaced_by(whole.clone()), whole);
    }
}
