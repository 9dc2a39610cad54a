//! The sent mails, for people and tests.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Error;

/// A mail as passed to SES. Addresses are unchanged; they may contain display names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The message id that SES returned.
    pub id: String,
    /// When the mail was sent: UTC, in RFC 3339 with milliseconds.
    pub time: String,
    /// The sender.
    pub source: String,
    /// The recipients.
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    /// The reply addresses; empty if replies go to the sender.
    pub reply_to: Vec<String>,
    /// The configuration set, if there is one.
    #[serde(default)]
    pub configuration_set: Option<String>,
    /// The tags that SES includes in its reports.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// The decoded subject.
    pub subject: String,
    /// The decoded body in plain text.
    pub text: Option<String>,
    /// The decoded body in HTML.
    pub html: Option<String>,
    /// The unfolded headers of a SendRawEmail request, in their order; empty for SendEmail.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The whole message of a SendRawEmail request. Bytes that are not UTF-8 are replaced.
    pub raw: Option<String>,
}

impl Mail {
    /// The first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// Whether `address` is a recipient, ignoring display names and case.
    pub fn is_for(&self, address: &str) -> bool {
        [&self.to, &self.cc, &self.bcc]
            .into_iter()
            .flatten()
            .any(|recipient| bare(recipient).eq_ignore_ascii_case(address))
    }
}

/// The address in `Name <address>`.
pub(crate) fn bare(address: &str) -> &str {
    match address.rsplit_once('<').and_then(|(_, rest)| rest.trim_end().strip_suffix('>')) {
        Some(bare) => bare.trim(),
        None => address.trim(),
    }
}

/// The mails sent through one back end. Clones share them.
#[derive(Clone, Default)]
pub struct Mailbox(Arc<Mutex<Mails>>);

#[derive(Default)]
struct Mails {
    /// Oldest first.
    list: Vec<Arc<Mail>>,
    /// One JSON object per line.
    file: Option<File>,
}

impl Mailbox {
    /// Opens a mailbox stored in a file. Ignores a last line that a crash has truncated.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = || format!("cannot keep mails in {}", path.display());
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(path)
            .map_err(Error::because(failed()))?;
        let text = std::fs::read(path).map_err(Error::because(failed()))?;
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let mut list = Vec::new();
        for line in lines {
            if !line.ends_with(b"\n") {
                let whole = text.len() - line.len();
                file.set_len(whole as u64).map_err(Error::because(failed()))?;
                break;
            }
            list.push(serde_json::from_slice(line).map_err(Error::because(failed()))?);
        }
        file.flush().map_err(Error::because(failed()))?;
        Ok(Self(Arc::new(Mutex::new(Mails { list, file: Some(file) }))))
    }

    /// All mails, newest first.
    pub fn all(&self) -> Vec<Arc<Mail>> {
        self.mails().list.iter().rev().cloned().collect()
    }

    /// The mails to `address`, newest first.
    pub fn to(&self, address: &str) -> Vec<Arc<Mail>> {
        self.mails().list.iter().rev().filter(|mail| mail.is_for(address)).cloned().collect()
    }

    /// The mail with this message id.
    pub fn find(&self, id: &str) -> Option<Arc<Mail>> {
        self.mails().list.iter().find(|mail| mail.id == id).cloned()
    }

    pub(crate) fn add(&self, mail: Mail) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(&mail)?;
        line.push(b'\n');
        let mut mails = self.mails();
        if let Some(file) = &mut mails.file {
            file.write_all(&line)?;
        }
        mails.list.push(Arc::new(mail));
        Ok(())
    }

    fn mails(&self) -> MutexGuard<'_, Mails> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Folder;

    fn mail(id: &str, to: &str) -> Mail {
        Mail {
            id: id.to_owned(),
            time: "2030-01-02T03:04:05.678Z".to_owned(),
            source: "from@example.com".to_owned(),
            to: vec![to.to_owned()],
            cc: vec![],
            bcc: vec![],
            reply_to: vec![],
            configuration_set: None,
            tags: BTreeMap::new(),
            subject: "Hello".to_owned(),
            text: None,
            html: None,
            headers: vec![],
            raw: None,
        }
    }

    #[test]
    fn recipients_are_found_with_or_without_a_name() {
        for to in ["ann@example.com", "Ann <ann@example.com>", "ANN@example.com"] {
            assert!(mail("1", to).is_for("ann@example.com"), "{to}");
        }
        assert!(!mail("1", "joann@example.com").is_for("ann@example.com"));
    }

    #[test]
    fn mails_outlive_the_process_and_a_torn_last_line() {
        let folder = Folder::temporary().unwrap();
        let path = folder.path().join("mails.jsonl");
        let mailbox = Mailbox::open(&path).unwrap();
        mailbox.add(mail("1", "a@example.com")).unwrap();
        mailbox.add(mail("2", "b@example.com")).unwrap();
        drop(mailbox);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\": \"to").unwrap();

        let mailbox = Mailbox::open(&path).unwrap();
        mailbox.add(mail("3", "a@example.com")).unwrap();
        drop(mailbox);
        let mailbox = Mailbox::open(&path).unwrap();
        let ids: Vec<_> = mailbox.all().iter().map(|mail| mail.id.clone()).collect();
        assert_eq!(ids, ["3", "2", "1"]);
        assert_eq!(mailbox.to("a@example.com").len(), 2);
        assert_eq!(*mailbox.find("2").unwrap(), mail("2", "b@example.com"));
    }
}
