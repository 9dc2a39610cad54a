//! Tests against a local HTTP server that returns prepared responses and records requests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::domain::mail::sender::SenderAddress;
use crate::domain::text::{ShortName, TextLine};

const ANN: &str = "01JCB0000000000000000000CD";

type Form = HashMap<String, String>;

fn refusal(status: u16, code: &str) -> (u16, String) {
    refusal_saying(status, code, "Email address is not verified: ann@example.com")
}

fn refusal_saying(status: u16, code: &str, message: &str) -> (u16, String) {
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
    (status, format!("<ErrorResponse>{error}<RequestId>r</RequestId></ErrorResponse>"))
}

/// Serves one response per request, then returns the forms it received.
fn ses(answers: Vec<(u16, String)>) -> (String, JoinHandle<Vec<Form>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let forms = std::thread::spawn(move || {
        let answer = |(status, xml): (u16, String)| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim_end().to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                length = line.strip_prefix("content-length: ").map_or(length, |text| text.parse().unwrap());
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let head =
                format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", xml.len());
            stream.write_all((head + &xml).as_bytes()).unwrap();
            url::form_urlencoded::parse(&body).into_owned().collect()
        };
        answers.into_iter().map(answer).collect()
    });
    (url, forms)
}

fn company(name: &str, senders: &[&str]) -> Company {
    let mut company = Company::new("acme".parse().unwrap(), ShortName::parse(name).unwrap());
    company.verified_senders = senders.iter().map(|sender| SenderAddress::parse(sender).unwrap()).collect();
    company
}

fn acme() -> Company {
    company("Acme, Inc.", &["acme.example", "Jobs@single.example"])
}

/// Sends one mail to a server with these responses. Returns the result and the forms that the server received.
async fn send(alias: Option<&str>, answers: Vec<(u16, String)>) -> (MailDelivery, Vec<Form>) {
    send_for(&acme(), alias, answers).await
}

async fn send_for(
    company: &Company,
    alias: Option<&str>,
    answers: Vec<(u16, String)>,
) -> (MailDelivery, Vec<Form>) {
    let (url, forms) = ses(answers);
    let delivery = send_to(&url, company, alias).await;
    (delivery, forms.join().unwrap())
}

async fn send_to(url: &str, company: &Company, alias: Option<&str>) -> MailDelivery {
    let config = Config::from_variables(|name| {
        let value = match name {
            "BASE_URL" => "http://localhost/api/v3",
            "AWS_REGION" => "eu-central-1",
            "TABLE_NAME" | "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => "x",
            "AWS_ENDPOINT_URL_SES" => url,
            "MAIL_SENDER" => "noreply@service.example",
            "MAIL_CONFIGURATION_SET" => "interviews-mails",
            _ => return None,
        };
        Some(value.to_owned())
    })
    .unwrap();
    let aws = AwsClients::new(&config.aws);
    let mailer = Mailer::new(&aws, &config).unwrap();
    let alias = alias.map(|address| Email::parse(address).unwrap());
    let to = &Email::parse("ann@example.com").unwrap();
    let account = Some(Account::Customer { customer: ANN.parse().unwrap() });
    let reply_to = alias.clone().or_else(|| Email::parse(company.registration_email.as_str()).ok());
    let envelope = MailEnvelope { to, account, company, alias: alias.as_ref(), reply_to: reply_to.as_ref() };
    let mail =
        RenderedMail { subject: "Grüße".to_owned(), html: "<p>ü</p>".to_owned(), text: "ü".to_owned() };
    mailer.send(&envelope, &mail).await
}

fn sent() -> (u16, String) {
    let result = "<SendRawEmailResult><MessageId>id-1</MessageId></SendRawEmailResult>";
    let namespace = "http://ses.amazonaws.com/doc/2010-12-01/";
    (200, format!("<SendRawEmailResponse xmlns=\"{namespace}\">{result}</SendRawEmailResponse>"))
}

/// The parsed message in a form.
fn message(form: &Form) -> mail_parser::Message<'static> {
    let bytes = STANDARD.decode(&form["RawMessage.Data"]).unwrap();
    mail_parser::MessageParser::default().parse(&bytes).unwrap().into_owned()
}

fn reply_to(form: &Form) -> Option<String> {
    Some(message(form).reply_to()?.first()?.address()?.to_owned())
}

#[tokio::test]
async fn a_mail_goes_out_once_in_utf_8() {
    let (delivery, forms) = send(None, vec![sent()]).await;
    assert_eq!(delivery, MailDelivery::Sent("id-1".to_owned()));
    let form = &forms[0];
    for (name, value) in [
        ("Action", "SendRawEmail"),
        ("Source", "\"Acme, Inc.\" <noreply@service.example>"),
        ("Destinations.member.1", "ann@example.com"),
        ("ConfigurationSetName", "interviews-mails"),
    ] {
        assert_eq!(form.get(name).map(String::as_str), Some(value), "{name}");
    }
    let message = message(form);
    let from = message.from().and_then(|from| from.first()).unwrap();
    assert_eq!((from.name(), from.address()), (Some("Acme, Inc."), Some("noreply@service.example")));
    assert_eq!(message.to().and_then(|to| to.first()).unwrap().address(), Some("ann@example.com"));
    assert_eq!(message.subject(), Some("Grüße"));
    assert_eq!(message.body_html(0).as_deref(), Some("<p>ü</p>"));
    assert_eq!(message.body_text(0).as_deref(), Some("ü"));
    let header = |name| message.header(name).and_then(|value| value.as_text());
    assert_eq!(header("Auto-Submitted"), Some("auto-generated"));
    assert_eq!(header("X-Auto-Response-Suppress"), Some("OOF, AutoReply"));
    assert_eq!(reply_to(form), None);
}

#[tokio::test]
async fn a_verified_alias_is_the_sender_and_any_other_gets_the_answers() {
    for alias in ["jobs@acme.example", "jobs@mail.ACME.example", "Jobs@single.example"] {
        let (_, forms) = send(Some(alias), vec![sent()]).await;
        assert_eq!(forms[0]["Source"], format!("\"Acme, Inc.\" <{alias}>"));
        assert_eq!(reply_to(&forms[0]), None);
    }
    for alias in ["jobs@badacme.example", "jobs@acme.example.org", "jobs@single.example", "x@single.example"]
    {
        let (_, forms) = send(Some(alias), vec![sent()]).await;
        assert_eq!(forms[0]["Source"], "\"Acme, Inc.\" <noreply@service.example>");
        assert_eq!(reply_to(&forms[0]).as_deref(), Some(alias));
    }
}

#[tokio::test]
async fn answers_go_to_the_given_address_whoever_is_the_sender() {
    let mut company = acme();
    company.registration_email = TextLine::parse("people@acme.example").unwrap();
    let (_, forms) = send_for(&company, None, vec![sent()]).await;
    assert_eq!(forms[0]["Source"], "\"Acme, Inc.\" <noreply@service.example>");
    assert_eq!(reply_to(&forms[0]).as_deref(), Some("people@acme.example"));
}

#[tokio::test]
async fn a_sender_of_one_company_is_none_of_another() {
    let alias = "jobs@acme.example";
    for senders in [&[][..], &["globex.example", "jobs@other.example"]] {
        let (_, forms) = send_for(&company("Globex", senders), Some(alias), vec![sent()]).await;
        assert_eq!(forms[0]["Source"], "\"Globex\" <noreply@service.example>");
        assert_eq!(reply_to(&forms[0]).as_deref(), Some(alias));
    }
    let (_, forms) = send_for(&company("Globex", &["acme.example"]), Some(alias), vec![sent()]).await;
    assert_eq!(forms[0]["Source"], format!("\"Globex\" <{alias}>"));
}

#[tokio::test]
async fn a_lapsed_verification_holds_no_mail_back() {
    let alias = "jobs@acme.example";
    let (delivery, forms) = send(Some(alias), vec![refusal(400, "MessageRejected"), sent()]).await;
    assert_eq!(delivery, MailDelivery::Sent("id-1".to_owned()));
    assert_eq!(forms[0]["Source"], format!("\"Acme, Inc.\" <{alias}>"));
    assert_eq!(forms[1]["Source"], "\"Acme, Inc.\" <noreply@service.example>");
    assert_eq!(reply_to(&forms[1]).as_deref(), Some(alias));
}

/// The server answers only one request, so a retry would fail the test.
#[tokio::test]
async fn a_refusal_is_final_only_when_the_mail_is_at_fault() {
    for code in ["InvalidParameterValue", "ValidationError"] {
        let (delivery, _) = send(None, vec![refusal(400, code)]).await;
        assert_eq!(delivery, MailDelivery::Rejected(code.to_owned()));
    }
    for (status, code) in [(500, "InternalFailure"), (503, "ServiceUnavailable"), (503, "Throttling")] {
        let (delivery, _) = send(Some("jobs@acme.example"), vec![refusal(status, code)]).await;
        assert_eq!(delivery, MailDelivery::Transient(code.to_owned()));
    }
}

/// SES returns these codes for an unverified sender or an account in the sandbox.
#[tokio::test]
async fn a_refused_sender_is_nothing_against_the_mail() {
    for code in ["MessageRejected", "MailFromDomainNotVerifiedException"] {
        let (delivery, _) = send(None, vec![refusal(400, code)]).await;
        assert_eq!(delivery, MailDelivery::Postponed(code.to_owned()));
        let refused = || refusal(400, code);
        let (delivery, _) = send(Some("jobs@acme.example"), vec![refused(), refused()]).await;
        assert_eq!(delivery, MailDelivery::Postponed(code.to_owned()));
    }
}

/// The mailer must not retry with `MAIL_SENDER`, to which the same limit applies.
#[tokio::test]
async fn a_used_up_rate_or_quota_or_a_paused_account_is_nothing_against_the_mail() {
    for (status, code, message) in [
        (400, "Throttling", "Maximum sending rate exceeded."),
        (400, "Throttling", "Daily message quota exceeded."),
        (400, "ThrottlingException", "Rate exceeded"),
        (429, "TooManyRequestsException", "Too many requests"),
        (400, "LimitExceededException", "Daily message quota exceeded"),
        (400, "LimitExceeded", "Daily message quota exceeded"),
        (400, "AccountSendingPausedException", "Email sending is disabled"),
        (400, "ConfigurationSetSendingPausedException", "Email sending is disabled"),
        (400, "ConfigurationSetDoesNotExist", "Configuration set does not exist"),
        (403, "ExpiredToken", "The token has expired"),
        (403, "AccessDenied", "Not authorized"),
    ] {
        for alias in [None, Some("jobs@acme.example")] {
            let (delivery, _) = send(alias, vec![refusal_saying(status, code, message)]).await;
            assert_eq!(delivery, MailDelivery::Postponed(code.to_owned()));
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_or_makes_no_sense_is_transient() {
    let (delivery, _) = send(None, vec![(502, "<html>".to_owned())]).await;
    assert!(matches!(delivery, MailDelivery::Transient(_)), "{delivery:?}");
    let (url, forms) = ses(vec![]);
    forms.join().unwrap();
    assert_eq!(send_to(&url, &acme(), None).await, MailDelivery::Transient("connection failed".to_owned()));
}

#[test]
fn a_mailer_needs_a_sender() {
    let config = Config::from_variables(|name| match name {
        "BASE_URL" => Some("http://localhost/api/v3".to_owned()),
        "TABLE_NAME" | "AWS_REGION" | "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("x".to_owned()),
        _ => None,
    })
    .unwrap();
    let aws = AwsClients::new(&config.aws);
    assert_eq!(Mailer::new(&aws, &config).err().unwrap().variable, "MAIL_SENDER");
}
