//! Reads mails from request parameters.

use std::collections::{BTreeMap, HashMap};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail_parser::{Address, Message, MessageParser, PartType};
use url::form_urlencoded;

use super::answer::Refusal;
use crate::mailbox::{Mail, bare};
use crate::random;

const MAX_RECIPIENTS: usize = 50;

pub(super) struct Form(HashMap<String, String>);

impl Form {
    pub(super) fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// The values of `name.member.1`, `name.member.2` and so on.
    fn list(&self, name: &str) -> Vec<String> {
        (1..).map_while(|n| self.text(&format!("{name}.member.{n}"))).collect()
    }

    fn tags(&self) -> BTreeMap<String, String> {
        let member = |n, part: &str| self.text(&format!("Tags.member.{n}.{part}"));
        (1..).map_while(|n: u32| Some((member(n, "Name")?, member(n, "Value")?))).collect()
    }
}

/// The mail of a SendEmail request.
pub(super) fn simple_mail(form: &Form) -> Result<Mail, Refusal> {
    let mail = Mail {
        source: form.text("Source").ok_or_else(|| Refusal::missing("source"))?,
        to: form.list("Destination.ToAddresses"),
        cc: form.list("Destination.CcAddresses"),
        bcc: form.list("Destination.BccAddresses"),
        reply_to: form.list("ReplyToAddresses"),
        configuration_set: form.text("ConfigurationSetName"),
        tags: form.tags(),
        subject: form.text("Message.Subject.Data").ok_or_else(|| Refusal::missing("message.subject"))?,
        text: form.text("Message.Body.Text.Data"),
        html: form.text("Message.Body.Html.Data"),
        ..unsent()
    };
    if mail.text.is_none() && mail.html.is_none() {
        return Err(Refusal::missing("message.body"));
    }
    Ok(mail)
}

/// The mail of a SendRawEmail request.
pub(super) fn raw_mail(form: &Form) -> Result<Mail, Refusal> {
    let data = form.get("RawMessage.Data").ok_or_else(|| Refusal::missing("rawMessage"))?;
    let bytes = STANDARD
        .decode(data)
        .map_err(|_| Refusal::bad("InvalidParameterValue", "RawMessage.Data is not valid base64"))?;
    let message = MessageParser::default()
        .parse(&bytes)
        .ok_or_else(|| Refusal::bad("InvalidParameterValue", "RawMessage.Data is not a MIME message"))?;
    let from = || addresses(message.from()).into_iter().next();
    let mut mail = Mail {
        source: form
            .text("Source")
            .or_else(from)
            .ok_or_else(|| Refusal::bad("InvalidParameterValue", "Missing required header 'From'."))?,
        to: addresses(message.to()),
        cc: addresses(message.cc()),
        bcc: addresses(message.bcc()),
        reply_to: addresses(message.reply_to()),
        configuration_set: form.text("ConfigurationSetName"),
        tags: form.tags(),
        subject: message.subject().unwrap_or_default().to_owned(),
        text: match first(&message, &message.text_body) {
            // Lines of messages end in CRLF.
            Some(PartType::Text(text)) => Some(text.replace("\r\n", "\n")),
            _ => None,
        },
        html: match first(&message, &message.html_body) {
            Some(PartType::Html(html)) => Some(html.replace("\r\n", "\n")),
            _ => None,
        },
        headers: headers(&message),
        raw: Some(String::from_utf8_lossy(&bytes).into_owned()),
        ..unsent()
    };
    let envelope = form.list("Destinations");
    if !envelope.is_empty() {
        // Only the recipients of the envelope receive the mail, whatever the headers say.
        let receives =
            |address: &String| envelope.iter().any(|other| bare(other).eq_ignore_ascii_case(bare(address)));
        mail.to.retain(receives);
        mail.cc.retain(receives);
        mail.bcc.clear();
        let hidden = envelope.iter().filter(|address| !mail.is_for(bare(address))).cloned().collect();
        mail.bcc = hidden;
    }
    Ok(mail)
}

/// The first body part. The parser lists a single part as text and as HTML; callers check its actual kind.
fn first<'a>(message: &'a Message<'_>, parts: &[u32]) -> Option<&'a PartType<'a>> {
    Some(&message.part(*parts.first()?)?.body)
}

/// The headers of a message, unfolded.
fn headers(message: &Message<'_>) -> Vec<(String, String)> {
    let unfolded = |value: &str| value.split_whitespace().collect::<Vec<_>>().join(" ");
    message.headers_raw().map(|(name, value)| (name.to_owned(), unfolded(value))).collect()
}

fn addresses(header: Option<&Address<'_>>) -> Vec<String> {
    let addresses = header.into_iter().flat_map(Address::iter);
    addresses
        .filter_map(|address| {
            let bare = address.address()?;
            Some(address.name().map_or_else(|| bare.to_owned(), |name| format!("{name} <{bare}>")))
        })
        .collect()
}

fn unsent() -> Mail {
    Mail {
        id: format!("{}-{}-000000", &random::hex()[..16], random::uuid()),
        time: String::new(),
        source: String::new(),
        to: vec![],
        cc: vec![],
        bcc: vec![],
        reply_to: vec![],
        configuration_set: None,
        tags: BTreeMap::new(),
        subject: String::new(),
        text: None,
        html: None,
        headers: vec![],
        raw: None,
    }
}

/// Refuses mails that SES would refuse.
pub(super) fn check(mail: &Mail) -> Result<(), Refusal> {
    let recipients = mail.to.len() + mail.cc.len() + mail.bcc.len();
    if recipients == 0 {
        return Err(Refusal::bad("InvalidParameterValue", "Empty recipient list"));
    }
    if recipients > MAX_RECIPIENTS {
        return Err(Refusal::bad(
            "InvalidParameterValue",
            format!("Recipient count exceeds {MAX_RECIPIENTS}."),
        ));
    }
    let senders = std::iter::once(&mail.source).chain(&mail.reply_to);
    for address in senders.chain(&mail.to).chain(&mail.cc).chain(&mail.bcc) {
        if !address.is_ascii() {
            // Non-ASCII names must be encoded words, domains Punycode.
            return Err(Refusal::bad("InvalidParameterValue", "Addresses must be 7-bit ASCII"));
        }
        match bare(address).rsplit_once('@') {
            Some((local, domain)) if !local.is_empty() && !domain.is_empty() => {}
            _ => return Err(Refusal::bad("InvalidParameterValue", "Missing final '@domain'")),
        }
    }
    Ok(())
}
