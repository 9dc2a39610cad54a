//! Mails to candidates about their interview, with every link.

use super::*;
use crate::domain::candidate::InterviewLength;
use crate::domain::text::ShortName;
use crate::mail::occasion::TimeEnd;

const FIRST: &str = "<script>alert(1)</script>";
const LAST: &str = "O'Neil \"Q\" & 🎥";
const COMPANY: &str = "<b>Ac&me</b>, \"Inc\"";
const PROJECT: &str = "C++ <dev> & {{ ops }} 'x'";
const PERSON: &str = "Zoë <zoe@acme.example>";
const DEADLINE: &str = "Sunday 8 November 2026";
const REGISTER: &str = "https://hr.example/register/aB3-_x";
const OPEN: &str = "https://hr.example/interview/acme/aB3-_x";
const START: &str = "https://hr.example/interview/acme/";

struct Case {
    names: [ShortName; 4],
    contact: Option<String>,
    deadline: Option<String>,
    length: Option<InterviewLength>,
    message: Option<String>,
    time_end: Option<TimeEnd>,
    link: Option<InterviewLink>,
    logo: Option<String>,
}

impl Case {
    fn hostile(link: Option<InterviewLink>) -> Self {
        Self {
            names: [FIRST, LAST, COMPANY, PROJECT].map(|name| ShortName::parse(name).unwrap()),
            contact: Some(PERSON.to_owned()),
            deadline: link.as_ref().map(|_| DEADLINE.to_owned()),
            length: None,
            message: None,
            time_end: Some(TimeEnd { at: DEADLINE.to_owned(), answered: 2 }),
            link,
            logo: None,
        }
    }

    fn render(&self, reason: CandidateMail, language: Language) -> RenderedMail {
        let [first_name, last_name, company, project] = &self.names;
        let contact = self.contact.clone();
        let deadline = self.deadline.clone();
        let occasion = MailOccasion::Interview {
            reason,
            project,
            length: self.length,
            message: self.message.clone(),
            ended: self.ended.clone(),
            contact,
            deadline,
            link: self.link.clone(),
            logo: self.logo.clone(),
        };
        PersonalMail { first_name, last_name, company, language, occasion }.render().unwrap()
    }
}

fn links() -> [InterviewLink; 3] {
    [
        InterviewLink::Register(REGISTER.to_owned()),
        InterviewLink::Open(OPEN.to_owned()),
        InterviewLink::Start(START.to_owned()),
    ]
}

/// The mails that ask for nothing.
const DONE: [CandidateMail; 2] = [CandidateMail::Completed, CandidateMail::EndedByTime];

/// Every mail, with and without a link as it comes.
fn all() -> impl Iterator<Item = (CandidateMail, Language, Option<InterviewLink>)> {
    let done = DONE.into_iter().flat_map(|mail| Language::ALL.map(|language| (mail, language, None)));
    asking().map(|(mail, language, link)| (mail, language, Some(link))).chain(done)
}

/// The mails that ask for something.
fn asking() -> impl Iterator<Item = (CandidateMail, Language, InterviewLink)> {
    let asking = CandidateMail::ALL.into_iter().filter(|mail| !DONE.contains(mail));
    let mails = asking.flat_map(|mail| Language::ALL.map(|language| (mail, language)));
    mails.flat_map(|(mail, language)| links().map(|link| (mail, language, link)))
}

#[test]
fn names_are_escaped_in_html_and_plain_in_text() {
    for (mail, language, link) in all() {
        let rendered = Case::hostile(link.clone()).render(mail, language);
        for name in [FIRST, LAST, COMPANY, PROJECT, PERSON] {
            assert!(!rendered.html.contains(name), "{mail:?} {language:?}: {name}");
            assert!(unescaped(&rendered.html).contains(name), "{mail:?} {language:?}: {name}");
            assert!(rendered.text.contains(name), "{mail:?} {language:?}: {name}");
        }
        for name in [COMPANY, PROJECT] {
            assert!(rendered.subject.contains(name), "{mail:?} {language:?}: {}", rendered.subject);
        }
        assert!(!rendered.html.contains("<script") && !rendered.html.contains("<b>"));
        assert!(!rendered.text.contains("&#"), "{}", rendered.text);
    }
}

#[test]
fn nothing_of_a_template_is_left() {
    for (mail, language, link) in all() {
        let RenderedMail { subject, html, text } = Case::hostile(link.clone()).render(mail, language);
        // The name of the project contains template marks.
        for part in [subject, unescaped(&html), text.clone()] {
            let rest = part.replace(PROJECT, "");
            for mark in ["{{", "}}", "{%", "%}", "{#", "#}"] {
                assert!(!rest.contains(mark), "{mail:?} {language:?}: {mark}");
            }
        }
        assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains(&format!("<html lang=\"{}\">", language.as_str())));
        assert!(!html.contains("src="), "nothing is loaded from elsewhere");
        assert!(!text.contains("\n\n\n") && !text.starts_with('\n') && !text.contains(" \n"), "{text:?}");
        assert_eq!(html.matches("<h1></h1>").count() + html.matches("<p></p>").count(), 0);
    }
}

#[test]
fn subjects_are_one_line() {
    for (mail, language, link) in all() {
        let subject = Case::hostile(link).render(mail, language).subject;
        assert!(!subject.is_empty() && !subject.contains(char::is_control), "{subject:?}");
        assert_eq!(subject, subject.trim());
    }
}

#[test]
fn the_link_stands_in_both_parts() {
    for (mail, language, link) in asking() {
        let RenderedMail { html, text, .. } = Case::hostile(Some(link.clone())).render(mail, language);
        let url = link.url();
        assert!(html.contains(&format!("href=\"{url}\"")) && html.contains(&format!(">{url}</a>")));
        // Below the line that labels it.
        assert!(text.contains(&format!(":\n{url}\n\n")), "{text}");
        for part in [&html, &text] {
            for other in links().iter().filter(|other| !url.starts_with(other.url())) {
                assert!(!part.contains(other.url()), "{mail:?} {language:?}: {}", other.url());
            }
        }
        let notes = if link.is_secret() { 2 } else { 1 };
        assert_eq!(
            html.matches("class=\"note\"").count(),
            notes,
            "{mail:?} {language:?}: meant for one alone"
        );
    }
}

#[test]
fn a_mail_about_what_has_ended_asks_for_nothing() {
    for (mail, language) in DONE.into_iter().flat_map(|mail| Language::ALL.map(|language| (mail, language))) {
        let RenderedMail { html, text, .. } = Case::hostile(None).render(mail, language);
        for part in [&html, &text] {
            assert!(
                !part.contains("https://") && !part.contains("<ol>") && !part.contains("class=\"note\""),
                "{part}"
            );
        }
        assert!(!html.contains("class=\"deadline\"") && !html.contains("class=\"button\""), "{html}");
    }
}

#[test]
fn the_steps_fit_the_link() {
    for (mail, language, link) in asking() {
        let (password, registration) = match language {
            Language::En | Language::It => ("password", "regist"),
            Language::De => ("passwort", "regist"),
            Language::Fr => ("mot de passe", "inscri"),
            Language::Es => ("contraseña", "regist"),
            Language::Nl => ("wachtwoord", "regist"),
        };
        let RenderedMail { subject, html, text } = Case::hostile(Some(link.clone())).render(mail, language);
        for part in [html, text] {
            // The registration page's URL is not a word of the text.
            let told = part.replace(link.url(), "").to_lowercase();
            let has_steps = told.contains("<ol>") || told.contains("\n1. ");
            assert_eq!(told.contains(password), link != InterviewLink::Open(OPEN.to_owned()), "{subject}");
            assert_eq!(
                told.contains(registration),
                link != InterviewLink::Open(OPEN.to_owned()),
                "{subject}"
            );
            let is_first = matches!((mail, &link), (CandidateMail::Invitation, InterviewLink::Register(_)));
            assert_eq!(has_steps, is_first, "{subject}");
        }
    }
}

#[test]
fn a_deadline_is_told_if_there_is_one() {
    for (mail, language, link) in asking() {
        let rendered = Case::hostile(Some(link.clone())).render(mail, language);
        assert!(rendered.html.contains(&format!("</span><br><strong>{DEADLINE}</strong>")));
        assert!(!rendered.html.contains(":</span>"), "{mail:?} {language:?}");
        assert!(rendered.text.contains(&format!(": {DEADLINE}\n\n")), "{mail:?} {language:?}");

        let without = Case { deadline: None, ..Case::hostile(Some(link.clone())) }.render(mail, language);
        for part in [&without.html, &without.text] {
            assert!(!part.contains("2026") && !part.contains("None"), "{mail:?} {language:?}");
        }
        assert!(!without.html.contains("class=\"deadline\""));
    }
}

#[test]
fn a_contact_is_named_if_there_is_one() {
    for (mail, language, link) in all() {
        let case = Case { contact: None, ..Case::hostile(link.clone()) };
        let with = Case::hostile(link.clone()).render(mail, language).text.lines().count();
        assert_eq!(case.render(mail, language).text.lines().count() + 2, with, "{mail:?} {language:?}");
    }
}

#[test]
fn the_invitation_tells_how_long_the_interview_takes() {
    for (language, one, several) in [
        (
            Language::En,
            "It has 1 question and takes about 15 minutes.",
            "It has 4 questions and takes about 15 minutes.",
        ),
        (
            Language::De,
            "Es umfasst 1 Frage und dauert etwa 15 Minuten.",
            "Es umfasst 4 Fragen und dauert etwa 15 Minuten.",
        ),
        (
            Language::Fr,
            "Il comporte 1 question et dure environ 15 minutes.",
            "Il comporte 4 questions et dure environ 15 minutes.",
        ),
        (
            Language::Es,
            "Consta de 1 pregunta y dura unos 15 minutos.",
            "Consta de 4 preguntas y dura unos 15 minutos.",
        ),
        (
            Language::It,
            "Comprende 1 domanda e dura circa 15 minuti.",
            "Comprende 4 domande e dura circa 15 minuti.",
        ),
        (
            Language::Nl,
            "Het bestaat uit 1 vraag en duurt ongeveer 15 minuten.",
            "Het bestaat uit 4 vragen en duurt ongeveer 15 minuten.",
        ),
    ] {
        for (questions, line) in [(1, one), (4, several)] {
            let length = Some(InterviewLength { questions, minutes: 15 });
            let case = Case { length, ..Case::hostile(Some(InterviewLink::Open(OPEN.to_owned()))) };
            let invitation = case.render(CandidateMail::Invitation, language);
            assert!(invitation.text.contains(line) && invitation.html.contains(line), "{}", invitation.text);
            let reminder = case.render(CandidateMail::Reminder, language);
            assert!(!reminder.text.contains("15"), "{}", reminder.text);
        }
    }
}

#[test]
fn whoever_was_ended_by_time_learns_when_and_what_has_arrived() {
    for language in Language::ALL {
        for (answered, is_told) in [(1, false), (2, true), (12, true)] {
            let time_end = Some(TimeEnd { at: DEADLINE.to_owned(), answered });
            let mail = Case { time_end, ..Case::hostile(None) }.render(CandidateMail::EndedByTime, language);
            for part in [unescaped(&mail.html), mail.text] {
                assert!(part.contains(DEADLINE) && part.contains(COMPANY), "{part}");
                assert_eq!(part.contains(&format!(" {answered} ")), is_told, "{language:?}: {part}");
            }
        }
    }
}

#[test]
fn a_message_of_the_company_stands_line_by_line() {
    const LINES: [&str; 3] = ["No <b>sound</b>.", "", "Please & thanks"];
    for (mail, language, link) in asking() {
        let message = Some(LINES.join("\n"));
        let rendered = Case { message, ..Case::hostile(Some(link)) }.render(mail, language);
        assert!(rendered.text.contains("\n> No <b>sound</b>.\n> \n> Please & thanks\n"), "{}", rendered.text);
        let html = unescaped(&rendered.html);
        assert!(html.contains("No <b>sound</b>.<br><br>Please & thanks</blockquote>"), "{html}");
        assert!(!rendered.html.contains("<b>sound"));
    }
}

#[test]
fn mails_differ_by_occasion_and_language() {
    let mut subjects: Vec<_> =
        all().map(|(mail, language, link)| Case::hostile(link).render(mail, language).subject).collect();
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 42);
}
