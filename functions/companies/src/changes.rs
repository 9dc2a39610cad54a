//! What clients send of a company.

use shared::Result;
use shared::domain::company::{Company, time_zone};
use shared::domain::evaluation::MAX_SCORE;
use shared::domain::language::Language;
use shared::domain::parse_enum;
use shared::domain::text::{Email, ShortName, TextLine, TextLines};
use shared::http::BodyFields;
use shared::http::fields::set;

/// The fields of a company that a client sent; `None` leaves a field as it is.
pub(crate) struct UpdateCompany {
    name: Option<ShortName>,
    address: Option<TextLines<255>>,
    city: Option<TextLine<150>>,
    postcode: Option<TextLine<20>>,
    country: Option<TextLine<100>>,
    phone: Option<TextLine<50>>,
    default_interview_period: Option<Option<u32>>,
    default_maximum_score: Option<u32>,
    default_project_lang: Option<Language>,
    registration_email: Option<Option<Email>>,
    timezone: Option<Option<TextLine<64>>>,
}

impl UpdateCompany {
    /// Reads the body of a change.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let changes = Self {
            name: body.text("name", ShortName::parse),
            address: body.lines("address"),
            city: body.line("city"),
            postcode: body.line("postcode"),
            country: body.line("country"),
            phone: body.line("phone"),
            default_interview_period: body.clearable_integer("default_interview_period", 1, 3650),
            default_maximum_score: body.integer("default_maximum_score", 1, MAX_SCORE),
            default_project_lang: body.text("default_project_lang", parse_enum),
            registration_email: body.clearable("registration_email", Email::parse),
            timezone: body.clearable("timezone", time_zone),
        };
        body.finish(|| Some(changes))
    }

    /// Makes the changes.
    pub(crate) fn apply_to(self, company: &mut Company) {
        set(&mut company.name, self.name);
        set(&mut company.address, self.address);
        set(&mut company.city, self.city);
        set(&mut company.postcode, self.postcode);
        set(&mut company.country, self.country);
        set(&mut company.phone, self.phone);
        set(&mut company.default_interview_period, self.default_interview_period);
        set(&mut company.default_maximum_score, self.default_maximum_score);
        set(&mut company.default_project_lang, self.default_project_lang);
        let email = self.registration_email.map(|email| email.map(Email::into_line).unwrap_or_default());
        set(&mut company.registration_email, email);
        set(&mut company.timezone, self.timezone.map(Option::unwrap_or_default));
    }
}
