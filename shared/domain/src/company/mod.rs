//! A company: the tenant, and its defaults for projects.

pub mod import;
pub mod label;
pub mod logo;
pub mod usage;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::history::{EventType, FieldValue, HasHistory, ResourceRef, private};
use super::id::CompanyId;
use super::language::Language;
use super::mail::sender::SenderAddress;
use super::privacy::legal::{LatestVersion, LegalDraft, LegalRegister, LegalText, LegalTextId};
use super::text::{Email, ShortName, TextLine, TextLines, WebLink};
use super::time_zone::TimeZone;

use logo::LogoRef;

/// A company as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Company {
    pub id: CompanyId,
    /// The display name.
    pub name: ShortName,
    /// Street and number.
    pub address: TextLines<255>,
    pub city: TextLine<150>,
    /// Postal code.
    pub postcode: TextLine<20>,
    pub country: TextLine<100>,
    /// Telephone number.
    pub phone: TextLine<50>,
    /// Days until the default deadline, if neither candidate nor project has one.
    pub default_interview_period: Option<u32>,
    /// The default maximum score of projects.
    pub default_maximum_score: u32,
    pub default_project_lang: Language,
    /// The address for questions, shown in mails.
    pub registration_email: TextLine<254>,
    /// The URL of the application where the company's staff work; empty for the deployment's default.
    #[serde(default)]
    pub app_url: WebLink,
    /// IANA name of the company's time zone.
    pub timezone: TextLine<64>,
    #[serde(default)]
    pub logo: Option<LogoRef>,
    /// The senders that SES has verified for this company, as declared by the operator. Companies never share senders, because
    /// none may send from another's address.
    pub verified_senders: Vec<SenderAddress>,
    /// The latest versions of the company's legal texts.
    #[serde(default, skip_serializing_if = "LegalRegister::is_empty")]
    pub legal: LegalRegister,
    /// Whether the operator uses the company for tests, so that its usage is not invoiced.
    #[serde(default)]
    pub is_test: bool,
}

impl Company {
    /// The time zone; UTC if the company has chosen none.
    pub fn time_zone(&self) -> TimeZone {
        TimeZone::named(self.timezone.as_str()).unwrap_or_else(TimeZone::utc)
    }

    /// A company with all defaults.
    pub fn new(id: CompanyId, name: ShortName) -> Self {
        Self {
            id,
            name,
            address: TextLines::default(),
            city: TextLine::default(),
            postcode: TextLine::default(),
            country: TextLine::default(),
            phone: TextLine::default(),
            default_interview_period: None,
            default_maximum_score: 5,
            default_project_lang: Language::En,
            registration_email: TextLine::default(),
            app_url: WebLink::default(),
            timezone: TextLine::default(),
            logo: None,
            verified_senders: Vec::new(),
            legal: LegalRegister::default(),
            is_test: false,
        }
    }

    /// Whether the company may send mails from `address`.
    pub fn may_send_from(&self, address: &Email) -> bool {
        self.verified_senders.iter().any(|sender| sender.covers(address))
    }
}

/// Parses the IANA name of a known time zone.
pub fn time_zone(text: &str) -> Result<TextLine<64>, String> {
    let name = TextLine::parse(text)?;
    let known = TimeZone::named(name.as_str());
    known.map(|_| name).ok_or_else(|| "Use an IANA time zone name, for example Europe/Berlin.".to_owned())
}

impl Company {
    /// The company with the next version of a kind of legal text, and that version. `None` if the draft retires a kind without a
    /// current text.
    pub fn publish(mut self, draft: LegalDraft, now: DateTime<Utc>) -> Option<(Self, LegalText)> {
        let LegalDraft { kind, texts, is_required } = draft;
        if texts.is_empty() {
            self.legal.current(kind)?;
        }
        let version = self.legal.count(kind) + 1;
        let languages = texts.keys().copied().collect();
        self.legal.set_latest(kind, LatestVersion { version, is_required, languages });
        let id = LegalTextId { kind, version };
        let company = self.id.clone();
        Some((self, LegalText { id, company, texts, is_required, created_at: now }))
    }
}

impl HasHistory for Company {
    const CREATED: EventType = EventType::CompanyCreated;
    const UPDATED: Option<EventType> = Some(EventType::CompanyUpdated);
    const DELETED: Option<EventType> = Some(EventType::CompanyDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.id, ResourceRef::Company)
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            name, address, city, postcode, country, phone, default_interview_period, default_maximum_score,
            default_project_lang, registration_email, app_url, timezone, logo, verified_senders, legal,
            id: _,
            // Set by the operator.
            is_test: _,
        } = self;
        vec![
            ("name", private(name)),
            ("address", private(address)),
            ("city", private(city)),
            ("postcode", private(postcode)),
            ("country", private(country)),
            ("phone", private(phone)),
            ("default_interview_period", private(default_interview_period)),
            ("default_maximum_score", private(default_maximum_score)),
            ("default_project_lang", private(default_project_lang)),
            ("registration_email", private(registration_email)),
            ("app_url", private(app_url)),
            ("timezone", private(timezone)),
            ("logo", private(logo)),
            ("verified_senders", private(verified_senders)),
            ("legal", private(legal)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::legal::{LegalKind, LegalWording};
    use crate::samples;

    #[test]
    fn time_zones_are_known_by_their_iana_names() {
        for known in ["Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", " Asia/Kolkata "] {
            assert_eq!(time_zone(known).unwrap().as_str(), known.trim());
        }
        for unknown in ["", "europe/berlin", "Berlin", "CEST", "+02:00", "Europe/Berlin\n"] {
            assert_eq!(time_zone(unknown).is_ok(), unknown.trim() == "Europe/Berlin", "{unknown:?}");
        }
    }

    fn draft(kind: LegalKind, languages: &[Language], is_required: bool) -> LegalDraft {
        let wording = LegalWording::parse("We keep what you send.").unwrap();
        let texts = languages.iter().map(|language| (*language, wording.clone())).collect();
        LegalDraft { kind, texts, is_required }
    }

    fn id(text: &str) -> LegalTextId {
        text.parse().unwrap()
    }

    #[test]
    fn each_publication_is_the_next_version_of_its_kind_and_an_empty_one_retires_it() {
        let now = DateTime::UNIX_EPOCH;
        let company = samples::company();
        assert!(company.clone().publish(draft(LegalKind::Consent, &[], false), now).is_none());
        let both = [Language::De, Language::En];
        let (company, first) = company.publish(draft(LegalKind::Consent, &both, true), now).unwrap();
        let (company, other) = company.publish(draft(LegalKind::PrivacyPolicy, &both, false), now).unwrap();
        let (company, second) = company.publish(draft(LegalKind::Consent, &both[..1], true), now).unwrap();
        assert_eq!([first.id, other.id, second.id], ["consent-1", "privacy_policy-1", "consent-2"].map(id));
        assert_eq!(company.legal.required(), [second.id]);
        assert_eq!(company.legal.texts(true), [other.id, second.id]);

        let (company, last) = company.publish(draft(LegalKind::Consent, &[], false), now).unwrap();
        assert_eq!((last.id, company.legal.current(LegalKind::Consent)), (id("consent-3"), None));
        assert_eq!((company.legal.required(), company.legal.texts(true)), (vec![], vec![other.id]));
        assert_eq!(company.legal.texts(false), [other.id, first.id, second.id, last.id]);
        assert!(company.clone().publish(draft(LegalKind::Consent, &[], false), now).is_none());
        let (company, again) = company.publish(draft(LegalKind::Consent, &both, true), now).unwrap();
        assert_eq!((again.id, company.legal.required()), (id("consent-4"), vec![id("consent-4")]));
    }
}
