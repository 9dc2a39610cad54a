//! Reminders of evaluators: the mornings when those of a company are due, and how often a member of staff was reminded of whom.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc, Weekday};
use serde::{Deserialize, Serialize};

use super::ended_interviews::{EndedInterview, EndedInterviews};
use crate::id::{CandidateId, CompanyId, ProjectId};
use crate::time_zone::TimeZone;

/// The hour of a working day from which evaluators are reminded.
const MORNING: u32 = 8;
/// The maximum number of mails about one candidate to one person.
const MAX_MAILS: u8 = 10;
/// The maximum number of candidates that one mail is about and whose mails are counted.
// Each write of the notice is charged by its size.
const MAX_COUNTED: usize = 2_000;
/// How long the counts are kept after the last mail.
const KEPT: TimeDelta = TimeDelta::days(400);

/// The next morning on which the evaluators of a company are reminded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationRound {
    pub company: CompanyId,
    /// When the round is due; `None` until the schedule has planned it.
    pub next_at: Option<DateTime<Utc>>,
    /// Where the next step continues; `None` if the last one has read all candidates and handed over all mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadingPlace>,
}

/// How far the candidates of a company have been read for the reminders of a day, ordered by project and candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPlace {
    pub day: NaiveDate,
    pub project: ProjectId,
    /// The last candidate of this project that was read; `None` if none was.
    pub candidate: Option<CandidateId>,
}

impl EvaluationRound {
    /// The round of a company that starts to use reminders. The schedule first only plans it, so that nobody is reminded as soon
    /// as a setting is saved.
    pub fn unplanned(company: CompanyId) -> Self {
        Self { company, next_at: None, reading: None }
    }

    /// When the schedule must process the round.
    pub fn due_at(&self) -> DateTime<Utc> {
        self.next_at.unwrap_or_default()
    }

    /// Moves the round to the next morning after `now`.
    pub fn plan(self, zone: &TimeZone, now: DateTime<Utc>) -> Self {
        let days = zone.local_time(now).date_naive().iter_days();
        let mornings = days.filter(|day| is_working(*day)).map(|day| morning_of(day, zone));
        Self { next_at: mornings.take(7).find(|moment| *moment > now), reading: None, ..self }
    }

    /// Makes the next step continue at a place, after the companies that were due before `now`.
    pub fn go_on(self, from: ReadingPlace, now: DateTime<Utc>) -> Self {
        Self { next_at: Some(now), reading: Some(from), ..self }
    }

    /// Where the step of `day` begins; `None` for the first candidate.
    pub fn place_on(&self, day: NaiveDate) -> Option<ReadingPlace> {
        self.reading.filter(|place| place.day == day)
    }

    /// The day that ended before all evaluators were reminded; `None` if there is none.
    pub fn missed_day(&self, zone: &TimeZone, now: DateTime<Utc>) -> Option<NaiveDate> {
        let today = zone.local_time(now).date_naive();
        self.reading.map(|place| place.day).filter(|day| *day < today)
    }

    /// The day whose reminders are sent at `now`: a working day, from 8 o'clock on. `None` while the round has yet to be planned,
    /// and at other times, which a change of the time zone can cause.
    pub fn day_at(&self, zone: &TimeZone, now: DateTime<Utc>) -> Option<NaiveDate> {
        let local = zone.local_time(now);
        let day = local.date_naive();
        (self.next_at.is_some() && is_working(day) && local.hour() >= MORNING).then_some(day)
    }
}

/// When reminders start on a day.
pub fn morning_of(day: NaiveDate, zone: &TimeZone) -> DateTime<Utc> {
    zone.first_moment(day.and_time(morning()))
}

fn morning() -> NaiveTime {
    NaiveTime::from_num_seconds_from_midnight_opt(MORNING * 3_600, 0).unwrap_or_default()
}

fn is_working(day: NaiveDate) -> bool {
    !matches!(day.weekday(), Weekday::Sat | Weekday::Sun)
}

/// Whether an evaluation is due on `day`: at least this number of `days` after the day when the interview ended.
pub fn is_evaluation_due(ended_at: DateTime<Utc>, days: u32, zone: &TimeZone, day: NaiveDate) -> bool {
    let due = zone.local_time(ended_at).date_naive().checked_add_days(Days::new(days.into()));
    due.is_some_and(|due| due <= day)
}

/// The reminders that a member of staff got.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationReminders {
    /// The day of the last reminder.
    pub last_day: Option<NaiveDate>,
    /// For each candidate, the number of reminders during which they waited, whether the mail named them or not.
    pub mails: BTreeMap<CandidateId, u8>,
}

impl EvaluationReminders {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Records the mail of `day` about waiting candidates, oldest first, and returns those that it is about. `None` if there was
    /// a mail on that day already, or ten about each candidate.
    pub fn remind(mut self, day: NaiveDate, waiting: &[EndedInterview]) -> Option<(Self, EndedInterviews)> {
        if self.last_day.is_some_and(|last| last >= day) {
            return None;
        }
        let mut told = EndedInterviews::default();
        let mut counted = BTreeSet::new();
        for one in waiting {
            let mails = self.mails.get(&one.candidate).copied().unwrap_or_default();
            if mails < MAX_MAILS && counted.len() < MAX_COUNTED && counted.insert(one.candidate) {
                self.mails.insert(one.candidate, mails + 1);
                told.add(*one);
            }
        }
        // Keep the counts of candidates who no longer wait: they may wait again after a reopening or a withdrawn evaluation.
        let mut excess = self.mails.len().saturating_sub(MAX_COUNTED);
        self.mails.retain(|candidate, _| {
            let is_kept = excess == 0 || counted.contains(candidate);
            excess -= usize::from(!is_kept);
            is_kept
        });
        (!told.is_empty()).then_some((Self { last_day: Some(day), ..self }, told))
    }

    /// When the reminders are deleted; `None` if there were none.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        self.last_day.map(|day| day.and_time(NaiveTime::MIN).and_utc() + KEPT)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::Id;

    fn berlin() -> TimeZone {
        TimeZone::named("Europe/Berlin").unwrap()
    }

    fn round() -> EvaluationRound {
        EvaluationRound::unplanned("acme".parse().unwrap())
    }

    fn at(moment: &str) -> DateTime<Utc> {
        moment.parse().unwrap()
    }

    fn person(number: u16) -> EndedInterview {
        let mut bytes = [0; 16];
        bytes[14..].copy_from_slice(&number.to_be_bytes());
        EndedInterview { project: Id::from_bytes([1; 16]), candidate: Id::from_bytes(bytes) }
    }

    #[test]
    fn mornings_are_at_eight_of_working_days_also_when_clocks_change() {
        // Clocks are set back on Sunday 25 October 2026, and forward on Sunday 28 March 2027.
        for (now, next) in [
            ("2026-10-22T05:59:59Z", "2026-10-22T06:00:00Z"),
            ("2026-10-22T06:00:00Z", "2026-10-23T06:00:00Z"),
            ("2026-10-23T06:00:00Z", "2026-10-26T07:00:00Z"),
            ("2026-10-25T00:30:00Z", "2026-10-26T07:00:00Z"),
            ("2027-03-26T07:00:00Z", "2027-03-29T06:00:00Z"),
            ("2026-12-24T07:00:00Z", "2026-12-25T07:00:00Z"),
        ] {
            assert_eq!(round().plan(&berlin(), at(now)).next_at, Some(at(next)), "{now}");
        }
        let planned = EvaluationRound { next_at: Some(at("2026-10-23T06:00:00Z")), ..round() };
        for (now, day) in [
            ("2026-10-23T06:00:00Z", Some("2026-10-23")),
            ("2026-10-23T21:59:59Z", Some("2026-10-23")),
            ("2026-10-23T22:00:00Z", None),
            ("2026-10-24T09:00:00Z", None),
            ("2026-10-26T06:59:59Z", None),
            ("2026-10-26T07:00:00Z", Some("2026-10-26")),
        ] {
            assert_eq!(planned.day_at(&berlin(), at(now)), day.map(|day| day.parse().unwrap()), "{now}");
        }
        assert_eq!(round().day_at(&berlin(), at("2026-10-26T07:00:00Z")), None, "it is only planned");
    }

    #[test]
    fn a_round_goes_on_behind_others_on_the_same_day_alone() {
        let now = at("2026-10-23T06:00:30Z");
        let day = "2026-10-23".parse().unwrap();
        let place = ReadingPlace { day, project: person(1).project, candidate: Some(person(1).candidate) };
        let unfinished = round().plan(&berlin(), at("2026-10-22T06:00:00Z")).go_on(place, now);
        assert_eq!((unfinished.due_at(), unfinished.day_at(&berlin(), now)), (now, Some(day)));
        assert_eq!(unfinished.place_on(day), Some(place));
        assert_eq!(unfinished.place_on(day + Days::new(1)), None, "everybody is read anew");
        for (moment, missed) in [("2026-10-23T21:59:59Z", None), ("2026-10-23T22:00:00Z", Some(day))] {
            assert_eq!(unfinished.missed_day(&berlin(), at(moment)), missed, "{moment}");
        }
        let planned = unfinished.plan(&berlin(), now);
        assert_eq!(
            (planned.place_on(day), planned.missed_day(&berlin(), at("2026-10-26T07:00:00Z"))),
            (None, None)
        );
    }

    #[test]
    fn evaluations_are_due_by_calendar_days_of_the_company() {
        // Late on Thursday in Berlin; then a moment that is Friday in Berlin, but still Thursday in UTC.
        let due = |ended: &str, day: &str| is_evaluation_due(at(ended), 1, &berlin(), day.parse().unwrap());
        assert!(due("2026-10-22T21:59:00Z", "2026-10-23"));
        assert!(!due("2026-10-22T22:00:00Z", "2026-10-23"));
        assert!(due("2026-10-22T22:00:00Z", "2026-10-24"));
        assert!(!is_evaluation_due(at("2026-10-22T22:00:00Z"), u32::MAX, &berlin(), NaiveDate::MAX));
    }

    #[test]
    fn ten_mails_about_one_candidate_are_the_last_and_one_a_day() {
        let mut reminders = EvaluationReminders::default();
        let first: NaiveDate = "2026-10-01".parse().unwrap();
        for day in first.iter_days().take(10) {
            let (after, told) = reminders.remind(day, &[person(1)]).unwrap();
            assert_eq!(told.listed, [person(1)]);
            assert_eq!(after.clone().remind(day, &[person(1), person(2)]), None, "one a day");
            reminders = after;
        }
        let later = first + Days::new(20);
        assert_eq!(reminders.clone().remind(later, &[person(1)]), None);
        let (_, told) = reminders.remind(later, &[person(1), person(2)]).unwrap();
        assert_eq!(told.listed, [person(2)], "silent about the first");
    }

    #[test]
    fn counts_are_bounded_and_those_who_wait_keep_theirs() {
        let all: Vec<EndedInterview> = (0..2_500).map(person).collect();
        let day: NaiveDate = "2026-10-01".parse().unwrap();
        let (first, told) = EvaluationReminders::default().remind(day, &all).unwrap();
        assert_eq!(
            (first.mails.len(), told.listed.len(), told.more.values().sum::<u32>()),
            (2_000, 50, 1_950)
        );
        let (second, _) = first.remind(day + Days::new(1), &all[1_999..]).unwrap();
        assert_eq!(second.mails.len(), 2_000);
        assert_eq!(second.mails.get(&all[1_999].candidate), Some(&2));
        assert!(!second.mails.contains_key(&all[0].candidate), "the oldest one who waits no more");
    }

    /// One step of a history: the schedule runs after this number of hours, while these of five candidates wait.
    fn steps() -> impl Strategy<Value = Vec<(i64, [bool; 5])>> {
        prop::collection::vec((1..60_i64, prop::array::uniform5(any::<bool>())), 1..60)
    }

    proptest! {
        #[test]
        fn reminders_follow_the_reference(steps in steps(), start in 0..8_760_i64) {
            let zone = berlin();
            let mut now = at("2026-01-01T00:00:00Z") + TimeDelta::hours(start);
            let mut round = round().plan(&zone, now);
            let mut reminders = EvaluationReminders::default();
            // The reference: the first run from eight o'clock on a working day mails all waiting candidates with fewer than ten mails.
            let is_morning = |now| {
                let local = zone.local_time(now);
                local.weekday().number_from_monday() <= 5 && local.hour() >= 8
            };
            let mut last_run = is_morning(now).then(|| zone.local_time(now).date_naive());
            let mut counts = [0; 5];
            for (hours, waits) in steps {
                now += TimeDelta::hours(hours);
                let today = zone.local_time(now).date_naive();
                let mut expected = Vec::new();
                if is_morning(now) && last_run != Some(today) {
                    last_run = Some(today);
                    expected = (0..5).filter(|one| waits[*one] && counts[*one] < 10).collect();
                    expected.iter().for_each(|one| counts[*one] += 1);
                }

                let mut told = Vec::new();
                if round.due_at() <= now {
                    let waiting: Vec<_> = (0..5).filter(|one| waits[*one]).map(|one| person(one as u16)).collect();
                    let mail = round.day_at(&zone, now).and_then(|day| reminders.clone().remind(day, &waiting));
                    if let Some((after, mail)) = mail {
                        reminders = after;
                        told = mail.listed;
                    }
                    round = round.plan(&zone, now);
                }
                let expected: Vec<_> = expected.into_iter().map(|one| person(one as u16)).collect();
                prop_assert_eq!(told, expected, "{}", zone.local_time(now));
            }
        }
    }
}
