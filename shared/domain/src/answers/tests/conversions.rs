//! Takes after their conversions have succeeded or failed.

use super::*;

#[test]
fn the_answer_is_the_last_finished_take_and_earlier_ones_stay_until_it_can_be_played() {
    let end = |answers: Answers, number| {
        answers.finish_take(take(number), finished(Some(1)), &parts([1]), at(30)).unwrap().unwrap()
    };
    let first = converted(end(begun(), 1), 1);
    let second = first.begin_take(&question(), &terms(), &[], at(60)).unwrap();
    assert_eq!(second.answer_to(question().id).unwrap().answer_take().unwrap().number, 1);
    let second = end(second, 2);
    assert_eq!(second.answer_to(question().id).unwrap().answer_take().unwrap().number, 2);
    let back = failed(second.clone(), 2);
    assert_eq!(back.answer_to(question().id).unwrap().answer_take().unwrap().number, 1);
    let done = converted(second.clone(), 2);
    assert_eq!((done.to_clear(&second), done.take(take(1))), (vec![take(1)], None));
    assert_eq!(left(&done), 0);
}

#[test]
fn neither_the_answer_nor_what_can_be_played_gives_way_to_later_takes() {
    let asked = Question { takes: None, ..question() };
    let begin =
        |answers: Answers, second| answers.begin_take(&asked, &terms(), &parts([1]), at(second)).unwrap();
    let finish = |answers: Answers, number| {
        answers.finish_take(take(number), finished(Some(1)), &parts([1]), at(30)).unwrap().unwrap()
    };
    let mut answers = converted(finish(begun(), 1), 1);
    for number in 2..=6 {
        answers = failed(finish(begin(answers, 40), number), number);
        assert!(answers.take(take(1)).is_some(), "{number}");
    }
    let answer = |answers: &Answers| answers.answer_to(asked.id).unwrap().answer_take().unwrap().number;
    assert_eq!((answer(&answers), answers.takes().count()), (1, 4));
    // Newer takes that still await conversion may fail.
    for number in 7..=12 {
        answers = finish(begin(answers, 50), number);
        assert!(answers.take(take(1)).is_some(), "{number}");
        assert_eq!((answer(&answers), answers.takes().count()), (number, 4));
    }
    assert_eq!(answers.answer_to(asked.id).unwrap().counts().begun, 12);
}

#[test]
fn what_can_be_played_of_an_interrupted_take_stays_if_more_parts_cannot_be_converted() {
    let open = begun();
    let closed = open.close_take(take(1), &parts([1, 2]), true, at(40));
    let playable = converted(closed, 1);
    let more = playable.finish_take(take(1), finished(Some(3)), &parts([1, 2, 3]), at(50)).unwrap().unwrap();
    let under_way = more.take(take(1)).unwrap();
    assert!(under_way.conversion.is_under_way() && under_way.conversion.converted.is_some());
    let begun = under_way.conversion.begun("event", at(51)).unwrap();
    let broken = more.with_take(take(1), |take| {
        take.conversion = begun;
        take.end_conversion(Conversion::failed("broken"));
    });
    let kept = broken.take(take(1)).unwrap();
    assert_eq!(kept.conversion.status, ConversionStatus::Successful);
    assert!(kept.is_interrupted && kept.is_answer());
}

#[test]
fn an_interrupted_take_can_be_finished_with_more_parts() {
    let closed = begun().close_take(take(1), &parts([1]), false, at(4000));
    assert!(closed.take(take(1)).unwrap().is_interrupted);
    let done = converted(closed, 1);
    let same = done.clone().finish_take(take(1), finished(Some(1)), &parts([1]), at(4100)).unwrap().unwrap();
    let kept = same.take(take(1)).unwrap();
    assert!(!kept.is_interrupted && kept.conversion.status == ConversionStatus::Successful);
    assert!(same.to_convert(&done).is_empty());
    assert_eq!(same.to_clear(&done), [take(1)], "its parts");
    let more =
        done.clone().finish_take(take(1), finished(Some(2)), &parts([1, 2]), at(4100)).unwrap().unwrap();
    assert_eq!(more.to_convert(&done), [take(1)]);
}

#[test]
fn parts_that_are_no_recording_are_given_up_and_earlier_takes_stay() {
    let first = begun().begin_take(&question(), &terms(), &parts([1]), at(60)).unwrap();
    let second = first.finish_take(take(2), finished(Some(1)), &parts([1]), at(90)).unwrap().unwrap();
    let refused = second.clone().with_take(take(2), |take| take.refuse("lost"));
    let kept = refused.take(take(2)).unwrap();
    assert_eq!(kept.conversion.failure.as_deref(), Some("lost"));
    assert!(!kept.needs_parts() && refused.take(take(1)).is_some());
    assert_eq!(refused.to_retry(at(100)).count(), 0);
    let failed = failed(second, 2);
    assert!(failed.take(take(2)).unwrap().needs_parts());
    assert_eq!(failed.to_retry(at(100)).collect::<Vec<_>>(), [take(2)]);
}

#[test]
fn each_conversion_of_a_take_has_a_number_and_one_of_them_is_played() {
    let finish = |answers: Answers, found: &[RecordedPart], second| {
        let all = u32::try_from(found.len()).ok();
        answers.finish_take(take(1), finished(all), found, at(second)).unwrap().unwrap()
    };
    let begin = |answers: Answers, event: &str, second| {
        let begun = answers.take(take(1)).unwrap().begin_conversion(event, at(second)).unwrap();
        answers.with_take(take(1), |take| *take = begun)
    };
    let closed = begun().close_take(take(1), &parts([1]), false, at(4000));
    let first = begin(closed, "one", 4001);
    let needs = |answers: &Answers| {
        let take = answers.take(take(1)).unwrap();
        [0, 1, 2, 3].map(|number| take.needs_renditions_of(number))
    };
    assert_eq!(needs(&first), [false, true, true, true]);
    // More parts arrive: the first conversion continues, but no longer for this take.
    let second = begin(finish(first, &parts([1, 2]), 4002), "two", 4003);
    assert_eq!(needs(&second), [false, false, true, true]);
    let played = converted(second, 1);
    assert_eq!(played.take(take(1)).unwrap().played_conversion, Some(2));
    let third = begin(played.with_take(take(1), |take| take.retry_conversion(at(5000))), "three", 5001);
    assert_eq!(needs(&third), [false, false, true, true], "the former one plays meanwhile");
    let broken = failed(third, 1);
    assert_eq!(
        (needs(&broken), broken.take(take(1)).unwrap().last_conversion),
        ([false, false, true, false], 3)
    );
}

#[test]
fn the_history_tells_of_conversions_alone() {
    let before = begun().finish_take(take(1), finished(Some(1)), &parts([1]), at(30)).unwrap().unwrap();
    let created = Answers::change_between(None, Some(&begun())).unwrap();
    assert!(!created.is_event());
    let change = Answers::change_between(Some(&before), Some(&converted(before.clone(), 1))).unwrap();
    assert_eq!(change.types, ["answer.converted"]);
    assert_eq!(change.details.facts["take"], 1);
    assert_eq!(change.details.facts["seconds"], 20);
    assert!(Answers::change_between(Some(&before), None).is_none());
    assert_eq!(Conversion::awaiting_upload().status, ConversionStatus::AwaitingUpload);
}

#[test]
fn a_doubtful_length_keeps_parts_and_earlier_takes_until_a_retry_dispels_it() {
    let made = |seconds| Conversion::succeeded(ConversionResult { seconds, width: 640, height: 480 });
    let end = |answers: Answers, number, end: Conversion| {
        answers.with_take(take(number), |take| take.end_conversion(end))
    };
    let finish = |answers: Answers, number| {
        answers.finish_take(take(number), finished(Some(1)), &parts([1]), at(30)).unwrap().unwrap()
    };
    let first = converted(finish(begun(), 1), 1);
    let second = finish(first.begin_take(&question(), &terms(), &[], at(60)).unwrap(), 2);
    let is_doubtful = |answers: &Answers| answers.take(take(2)).unwrap().is_doubtful();
    for (seconds, expected) in [(15, true), (16, false), (24, false), (25, true)] {
        assert_eq!(is_doubtful(&end(second.clone(), 2, made(seconds))), expected, "{seconds} of 20");
    }
    let doubtful = end(second, 2, made(3));
    assert!(doubtful.take(take(2)).unwrap().needs_parts() && doubtful.take(take(1)).is_some());
    assert_eq!(doubtful.to_retry(at(90)).collect::<Vec<_>>(), [take(2)]);
    let retried = doubtful.retry_conversions(at(90));
    assert!(retried.take(take(2)).unwrap().conversion.converted.is_some(), "it plays meanwhile");
    let still = end(retried.clone(), 2, Conversion::failed("broken"));
    assert!(is_doubtful(&still) && still.take(take(2)).unwrap().is_answer());
    let repaired = end(retried, 2, made(20));
    assert!(!repaired.take(take(2)).unwrap().needs_parts());
    assert_eq!((repaired.take(take(1)), repaired.to_retry(at(90)).count()), (None, 0));
}
