//! Mails to candidates about their interview, with every link.

use super::*;
use crate::domain::candidate::InterviewLength;
use crate::domain::project::contact::Contact;
use crate::domain::text::{Email, ShortName, TextLine};
use crate::mail::occasion::InterviewEnd;

const FIRST: &str = "<script>alert(1)</script>";
const LAST: &str = "O'Neil \"Q\" & 🎥";
const COMPANY: &str = "<b>Ac&me</b>, \"Inc\"";
const PROJECT: &str = "C++ <dev> & {{ ops }} 'x'";
const PERSON: &str = "Zoë <zoe@acme.example>";
const ADDRESS: &str = "jobs+1@acme.example";
const DEADLINE: &str = "Sunday 8 November 2026";
const REGISTER: &str = "https://hr.example/register/aB3-_x";
const OPEN: &str = "https://hr.example/interview/acme/aB3-_x";
const START: &str = "https://hr.example/interview/acme/";

struct Case {
    names: [ShortName; 4],
    contact: Contact,
    deadline: Option<String>,
    length: Option<InterviewLength>,
    message: Option<String>,
    end: Option<InterviewEnd>,
    link: Option<InterviewLink>,
    logo: Option<String>,
}

impl Case {
    fn hostile(link: Option<InterviewLink>) -> Self {
        Self {
            names: [FIRST, LAST, COMPANY, PROJECT].map(|name| ShortName::parse(name).unwrap()),
            contact: Contact {
                person: TextLine::parse(PERSON).unwrap(),
                email: Some(Email::parse(ADDRESS).unwrap()),
            },
            deadline: link.as_ref().map(|_| DEADLINE.to_owned()),
            length: None,
            message: None,
            end: Some(InterviewEnd { at: DEADLINE.to_owned(), answered: Some(2) }),
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
            end: self.end.clone(),
            contact,
            deadline,
            link: self.link.clone(),
            logo: self.logo.clone(),
            accessibility: None,
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

/// The mails that do not ask the candidate for anything.
const DONE: [CandidateMail; 3] =
    [CandidateMail::Completed, CandidateMail::EndedByTime, CandidateMail::Cancelled];

/// Every mail in every language: with each kind of link, or without a link if it never has one.
fn all() -> impl Iterator<Item = (CandidateMail, Language, Option<InterviewLink>)> {
    let done = DONE.into_iter().flat_map(|mail| Language::ALL.map(|language| (mail, language, None)));
    asking().map(|(mail, language, link)| (mail, language, Some(link))).chain(done)
}

/// The mails that ask the candidate for something, with each kind of link.
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
        // The URL is on the line below its label.
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
            // Ignore the URL, which contains the word for registration.
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
        let without_name = Contact { person: TextLine::default(), email: None };
        let case = Case { contact: without_name, ..Case::hostile(link.clone()) };
        let with = Case::hostile(link.clone()).render(mail, language);
        let lines = with.text.lines().count();
        assert_eq!(case.render(mail, language).text.lines().count() + 2, lines, "{mail:?} {language:?}");
        // Only the address is a link, even if the person's name looks like an address.
        let written = [r#"href="mailto:jobs+1@acme.example""#, &format!(">{ADDRESS}</a>")];
        assert!(written.iter().all(|part| with.html.contains(part)), "{}", with.html);
        assert_eq!(with.html.matches("mailto:").count(), 1, "{}", with.html);
    }
}

#[test]
fn invitation_and_reminder_tell_how_long_the_interview_takes_and_what_it_needs() {
    for (language, one, several, camera, no_camera) in [
        (
            Language::En,
            "It has 1 question and takes about 15 minutes.",
            "It has 4 questions and takes about 15 minutes.",
            "You need a camera, a microphone and a quiet place.",
            "You need neither a camera nor a microphone.",
        ),
        (
            Language::De,
            "Es umfasst 1 Frage und dauert etwa 15 Minuten.",
            "Es umfasst 4 Fragen und dauert etwa 15 Minuten.",
            "Sie brauchen eine Kamera, ein Mikrofon und einen ruhigen Ort.",
            "Eine Kamera oder ein Mikrofon brauchen Sie nicht.",
        ),
        (
            Language::Fr,
            "Il comporte 1 question et dure environ 15 minutes.",
            "Il comporte 4 questions et dure environ 15 minutes.",
            "Il vous faut une caméra, un micro et un endroit calme.",
            "Vous n’avez besoin ni de caméra ni de micro.",
        ),
        (
            Language::Es,
            "Consta de 1 pregunta y dura unos 15 minutos.",
            "Consta de 4 preguntas y dura unos 15 minutos.",
            "Necesita una cámara, un micrófono y un lugar tranquilo.",
            "No necesita cámara ni micrófono.",
        ),
        (
            Language::It,
            "Comprende 1 domanda e dura circa 15 minuti.",
            "Comprende 4 domande e dura circa 15 minuti.",
            "Le servono una videocamera, un microfono e un luogo tranquillo.",
            "Non Le servono né videocamera né microfono.",
        ),
        (
            Language::Nl,
            "Het bestaat uit 1 vraag en duurt ongeveer 15 minuten.",
            "Het bestaat uit 4 vragen en duurt ongeveer 15 minuten.",
            "U hebt een camera, een microfoon en een rustige plek nodig.",
            "U hebt geen camera of microfoon nodig.",
        ),
    ] {
        for (questions, line) in [(1, one), (4, several)] {
            for (is_written, needs) in [(false, camera), (true, no_camera)] {
                let length = Some(InterviewLength { questions, minutes: 15, is_written });
                let case = Case { length, ..Case::hostile(Some(InterviewLink::Open(OPEN.to_owned()))) };
                for reason in [CandidateMail::Invitation, CandidateMail::Reminder] {
                    let mail = case.render(reason, language);
                    let line = format!("{line} {needs}");
                    assert!(mail.text.contains(&line) && mail.html.contains(&line), "{}", mail.text);
                }
                let changed = case.render(CandidateMail::DeadlineChanged, language);
                assert!(!changed.text.contains("15"), "{}", changed.text);
            }
        }
    }
}

#[test]
fn a_mail_about_an_end_tells_when_and_how_many_answers_have_arrived() {
    for (reason, language) in [CandidateMail::Completed, CandidateMail::EndedByTime]
        .into_iter()
        .flat_map(|mail| Language::ALL.map(|language| (mail, language)))
    {
        for (answered, told) in
            [(Some(1), None), (Some(2), Some(" 2 ")), (Some(12), Some(" 12 ")), (None, None)]
        {
            let end = Some(InterviewEnd { at: DEADLINE.to_owned(), answered });
            let mail = Case { end, ..Case::hostile(None) }.render(reason, language);
            for part in [unescaped(&mail.html), mail.text] {
                assert!(part.contains(DEADLINE) && part.contains(COMPANY), "{part}");
                let numbers = [" 1 ", " 2 ", " 12 ", "None"].into_iter().filter(|one| part.contains(one));
                assert_eq!(numbers.collect::<Vec<_>>(), Vec::from_iter(told), "{language:?}: {part}");
            }
        }
    }
}

#[test]
fn an_interview_in_writing_is_not_called_one_by_video() {
    for (mail, language, link) in all() {
        let is_by_video = |is_written| {
            let length = Some(InterviewLength { questions: 2, minutes: 15, is_written });
            let mail = Case { length, ..Case::hostile(link.clone()) }.render(mail, language);
            // The word for a camera does not count.
            let all = [mail.subject, mail.html, mail.text].concat().to_lowercase().replace("videocamera", "");
            all.contains("video") || all.contains("vidéo")
        };
        assert_eq!([false, true].map(is_by_video), [true, false], "{mail:?} {language:?}");
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
    assert_eq!(subjects.len(), 54);
}
