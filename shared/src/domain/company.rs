//! A company: the tenant, and its defaults for projects.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::id::CompanyId;
use super::language::Language;
use super::sender::Sender;
use super::text::{Email, Line, Lines, Name};

/// A company as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Company {
    /// Its identifier.
    pub id: CompanyId,
    /// The display name.
    pub name: Name,
    /// Street and number.
    pub address: Lines<255>,
    /// City.
    pub city: Line<150>,
    /// Postal code.
    pub postcode: Line<20>,
    /// Country.
    pub country: Line<100>,
    /// Telephone number.
    pub phone: Line<50>,
    /// Days until the default deadline, if neither candidate nor project has one.
    pub default_interview_period: Option<u32>,
    /// The default maximum score of projects.
    pub default_maximum_score: u32,
    /// The default language of projects.
    pub default_project_lang: Language,
    /// The address for questions, shown in mails.
    pub registration_email: Line<254>,
    /// IANA name of the company's time zone.
    pub timezone: Line<64>,
    /// The senders that SES has verified for this company, as the operator has declared. Never shared, because no
    /// company may send from another's address.
    #[serde(default)]
    pub verified_senders: Vec<Sender>,
}

impl Company {
    /// A company with all defaults.
    pub fn new(id: CompanyId, name: Name) -> Self {
        Self {
            id,
            name,
            address: Lines::default(),
            city: Line::default(),
            postcode: Line::default(),
            country: Line::default(),
            phone: Line::default(),
            default_interview_period: None,
            default_maximum_score: 5,
            default_project_lang: Language::En,
            registration_email: Line::default(),
            timezone: Line::default(),
            verified_senders: Vec::new(),
        }
    }

    /// Whether the company's mails may come from `address`.
    pub fn may_send_from(&self, address: &Email) -> bool {
        self.verified_senders.iter().any(|sender| sender.covers(address))
    }
}

/// Parses the IANA name of a known time zone.
pub fn time_zone(text: &str) -> Result<Line<64>, String> {
    let name = Line::parse(text)?;
    let known = name.as_str().parse::<Tz>();
    known.map(|_| name).map_err(|_| "Use an IANA time zone name, for example Europe/Berlin.".to_owned())
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

    #[test]
    fn a_company_stored_before_senders_were_known_has_none() {
        let company = Company::new("acme".parse().unwrap(), Name::parse("Acme").unwrap());
        let mut stored = serde_json::to_value(&company).unwrap();
        stored.as_object_mut().unwrap().remove("verified_senders").unwrap();
        assert_eq!(serde_json::from_value::<Company>(stored).unwrap(), company);
    }
}
