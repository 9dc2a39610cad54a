//! The Query API, as used by clients.

use axum::http::StatusCode;
use tower::ServiceExt;

use super::*;

const OURS: &str = "AWS4-HMAC-SHA256 Credential=local/20300102/eu-central-1/ses/aws4_request, Signature=x";

async fn post(mailbox: &Mailbox, form: &[(&str, &str)]) -> (StatusCode, String) {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let request = Request::post("/").header(header::AUTHORIZATION, OURS).body(Body::from(body)).unwrap();
    send(mailbox, request).await
}

async fn send(mailbox: &Mailbox, request: Request<Body>) -> (StatusCode, String) {
    let response = router(mailbox.clone(), OffsetClock::default()).oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_simple_mail_is_kept_as_it_was_sent() {
    let mailbox = Mailbox::default();
    let (status, xml) = post(
        &mailbox,
        &[
            ("Action", "SendEmail"),
            ("Version", "2010-12-01"),
            ("Source", "Service <service@example.com>"),
            ("Destination.ToAddresses.member.1", "a@example.com"),
            ("Destination.ToAddresses.member.2", "b@example.com"),
            ("Destination.CcAddresses.member.1", "c@example.com"),
            ("ReplyToAddresses.member.1", "hr@example.com"),
            ("Message.Subject.Data", "Grüße & more"),
            ("Message.Body.Text.Data", "line\nline"),
            ("Message.Body.Html.Data", "<p>line</p>"),
        ],
    )
    .await;
    let mail = &mailbox.all()[0];
    assert_eq!(status, StatusCode::OK);
    assert!(
        xml.contains(&format!("<SendEmailResult><MessageId>{}</MessageId></SendEmailResult>", mail.id)),
        "{xml}"
    );
    assert!(mail.time.parse::<chrono::DateTime<chrono::Utc>>().is_ok(), "{}", mail.time);
    assert_eq!(mail.source, "Service <service@example.com>");
    assert_eq!(mail.to, ["a@example.com", "b@example.com"]);
    assert_eq!(
        (mail.cc.as_slice(), mail.reply_to.as_slice()),
        (&["c@example.com".to_owned()][..], &["hr@example.com".to_owned()][..])
    );
    assert_eq!(mail.subject, "Grüße & more");
    assert_eq!((mail.text.as_deref(), mail.html.as_deref()), (Some("line\nline"), Some("<p>line</p>")));
    assert_eq!(mail.raw, None);
}

const MIME: &str = "From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>\r\n\
    To: a@example.com\r\nCc: c@example.com\r\nReply-To: hr@example.com\r\n\
    Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/alternative; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nplain\r\n\
    --b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+cmljaDwvcD4=\r\n\
    --b--\r\n";

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn a_raw_mail_is_taken_apart() {
    let mailbox = Mailbox::default();
    let sender = ("Source", "joerg@example.com");
    let tag = [("Tags.member.1.Name", "recipient"), ("Tags.member.1.Value", "x")];
    let set = ("ConfigurationSetName", "mails");
    let form = [("Action", "SendRawEmail"), sender, ("RawMessage.Data", &base64(MIME)), tag[0], tag[1], set];
    let (status, xml) = post(&mailbox, &form).await;
    assert_eq!(status, StatusCode::OK, "{xml}");
    assert!(xml.contains("<SendRawEmailResult>"), "{xml}");
    let mail = &mailbox.all()[0];
    assert_eq!(
        (mail.to.as_slice(), mail.cc.as_slice()),
        (&["a@example.com".to_owned()][..], &["c@example.com".to_owned()][..])
    );
    assert_eq!(mail.subject, "Grüße");
    assert_eq!(mail.text.as_deref().map(str::trim), Some("plain"));
    assert_eq!(mail.html.as_deref(), Some("<p>rich</p>"));
    assert_eq!(mail.raw.as_deref(), Some(MIME));
    assert_eq!(mail.header("reply-to"), Some("hr@example.com"));
    assert_eq!((mail.tags["recipient"].as_str(), mail.configuration_set.as_deref()), ("x", Some("mails")));
    assert_eq!(mail.headers.len(), 7);
}

#[tokio::test]
async fn the_envelope_of_a_raw_mail_names_the_recipients() {
    let mailbox = Mailbox::default();
    let raw = base64(MIME);
    let mut form =
        vec![("Action", "SendRawEmail"), ("Source", "joerg@example.com"), ("RawMessage.Data", &raw)];
    form.extend([
        ("Destinations.member.1", "a@example.com"),
        ("Destinations.member.2", "hidden@example.com"),
    ]);
    assert_eq!(post(&mailbox, &form).await.0, StatusCode::OK);
    let mail = &mailbox.all()[0];
    assert_eq!(mail.to, ["a@example.com"]);
    assert_eq!(mail.bcc, ["hidden@example.com"]);
    assert!(mail.cc.is_empty());
}

#[tokio::test]
async fn errors_use_the_codes_of_ses() {
    let mailbox = Mailbox::default();
    let base = [
        ("Action", "SendEmail"),
        ("Source", "s@example.com"),
        ("Destination.ToAddresses.member.1", "a@example.com"),
        ("Message.Subject.Data", "x"),
        ("Message.Body.Text.Data", "x"),
    ];
    for (change, code, message) in [
        (
            ("Action", "Del<ete"),
            "InvalidAction",
            "Could not find operation Del&#60;ete for version 2010-12-01",
        ),
        (("Source", ""), "ValidationError", "Value null at 'source'"),
        (("Message.Subject.Data", ""), "ValidationError", "Value null at 'message.subject'"),
        (("Message.Body.Text.Data", ""), "ValidationError", "Value null at 'message.body'"),
        (("Destination.ToAddresses.member.1", ""), "InvalidParameterValue", "Empty recipient list"),
        (("Destination.ToAddresses.member.1", "a"), "InvalidParameterValue", "Missing final '@domain'"),
        (("Source", "Jörg <s@example.com>"), "InvalidParameterValue", "7-bit ASCII"),
    ] {
        let form = base.map(|(name, value)| (name, if name == change.0 { change.1 } else { value }));
        let form: Vec<_> = form.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let (status, xml) = post(&mailbox, &form).await;
        let xml = xml.replace("&#39;", "'");
        assert_eq!(status, StatusCode::BAD_REQUEST, "{xml}");
        assert!(xml.contains(&format!("<Type>Sender</Type><Code>{code}</Code>")), "{xml}");
        assert!(xml.contains(message), "{xml}");
    }
    assert!(mailbox.all().is_empty());
}

#[tokio::test]
async fn other_keys_are_refused() {
    for (authorization, code) in [
        (None, "MissingAuthenticationToken"),
        (
            Some("AWS4-HMAC-SHA256 Credential=other/20300102/eu-central-1/ses/aws4_request"),
            "InvalidClientTokenId",
        ),
    ] {
        let mut request = Request::post("/").body(Body::from("Action=SendEmail")).unwrap();
        if let Some(value) = authorization {
            request.headers_mut().insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        let (status, xml) = send(&Mailbox::default(), request).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert!(xml.contains(&format!("<Code>{code}</Code>")), "{xml}");
    }
}
