//! A company: the tenant, and its defaults for projects.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::history::{EventType, FieldValue, HasHistory, ResourceRef, private};
use super::id::CompanyId;
use super::language::Language;
use super::logo::LogoRef;
use super::privacy::legal::LegalRegister;
use super::sender::SenderAddress;
use super::text::{Email, ShortName, TextLine, TextLines, WebLink};

/// A company as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Company {
    /// Its identifier.
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
    /// The application where its staff work; empty for that of the deployment.
    #[serde(default)]
    pub app_url: WebLink,
    /// IANA name of the company's time zone.
    pub timezone: TextLine<64>,
    /// Its logo.
    #[serde(default)]
    pub logo: Option<LogoRef>,
    /// The senders that SES has verified for this company, as the operator has declared. Never shared, because no
    /// company may send from another's address.
    pub verified_senders: Vec<SenderAddress>,
    /// The latest versions of its legal texts.
    #[serde(default, skip_serializing_if = "LegalRegister::is_empty")]
    pub legal: LegalRegister,
}

impl Company {
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
        }
    }

    /// Whether the company's mails may come from `address`.
    pub fn may_send_from(&self, address: &Email) -> bool {
        self.verified_senders.iter().any(|sender| sender.covers(address))
    }
}

/// Parses the IANA name of a known time zone.
pub fn time_zone(text: &str) -> Result<TextLine<64>, String> {
    let name = TextLine::parse(text)?;
    let known = name.as_str().parse::<Tz>();
    known.map(|_| name).map_err(|_| "Use an IANA time zone name, for example Europe/Berlin.".to_owned())
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

    #[test]
    fn time_zones_are_known_by_their_iana_names() {
        for known in ["Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", " Asia/Kolkata "] {
            assert_eq!(time_zone(known).unwrap().as_str(), known.trim());
        }
        for unknown in ["", "europe/berlin", "Berlin", "CEST", "+02:00", "Europe/Berlin\n"] {
            assert_eq!(time_zone(unknown).is_ok(), unknown.trim() == "Europe/Berlin", "{unknown:?}");
        }
    }
}
