//! Mails about accounts, webhooks and exports.

use std::sync::LazyLock;

use chrono::DateTime;

use super::*;
use crate::domain::id::{ExportId, Id, WebhookId};
use crate::domain::text::Email;
use crate::mail::{AccountLink, EndedInterviewLine, EndedInterviewList};

const FIRST: &str = "<script>alert(1)</script>";
const LAST: &str = "O'Neil \"Q\" & 🎥";
const COMPANY: &str = "<b>Ac&me</b>, \"Inc\" {{ x }}";
const BY: &str = "Zoë <i>O'Hara</i> & {% if %}";
const LINK: &str = "https://hr.example/activate/aB3-_x";
const OTHER_LINK: &str = "https://hr.example/reset-password/cD4-_y";
const IDENTIFIER: &str = "acme-uk";
const NAME: &str = "R&D <i>Lead</i>";

const INVITATION: MailOccasion<'_> = invitation(7);
static ACCOUNT: LazyLock<[AccountLink; 1]> = LazyLock::new(|| [account("grace", LINK)]);
static ACCOUNTS: LazyLock<[AccountLink; 2]> =
    LazyLock::new(|| [account("grace", LINK), account(NAME, OTHER_LINK)]);
const WEBHOOK: &str = "hooks.acme.example (<i>Payroll</i> & {{ y }})";
const PAGE: &str = "https://suite.example/project/acme/1/";
const OTHER_PAGE: &str = "https://suite.example/project/acme/2/";
const FILM: &str = "https://suite.example/result/acme/1/3/";
const AT: &str = "Sunday 8 November 2026 at 11:00 (Europe/Berlin, UTC+1)";
const ID: WebhookId = Id::from_bytes([1; 16]);
const FAILING: MailOccasion<'_> = MailOccasion::WebhookFailing { id: ID, name: WEBHOOK };
const DISABLED: MailOccasion<'_> = MailOccasion::WebhookDisabled { id: ID, name: WEBHOOK, is_gone: false };
const GONE: MailOccasion<'_> = MailOccasion::WebhookDisabled { id: ID, name: WEBHOOK, is_gone: true };
const EXPORT: ExportId = Id::from_bytes([2; 16]);
const REQUESTED: MailOccasion<'_> = MailOccasion::ExportRequested { id: EXPORT, by: BY };
const FINISHED: MailOccasion<'_> = MailOccasion::ExportFinished { id: EXPORT, until: AT };
const FAILED: MailOccasion<'_> = MailOccasion::ExportFailed { id: EXPORT };
const CONFIRMATION: MailOccasion<'_> =
    MailOccasion::AddressConfirmation { username: NAME, link: LINK, days: 7 };
const ASKED: MailOccasion<'_> = changed(true);
const CHANGED: MailOccasion<'_> = changed(false);
const RESTORED: MailOccasion<'_> = MailOccasion::AddressRestored { by: BY, username: NAME };
const SIGN_IN: MailOccasion<'_> = MailOccasion::SignInChanged { by: Some(BY), is_own: false };
const BY_OPERATOR: MailOccasion<'_> = MailOccasion::SignInChanged { by: None, is_own: false };
const LINKED: MailOccasion<'_> = MailOccasion::SignInChanged { by: Some(BY), is_own: true };
const DELETED: MailOccasion<'_> = MailOccasion::AccountDeleted { by: BY, contact: None };

const fn invitation(days: i64) -> MailOccasion<'static> {
    MailOccasion::StaffInvitation { username: NAME, identifier: IDENTIFIER, link: LINK, days }
}

const fn changed(is_pending: bool) -> MailOccasion<'static> {
    MailOccasion::AddressChanged { username: NAME, by: BY, at: AT, is_pending, link: LINK, hours: 72 }
}

fn is_about_address(mail: &MailOccasion<'_>) -> bool {
    matches!(
        mail,
        MailOccasion::AddressConfirmation { .. }
            | MailOccasion::AddressChanged { .. }
            | MailOccasion::AddressRestored { .. }
    )
}

fn account(name: &str, link: &str) -> AccountLink {
    AccountLink { name: name.to_owned(), link: link.to_owned() }
}

fn reset(hours: i64) -> MailOccasion<'static> {
    MailOccasion::PasswordReset { accounts: &*ACCOUNT, hours }
}

fn resets(hours: i64) -> MailOccasion<'static> {
    MailOccasion::PasswordReset { accounts: &*ACCOUNTS, hours }
}

fn render(mail: &MailOccasion<'_>, language: Language) -> RenderedMail {
    render_to(&[FIRST, LAST, COMPANY].map(|name| ShortName::parse(name).unwrap()), mail, language)
}

fn is_about_webhook(mail: &MailOccasion<'_>) -> bool {
    matches!(mail, MailOccasion::WebhookFailing { .. } | MailOccasion::WebhookDisabled { .. })
}

fn is_about_export(mail: &MailOccasion<'_>) -> bool {
    matches!(
        mail,
        MailOccasion::ExportRequested { .. }
            | MailOccasion::ExportFinished { .. }
            | MailOccasion::ExportFailed { .. }
    )
}

fn interviews_ended(count: usize, projects: usize, more: usize) -> MailOccasion<'static> {
    static SALES: LazyLock<ShortName> = LazyLock::new(|| ShortName::parse(NAME).unwrap());
    static LISTS: LazyLock<[EndedInterviewList; 2]> = LazyLock::new(|| {
        let line = |name: &str| EndedInterviewLine {
            candidate: name.to_owned(),
            ended_at: AT.to_owned(),
            ended_by_time: None,
            waiting_days: None,
            link: FILM.to_owned(),
        };
        [
            EndedInterviewList {
                project: NAME.to_owned(),
                link: PAGE.to_owned(),
                lines: vec![line(BY), line(LAST)],
            },
            EndedInterviewList {
                project: COMPANY.to_owned(),
                link: OTHER_PAGE.to_owned(),
                lines: vec![line(FIRST)],
            },
        ]
    });
    let project = (projects == 1).then(|| &*SALES);
    MailOccasion::InterviewsEnded { count, project, lists: &LISTS[..projects], more }
}

#[test]
fn staff_are_told_whose_interviews_have_ended() {
    for language in Language::ALL {
        let mails = [interviews_ended(1, 1, 0), interviews_ended(2, 1, 0), interviews_ended(99, 2, 96)];
        let [one, some, many] = mails.map(|mail| render(&mail, language));
        for (mail, count) in [(&one, "1 "), (&some, "2 "), (&many, "99 ")] {
            assert!(mail.subject.starts_with(count), "{language:?} {}", mail.subject);
        }
        for mail in [&one, &some] {
            assert!(mail.subject.contains(NAME) && mail.text.contains(PAGE), "{language:?} {}", mail.text);
            assert!(!mail.text.contains("96") && !mail.html.contains("96"), "{language:?} {}", mail.text);
        }
        assert!(!many.subject.contains(NAME), "{language:?} {}", many.subject);
        let html = unescaped(&many.html);
        for part in [NAME, COMPANY, BY, FIRST, LAST, AT, "96"] {
            assert!(many.text.contains(part) && html.contains(part), "{language:?} {part}: {}", many.text);
        }
        assert!(!many.html.contains(FIRST) && !many.html.contains(NAME), "{language:?} {}", many.html);
        for (link, count) in [(PAGE, 1), (OTHER_PAGE, 1), (FILM, 3)] {
            assert_eq!(many.text.matches(link).count(), count, "{language:?} {}", many.text);
            let links = many.html.matches(&format!("href=\"{link}\"")).count();
            assert_eq!(links, count, "{language:?} {}", many.html);
        }
        let lines: Vec<&str> = many.text.lines().collect();
        assert!(lines.contains(&format!("- {BY}, {AT}").as_str()), "{language:?} {}", many.text);
        assert!(lines.contains(&NAME) && lines.contains(&COMPANY), "{language:?} {}", many.text);
        assert!(!many.text.contains("\n\n\n"), "{language:?} {:?}", many.text);
    }
}

#[test]
fn staff_are_told_how_far_an_interview_was_answered_that_its_time_ended() {
    let ended = EndedByTime { ended_at: DateTime::UNIX_EPOCH, answered: 3, questions: 7 };
    let line = EndedInterviewLine {
        candidate: BY.to_owned(),
        ended_at: AT.to_owned(),
        ended_by_time: Some(ended),
        waiting_days: None,
        link: FILM.to_owned(),
    };
    let lists = [EndedInterviewList { project: NAME.to_owned(), link: PAGE.to_owned(), lines: vec![line] }];
    for language in Language::ALL {
        let mail = MailOccasion::InterviewsEnded { count: 1, project: None, lists: &lists, more: 0 };
        let mail = render(&mail, language);
        let mut lines = mail.text.lines();
        let line = lines.find(|line| line.starts_with(&format!("- {BY}, {AT} ("))).unwrap();
        assert!(line.contains(" 3 ") && line.contains(" 7"), "{language:?} {line}");
        assert_eq!(lines.next(), Some(format!("  {FILM}").as_str()), "{language:?}");
        assert!(mail.html.contains("<br>") && mail.text.contains(PAGE), "{language:?} {}", mail.html);
    }
}

fn all() -> impl Iterator<Item = (MailOccasion<'static>, Language)> {
    let about_accounts = [CONFIRMATION, ASKED, CHANGED, RESTORED, SIGN_IN, BY_OPERATOR, LINKED].into_iter();
    let sign_in = |is_invited| MailOccasion::StaffSignIn { is_invited, link: LINK };
    [INVITATION, reset(2), resets(2), DELETED, FAILING, DISABLED, GONE, REQUESTED, FINISHED, FAILED]
        .into_iter()
        .chain(about_accounts)
        .chain([true, false].map(sign_in))
        .flat_map(|mail| Language::ALL.map(|language| (mail.clone(), language)))
}

#[test]
fn names_are_escaped_in_html_and_plain_in_text() {
    for (mail, language) in all() {
        let RenderedMail { subject, html, text } = render(&mail, language);
        let has_author = matches!(
            mail,
            MailOccasion::AccountDeleted { .. }
                | MailOccasion::ExportRequested { .. }
                | MailOccasion::AddressChanged { .. }
                | MailOccasion::AddressRestored { .. }
                | MailOccasion::SignInChanged { by: Some(_), .. }
        );
        let by = has_author.then_some(BY);
        let is_invitation = matches!(mail, MailOccasion::StaffInvitation { .. });
        let username = (is_about_address(&mail) || is_invitation).then_some(NAME);
        let webhook = is_about_webhook(&mail).then_some(WEBHOOK);
        for name in [FIRST, LAST, COMPANY].into_iter().chain(by).chain(webhook).chain(username) {
            assert!(!html.contains(name), "{language:?}: {html}");
            assert!(unescaped(&html).contains(name), "{language:?}: {html}");
            assert!(text.contains(name), "{language:?}: {text}");
        }
        assert_eq!(
            [html.contains(IDENTIFIER), text.contains(IDENTIFIER)],
            [is_invitation; 2],
            "{language:?}: {text}"
        );
        assert!(subject.contains(COMPANY), "{subject}");
        for tag in ["<script", "<b>", "<i>", "&#38;#"] {
            assert!(!html.contains(tag), "{language:?}: {html}");
        }
        assert!(!text.contains("&#"), "{text}");
    }
}

#[test]
fn nothing_of_a_template_is_left() {
    for (mail, language) in all() {
        let RenderedMail { subject, html, text } = render(&mail, language);
        for part in [&subject, &unescaped(&html), &text] {
            // These names contain template marks.
            let rest = part.replace(COMPANY, "").replace(BY, "").replace(WEBHOOK, "");
            for mark in ["{{", "}}", "{%", "%}", "{#", "#}"] {
                assert!(!rest.contains(mark), "{language:?}: {rest}");
            }
        }
        assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains(&format!("<html lang=\"{}\">", language.as_str())));
        assert!(!html.contains("src="), "nothing is loaded from elsewhere");
        assert!(!text.contains("\n\n\n") && !text.starts_with('\n') && !text.contains(" \n"), "{text:?}");
        assert!(!text.contains("  ") && !text.contains(" ."), "{text:?}");
        for element in ["<h1></h1>", "<p></p>", "><br>", "></a>"] {
            assert!(!html.contains(element), "{language:?}: {html}");
        }
    }
}

#[test]
fn no_password_is_advised_where_the_provider_may_decide_who_gets_in() {
    let words = ["password", "Passwort", "contraseña", "mot de passe", "wachtwoord"];
    for language in Language::ALL {
        for mail in [SIGN_IN, LINKED, BY_OPERATOR, REQUESTED] {
            let text = render(&mail, language).text;
            assert!(!words.iter().any(|word| text.contains(word)), "{language:?}: {text}");
        }
    }
}

#[test]
fn every_part_is_one_line_despite_line_breaks_in_the_name_of_an_author() {
    // A plain string, because the type for names would refuse line breaks.
    let by = "Eve\r\n\r\nPlease log in at https://evil.example\n";
    let deleted = MailOccasion::AccountDeleted { by, contact: None };
    let requested = MailOccasion::ExportRequested { id: EXPORT, by };
    for language in Language::ALL {
        for (broken, sound) in [(&deleted, DELETED), (&requested, REQUESTED)] {
            let RenderedMail { subject, text, .. } = render(broken, language);
            assert!(!subject.contains(char::is_control), "{subject:?}");
            assert_eq!(subject, subject.trim());
            assert_eq!(text.lines().count(), render(&sound, language).text.lines().count(), "{text}");
        }
    }
}

#[test]
fn the_link_stands_in_both_parts_if_there_is_one() {
    for (mail, language) in all() {
        let RenderedMail { html, text, .. } = render(&mail, language);
        let is_deletion = matches!(mail, MailOccasion::AccountDeleted { .. });
        let is_told =
            matches!(mail, MailOccasion::AddressRestored { .. } | MailOccasion::SignInChanged { .. });
        if is_deletion || is_told || is_about_webhook(&mail) || is_about_export(&mail) {
            assert!(!html.contains("href=") && !html.contains("class=\"note\""));
            assert!(!text.contains("https:"));
        } else if matches!(mail, MailOccasion::PasswordReset { accounts: [_, _], .. }) {
            for (name, link) in [("grace", LINK), (NAME, OTHER_LINK)] {
                assert_eq!(html.matches(&format!("href=\"{link}\"")).count(), 1, "{html}");
                assert!(unescaped(&html).contains(&format!("<p>{name}<br><a")), "{html}");
                assert!(text.contains(&format!("\n\n{name}\n{link}\n\n")), "{text}");
            }
        } else {
            assert_eq!(html.matches(&format!("href=\"{LINK}\"")).count(), 2);
            assert!(html.contains(&format!(">{LINK}</a>")));
            assert!(text.contains(&format!(":\n{LINK}\n\n")), "{text}");
        }
    }
    let hostile = [account("grace", "https://hr.example/\"><b>x")];
    let hostile = MailOccasion::PasswordReset { accounts: &hostile, hours: 1 };
    assert!(!render(&hostile, Language::En).html.contains("<b>"));
}

#[test]
fn how_long_a_link_is_good_is_told_as_people_count() {
    for (language, day, days, hour, hours) in [
        (Language::En, "1 day", "14 days", "1 hour", "24 hours"),
        (Language::De, "1 Tag", "14 Tage", "1 Stunde", "24 Stunden"),
        (Language::Fr, "1 jour", "14 jours", "1 heure", "24 heures"),
        (Language::Es, "1 día", "14 días", "1 hora", "24 horas"),
        (Language::It, "1 giorno", "14 giorni", "1 ora", "24 ore"),
        (Language::Nl, "1 dag", "14 dagen", "1 uur", "24 uur"),
    ] {
        for (mail, told) in [
            (invitation(1), day),
            (invitation(14), days),
            (MailOccasion::AddressConfirmation { username: NAME, link: LINK, days: 14 }, days),
            (reset(1), hour),
            (reset(24), hours),
            (resets(1), hour),
            (resets(24), hours),
        ] {
            let RenderedMail { html, text, .. } = render(&mail, language);
            // A no-break space keeps the number and its unit on one line.
            let told = format!(" {} ", told.replace(' ', "\u{a0}"));
            for part in [html, text] {
                assert!(part.contains(&told), "{told}: {part}");
            }
        }
    }
}

#[test]
fn a_change_of_the_address_is_told_with_its_author_its_moment_and_the_time_to_undo_it() {
    for (language, hours) in [
        (Language::En, "72 hours"),
        (Language::De, "72 Stunden"),
        (Language::Fr, "72 heures"),
        (Language::Es, "72 horas"),
        (Language::It, "72 ore"),
        (Language::Nl, "72 uur"),
    ] {
        for mail in [ASKED, CHANGED] {
            let RenderedMail { html, text, .. } = render(&mail, language);
            for part in [unescaped(&html), text] {
                for told in [BY, NAME, AT, &hours.replace(' ', "\u{a0}")] {
                    assert_eq!(part.matches(told).count(), 1, "{told}: {part}");
                }
            }
        }
    }
}

#[test]
fn the_mail_names_the_user_who_deleted_the_account_and_a_contact() {
    let email = Email::parse("o'hara&co@acme.example").unwrap();
    for language in Language::ALL {
        let RenderedMail { html, text, .. } =
            render(&MailOccasion::AccountDeleted { by: BY, contact: Some(&email) }, language);
        assert!(text.contains(&format!("{BY} ({})", email.as_str())), "{text}");
        assert!(html.contains(r#"href="mailto:o%27hara%26co@acme.example""#), "{html}");
        for part in [unescaped(&html), text] {
            assert_eq!(part.matches(BY).count(), 2, "{part}");
            assert!(part.contains(email.as_str()), "{part}");
        }
        // A named token has no address, so the mail names the company.
        let RenderedMail { html, text, .. } = render(&DELETED, language);
        for part in [unescaped(&html), text] {
            assert_eq!(part.matches(BY).count(), 1, "{part}");
            assert!(part.contains(&format!(" {COMPANY}.")), "{part}");
        }
    }
}

#[test]
fn a_mail_about_a_webhook_says_where_to_look() {
    for language in Language::ALL {
        for (mail, path) in [(FAILING, "/deliveries/"), (DISABLED, "/"), (GONE, "/")] {
            let RenderedMail { html, text, .. } = render(&mail, language);
            let path = format!(" webhooks/{}{path}", ID);
            for part in [html, text] {
                assert_eq!(part.matches(&path).count(), 1, "{part}");
            }
        }
        assert!(render(&GONE, language).text.contains("(410 Gone)"));
    }
}

#[test]
fn owners_are_told_who_requested_an_export_and_how_to_stop_it() {
    for (language, hours) in [
        (Language::En, "72 hours"),
        (Language::De, "72 Stunden"),
        (Language::Fr, "72 heures"),
        (Language::Es, "72 horas"),
        (Language::It, "72 ore"),
        (Language::Nl, "72 uur"),
    ] {
        let RenderedMail { html, text, .. } = render(&REQUESTED, language);
        let html = unescaped(&html);
        // A no-break space keeps the number and its unit on one line.
        let hours = format!(" {}", hours.replace(' ', "\u{a0}"));
        for part in [&html, &text] {
            assert_eq!(part.matches(&hours).count(), 1, "{part}");
            // Once in the text and once in the step that needs it.
            assert_eq!(part.matches(BY).count(), 2, "{part}");
            assert_eq!(part.matches(&EXPORT.to_string()).count(), 2, "{part}");
        }
        let steps: Vec<&str> =
            text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).collect();
        let [delete, password, operator] = steps[..] else { panic!("{text}") };
        assert!(delete.starts_with("1. ") && delete.contains(&EXPORT.to_string()), "{delete}");
        assert!(password.starts_with("2. ") && password.contains(BY), "{password}");
        assert!(operator.starts_with("3. "), "{operator}");
        for step in steps {
            assert!(html.contains(&format!("<li>{}</li>", &step["1. ".len()..])), "{html}");
        }
    }
}

#[test]
fn the_end_of_an_export_is_told_with_its_number_and_the_time_for_the_download() {
    for language in Language::ALL {
        for (mail, moments) in [(FINISHED, 1), (FAILED, 0)] {
            let RenderedMail { html, text, .. } = render(&mail, language);
            for part in [html, text] {
                assert_eq!(part.matches(&format!(" {EXPORT})")).count(), 1, "{part}");
                assert_eq!(part.matches(AT).count(), moments, "{part}");
                assert!(!part.contains("<li>") && !part.contains("1. "), "{part}");
            }
        }
        // The date is escaped like any other value.
        let until = MailOccasion::ExportFinished { id: EXPORT, until: NAME };
        let RenderedMail { html, text, .. } = render(&until, language);
        assert!(!html.contains(NAME) && unescaped(&html).contains(NAME) && text.contains(NAME), "{html}");
    }
}

#[test]
fn mails_differ_by_occasion_and_language() {
    let mut subjects: Vec<_> = all().map(|(mail, language)| render(&mail, language).subject).collect();
    subjects.sort();
    subjects.dedup();
    // Both reset mails have the same subject.
    assert_eq!(subjects.len(), 96);
}
