//! A company: the tenant, and its defaults for projects.

use serde::{Deserialize, Serialize};

use super::id::CompanyId;
use super::language::Language;
use super::text::{Line, Lines, Name};

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
        }
    }
}
