//! Mails that remind evaluators.

use super::render_to;
use crate::domain::language::Language;
use crate::domain::text::ShortName;
use crate::mail::{EndedInterviewLine, EndedInterviewList, MailOccasion, WaitingDays};

const FILM: &str = "https://suite.example/result/acme/1/2/";
const PAGE: &str = "https://suite.example/project/acme/1/";

#[test]
fn evaluators_read_in_their_language_who_waits_and_for_how_long() {
    let names = ["Zoë", "O'Hara", "Acme"].map(|name| ShortName::parse(name).unwrap());
    let sales = ShortName::parse("Sales").unwrap();
    for language in Language::ALL {
        let line = |days| EndedInterviewLine {
            candidate: "Ada Byron".to_owned(),
            ended_at: "8 November".to_owned(),
            ended_by_time: None,
            waiting_days: Some(WaitingDays(days)),
            link: FILM.to_owned(),
        };
        let list = |days: &[i64]| EndedInterviewList {
            project: "Sales".to_owned(),
            link: PAGE.to_owned(),
            lines: days.iter().map(|days| line(*days)).collect(),
        };
        let mail = |count, project, days: &[i64], more| {
            let lists = [list(days)];
            render_to(
                &names,
                &MailOccasion::EvaluationsAwaited { count, project, lists: &lists, more },
                language,
            )
        };
        let one = mail(1, Some(&sales), &[1], 0);
        assert!(
            one.subject.starts_with("1 ") && one.subject.contains("Sales"),
            "{language:?} {}",
            one.subject
        );
        let many = mail(99, None, &[0, 1, 14], 96);
        assert!(many.subject.starts_with("99 ") && !many.subject.contains("Sales"), "{}", many.subject);
        assert!(many.text.contains("99 ") && many.text.contains("96"), "{language:?} {}", many.text);
        let lines: Vec<&str> =
            many.text.lines().filter(|line| line.starts_with("- Ada Byron, 8 November, ")).collect();
        assert_eq!(lines.len(), 3, "{language:?} {}", many.text);
        assert!(
            lines[1].contains(" 1 ") && lines[2].contains(" 14 ") && !lines[0].contains('0'),
            "{lines:?}"
        );
        assert!(!many.text.contains("\n\n\n"), "{:?}", many.text);
        for part in [&many.text, &many.html] {
            assert_eq!(
                (part.matches(FILM).count(), part.matches(PAGE).count()),
                (3, 1),
                "{language:?} {part}"
            );
            assert!(!part.contains("{{") && !part.contains("{%"), "{part}");
        }
    }
}
