mod conversions;

use super::*;
use crate::candidate::{InterviewAdjustments, TimeFactor};
use crate::id::Id;
use crate::media::conversion::{Conversion, ConversionResult};
use crate::questionnaire::{ANSWER_SECONDS, Anchors, QuestionText};
use crate::samples;
use crate::text::TextLines;
use chrono::TimeDelta;

fn question() -> Question {
    Question {
        id: Id::from_bytes([3; 16]),
        revision: 1,
        position: 1,
        text: QuestionText::parse("Why us?").unwrap(),
        former_texts: Vec::new(),
        kind: QuestionKind::Video,
        video: None,
        preparation_seconds: Some(10),
        answer_seconds: ANSWER_SECONDS,
        takes: Some(2),
        is_required: true,
        internal_description: TextLines::default(),
        anchors: Anchors::default(),
    }
}

fn terms() -> TakeTerms {
    TakeTerms::of(&samples::candidate())
}

fn granted(time_factor: f64, extra_takes: u32) -> TakeTerms {
    let time_factor = TimeFactor::parse(time_factor).unwrap();
    let adjustments = InterviewAdjustments { time_factor, extra_takes, may_write: false };
    TakeTerms { adjustments, ..terms() }
}

fn at(second: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
}

fn parts<const N: usize>(numbers: [u32; N]) -> [RecordedPart; N] {
    numbers.map(|number| RecordedPart { number, bytes: 1_000_000, arrived_at: at(number.into()) })
}

fn finished(parts: Option<u32>) -> FinishedTake {
    FinishedTake { parts, recorded_seconds: Some(20), source: TakeSource::Recorder }
}

fn begun() -> Answers {
    Answers::of(&samples::candidate()).begin_take(&question(), &terms(), &[], at(0)).unwrap()
}

fn take(number: u32) -> TakeRef {
    TakeRef { question: question().id, number }
}

fn converted(answers: Answers, number: u32) -> Answers {
    let made = ConversionResult { seconds: 20, width: 640, height: 480 };
    answers.with_take(take(number), |take| take.end_conversion(Conversion::succeeded(made)))
}

fn failed(answers: Answers, number: u32) -> Answers {
    answers.with_take(take(number), |take| take.end_conversion(Conversion::failed("broken")))
}

fn left(answers: &Answers) -> u32 {
    answers.answer_to(question().id).unwrap().counts().left(&question(), 0)
}

/// Whether the required question is missing.
fn is_missing(answers: &Answers, second: i64) -> bool {
    !answers.missing(&questionnaire(), InterviewAdjustments::default(), at(second)).is_empty()
}

#[test]
fn a_take_has_time_to_prepare_and_to_answer_with_the_factor() {
    let terms = granted(1.5, 0);
    let answers = Answers::of(&samples::candidate()).begin_take(&question(), &terms, &[], at(0)).unwrap();
    let take = answers.take(take(1)).unwrap();
    assert_eq!((take.record_from, take.record_until), (at(15), at(15 + 180)));
    assert_eq!((take.answer_seconds, take.most_parts()), (180, 140));
    assert_eq!(answers.due_at(), Some(at(195) + TimeDelta::minutes(30)));
    let filmed = TakeTerms { video_seconds: 20, ..terms };
    let after_film = Answers::of(&samples::candidate()).begin_take(&question(), &filmed, &[], at(0)).unwrap();
    assert_eq!(after_film.take(self::take(1)).unwrap().record_from, at(35), "the film has no factor");
    let terms = TakeTerms { ends_at: Some(at(-1790)), ..terms };
    let late = Answers::of(&samples::candidate()).begin_take(&question(), &terms, &[], at(0)).unwrap();
    assert_eq!(late.take(self::take(1)).unwrap().record_until, at(10), "half an hour after the end at most");
}

#[test]
fn a_take_is_finished_once_all_its_parts_are_there() {
    let finish = |parts, found: &[RecordedPart]| begun().finish_take(take(1), finished(parts), found, at(30));
    assert_eq!(finish(Some(3), &parts([1, 3])), Ok(None));
    assert_eq!(finish(None, &parts([2])), Ok(None), "the beginning is missing");
    let done = finish(Some(2), &parts([1, 2, 3])).unwrap().unwrap();
    let kept = done.take(take(1)).unwrap();
    assert_eq!((kept.last_part, kept.part_count, kept.finished_at), (2, 2, Some(at(30))));
    assert_eq!(done.to_convert(&begun()), [take(1)]);
    assert!(!is_missing(&done, 30) && is_missing(&begun(), 30));
    let again = done.clone().finish_take(take(1), finished(Some(2)), &parts([1, 2]), at(40));
    assert_eq!(again, Ok(Some(done)), "a repeat changes nothing");
    let huge = [RecordedPart { number: 1, bytes: 273_000_000, arrived_at: at(1) }];
    assert_eq!(finish(Some(1), &huge), Err(TOO_LARGE));
}

fn questionnaire() -> Questionnaire {
    Questionnaire::new(samples::company().id, samples::project().id).with_question(question()).unwrap()
}

#[test]
fn a_later_take_closes_the_earlier_one_which_is_not_counted_twice() {
    let answers = begun().begin_take(&question(), &terms(), &parts([1, 2]), at(60)).unwrap();
    let first = answers.take(take(1)).unwrap();
    assert!(first.is_interrupted && first.part_count == 2 && !first.is_open());
    assert_eq!(answers.to_convert(&begun()), [take(1)]);
    assert_eq!(left(&answers), 1, "the interrupted one does not count");
    let late = answers.clone().finish_take(take(1), finished(Some(2)), &parts([1, 2]), at(61));
    assert_eq!(late, Err(TAKE_CLOSED));
    // A take without part 1 is dropped, and still counts.
    let dropped = begun().begin_take(&question(), &terms(), &parts([2]), at(60)).unwrap();
    assert_eq!((dropped.take(take(1)), left(&dropped)), (None, 1));
    let counts = TakeCounts { begun: 2, failed: 0, interrupted: 1, withdrawn: 0 };
    assert_eq!(dropped.answer_to(question().id).unwrap().counts(), counts);
}

#[test]
fn takes_are_used_up_but_by_failures_and_two_interruptions() {
    let mut answers = begun();
    for number in 2..=4 {
        answers = answers.begin_take(&question(), &terms(), &parts([2]), at(number)).unwrap();
    }
    assert_eq!(left(&answers), 0, "two of three interrupted ones are free");
    assert_eq!(answers.clone().begin_take(&question(), &terms(), &parts([2]), at(5)), Err(NO_TAKES_LEFT));
    let extra = granted(1.0, 1);
    assert!(answers.clone().begin_take(&question(), &extra, &parts([2]), at(5)).is_ok());
    let failed = failed(answers, 4);
    assert_eq!(left(&failed), 1);
    assert!(is_missing(&failed, 5));
    assert!(failed.answer_to(question().id).unwrap().failed_take().is_some());
    let unlimited = Question { takes: None, ..question() };
    let mut many = Answers::of(&samples::candidate());
    for number in 0..20 {
        many = many.begin_take(&unlimited, &terms(), &[], at(number)).unwrap();
    }
    assert_eq!(many.begin_take(&unlimited, &terms(), &[], at(21)), Err(NO_TAKES_LEFT));
}

#[test]
fn three_takes_are_given_back_that_are_closed_before_anything_could_be_recorded() {
    let give_up = |answers: Answers, number, found: &[RecordedPart], second| {
        answers.finish_take(take(number), finished(Some(0)), found, at(second)).unwrap().unwrap()
    };
    // Ten seconds to prepare, and a minute in which a take can still be withdrawn.
    for (found, second, expected) in
        [(vec![], 70, 2), (vec![], 71, 1), (parts([1]).to_vec(), 70, 1), (parts([2]).to_vec(), 70, 1)]
    {
        let closed = give_up(begun(), 1, &found, second);
        assert_eq!((left(&closed), closed.take(take(1))), (expected, None), "{found:?} {second}");
    }
    let mut answers = Answers::of(&samples::candidate());
    for number in 1..=4 {
        answers = answers.begin_take(&question(), &terms(), &[], at(0)).unwrap();
        answers = give_up(answers, number, &[], 5);
        assert_eq!(left(&answers), if number <= 3 { 2 } else { 1 }, "{number}");
    }
    // Beginning the next take also closes this one.
    let next = begun().begin_take(&question(), &terms(), &[], at(70)).unwrap();
    assert_eq!(left(&next), 1);
    let late = begun().begin_take(&question(), &terms(), &[], at(71)).unwrap();
    assert_eq!(left(&late), 0);
    assert_eq!(late.answer_to(question().id).unwrap().counts().interrupted, 0);
}

#[test]
fn a_take_that_is_given_up_leaves_the_earlier_answer() {
    let first =
        converted(begun().finish_take(take(1), finished(Some(1)), &parts([1]), at(30)).unwrap().unwrap(), 1);
    let second = first.begin_take(&question(), &terms(), &[], at(60)).unwrap();
    let left_alone =
        second.clone().finish_take(take(2), finished(Some(0)), &parts([1, 2]), at(90)).unwrap().unwrap();
    let answer = left_alone.answer_to(question().id).unwrap();
    assert_eq!((answer.answer_take().unwrap().number, answer.open_take()), (1, None));
    assert_eq!(left_alone.to_clear(&second), [take(2)], "its parts");
    assert_eq!(left(&left_alone), 0, "it is used up");
    let again = left_alone.finish_take(take(2), finished(Some(0)), &[], at(91));
    assert_eq!(again, Err(TAKE_CLOSED));
    // The earlier take stays closed.
    let interrupted = begun().begin_take(&question(), &terms(), &parts([1]), at(60)).unwrap();
    let alone = interrupted.finish_take(take(2), finished(Some(0)), &[], at(61)).unwrap().unwrap();
    assert!(alone.take(take(1)).unwrap().is_interrupted);
    assert_eq!(alone.finish_take(take(1), finished(Some(2)), &parts([1, 2]), at(62)), Err(TAKE_CLOSED));
}

#[test]
fn a_question_whose_takes_and_time_are_used_up_is_not_missing() {
    let asked = Question { takes: Some(1), ..question() };
    let answers = Answers::of(&samples::candidate()).begin_take(&asked, &terms(), &[], at(0)).unwrap();
    let given = answers.answer_to(asked.id).unwrap();
    let none = InterviewAdjustments::default();
    let end = 10 + i64::from(ANSWER_SECONDS);
    assert!(
        !given.is_unanswerable(&asked, none, at(end - 1)) && given.is_unanswerable(&asked, none, at(end))
    );
    for granted in
        [InterviewAdjustments { extra_takes: 1, ..none }, InterviewAdjustments { may_write: true, ..none }]
    {
        assert!(!given.is_unanswerable(&asked, granted, at(end)), "{granted:?}");
    }
    let questionnaire = Questionnaire::new(samples::company().id, samples::project().id)
        .with_question(asked.clone())
        .unwrap();
    let missing = |answers: &Answers, second| answers.missing(&questionnaire, none, at(second)).len();
    assert_eq!((missing(&answers, end - 1), missing(&answers, end)), (1, 0));
    // Closing the take makes no difference.
    let closed = answers.clone().close_take(take(1), &[], true, at(4000));
    assert!(closed.answer_to(asked.id).unwrap().open_take().is_none());
    assert_eq!(missing(&closed, 4000), 0);
    assert_eq!(missing(&answers.reset(asked.id), 4000), 1);
}

#[test]
fn a_take_without_its_beginning_stays_open_until_the_interview_closes() {
    let waiting = begun().close_take(take(1), &parts([2]), false, at(4000));
    assert!(waiting.take(take(1)).unwrap().is_open());
    assert_eq!(waiting.due_at(), Some(at(4000 + 2000)), "half of its age later");
    let old = begun().close_take(take(1), &[], false, at(100 * 86_400));
    assert_eq!(old.due_at(), Some(at(101 * 86_400)), "once a day at least");
    let sending = begun().close_take(take(1), &parts([1, 2000]), false, at(3000));
    assert!(sending.take(take(1)).unwrap().is_open());
    assert_eq!(sending.due_at(), Some(at(2000 + 1800)), "half an hour after the last part");
    let closed = waiting.close_take(take(1), &parts([2]), true, at(5000));
    assert_eq!((closed.take(take(1)), closed.due_at()), (None, None));
}

#[test]
fn a_take_that_is_too_large_is_dropped_with_its_parts_when_it_is_closed() {
    let huge = [RecordedPart { number: 1, bytes: 273_000_000, arrived_at: at(1) }];
    let swept = begun().close_take(take(1), &huge, false, at(4000));
    let followed = begun().begin_take(&question(), &terms(), &huge, at(60)).unwrap();
    for closed in [&swept, &followed] {
        assert_eq!((closed.take(take(1)), closed.to_clear(&begun())), (None, vec![take(1)]));
        assert!(closed.to_convert(&begun()).is_empty());
        assert!(is_missing(closed, 60), "it is no answer");
    }
    assert_eq!(left(&swept), 2);
}

#[test]
fn a_reset_gives_takes_back_and_numbers_go_on() {
    let reset = begun().reset(question().id);
    assert!(!reset.has_begun(question().id) && begun().has_begun(question().id));
    assert_eq!(left(&reset), 2);
    let next = reset.begin_take(&question(), &terms(), &[], at(9)).unwrap();
    assert_eq!(next.open_takes().collect::<Vec<_>>(), [take(2)]);
}

#[test]
fn only_questions_of_the_kind_are_written_or_recorded() {
    let text = || AnswerText::parse("Because.").unwrap();
    let none = || Answers::of(&samples::candidate());
    let written = Question { kind: QuestionKind::Text, ..question() };
    assert_eq!(none().write(&question(), false, text()), Err(NOT_WRITTEN));
    assert!(none().write(&question(), true, text()).is_ok());
    let (answers, stored) = none().write(&written, false, text()).unwrap();
    assert!(!is_missing(&answers, 0));
    assert_eq!((answers.written().collect::<Vec<_>>(), stored.text), (vec![written.id], Some(text())));
    assert_eq!(none().begin_take(&written, &terms(), &[], at(0)), Err(NOT_RECORDED));
}

#[test]
fn parts_are_signed_as_long_as_all_together_may_be_as_large() {
    const MEGABYTES: u64 = 1_000_000;
    let answers = begun();
    let take = answers.take(take(1)).unwrap();
    let most = take.most_bytes();
    let part = |number, bytes| RecordedPart { number, bytes, arrived_at: at(0) };
    // All parts are signed ahead, with the same size.
    let size = most / u64::from(take.most_parts());
    for number in 1..=take.most_parts() {
        assert_eq!(take.may_grow_by(&[(number, size)], &[]), Ok(()), "{number}");
    }
    assert_eq!(take.may_grow_by(&[(2, most / 2 + 1)], &[]), Err(TOO_LARGE), "the first may be as large");
    assert_eq!(take.may_grow_by(&[(2, most / 2 + 1)], &[part(1, 5)]), Ok(()), "it is not");
    let found = [part(1, most - MEGABYTES)];
    assert_eq!(take.may_grow_by(&[(2, MEGABYTES)], &found), Ok(()));
    assert_eq!(take.may_grow_by(&[(2, MEGABYTES), (3, 1)], &found), Err(TOO_LARGE));
    assert_eq!(take.may_grow_by(&[(1, most)], &found), Ok(()), "the bucket refuses it: it is there");
    // These few parts fit at any size, so their sizes are not counted.
    let uncounted =
        (1..=take.most_parts()).filter(|number| !take.can_outgrow_by(&[(*number, 1)])).max().unwrap();
    assert_eq!(u64::from(uncounted), most / u64::from(MAX_PART_BYTES));
    let full: Vec<_> = (1..=uncounted).map(|number| (number, MAX_PART_BYTES.into())).collect();
    assert_eq!(take.may_grow_by(&full, &[]), Ok(()));
    // The maximum that can be signed before any part arrives.
    let largest = |number: u32| (most / u64::from(number)).min(MAX_PART_BYTES.into());
    let signed: u64 = (1..=take.most_parts()).map(largest).sum();
    assert!(signed < most * 34 / 10, "{signed} of {most}");
}
