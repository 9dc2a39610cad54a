//! A company: the tenant, and its defaults for projects.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::id::CompanyId;
use super::language::Language;
use super::sender::Sender;
use super::text::{Email, Line, Lines, Name};

/// A company as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Company {
    /// Its identifier.
    pub id: CompanyId,
    /// What it is called.
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
    /// Days that a candidate gets when neither candidate nor project names a deadline.
    pub default_interview_period: Option<u32>,
    /// The maximum score of a project that names none.
    pub default_maximum_score: u32,
    /// The language of a project that names none.
    pub default_project_lang: Language,
    /// The address that candidates may write to, shown in mails.
    pub registration_email: Line<254>,
    /// IANA name of the time zone that people of the company read times in.
    pub timezone: Line<64>,
    /// Where mails in its name may come from: what SES has verified for it, on the operator's word. Never shared, since a
    /// company must not write from another's address.
    #[serde(default)]
    pub verified_senders: Vec<Sender>,
}

impl Company {
    /// A company with the defaults that every company starts with.
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

    /// Whether mails in its name may come from `address`.
    pub fn may_send_from(&self, address: &Email) -> bool {
        self.verified_senders.iter().any(|sender| sender.covers(address))
    }
}

/// The IANA name of a time zone that is known here, spelled as IANA does.
///
/// # Errors
/// The message for whoever sent it.
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
