//! Reads a change of a company.

use shared::Result;
use shared::domain::company::{Company, time_zone};
use shared::domain::evaluation::MAX_SCORE;
use shared::domain::parse_enum;
use shared::domain::text::{Email, ShortName, TextLine, TextLines, WebLink};
use shared::http::{BodyChanges, BodyFields};

pub(crate) fn read_changes(mut body: BodyFields) -> Result<BodyChanges<Company>> {
    let mut changes: BodyChanges<Company> = BodyChanges::default();
    let period = body.clearable_integer("default_interview_period", 1, 3650);
    let email = body.clearable("registration_email", Email::parse);
    let app_url = body.clearable("app_url", WebLink::parse).map(Option::unwrap_or_default);
    let timezone = body.clearable("timezone", time_zone);
    changes.set(body.text("name", ShortName::parse), |company| &mut company.name);
    changes.set(body.text_or_empty("address", TextLines::parse), |company| &mut company.address);
    changes.set(body.text_or_empty("city", TextLine::parse), |company| &mut company.city);
    changes.set(body.text_or_empty("postcode", TextLine::parse), |company| &mut company.postcode);
    changes.set(body.text_or_empty("country", TextLine::parse), |company| &mut company.country);
    changes.set(body.text_or_empty("phone", TextLine::parse_unmarked), |company| &mut company.phone);
    changes.set(period, |company| &mut company.default_interview_period);
    changes.set(body.integer("default_maximum_score", 1, MAX_SCORE), |company| {
        &mut company.default_maximum_score
    });
    changes.set(body.text("default_project_lang", parse_enum), |company| &mut company.default_project_lang);
    let email = email.map(|email| email.map(Email::into_line).unwrap_or_default());
    changes.set(email, |company| &mut company.registration_email);
    changes.set(app_url, |company| &mut company.app_url);
    changes.set(timezone.map(Option::unwrap_or_default), |company| &mut company.timezone);
    body.finish(|| Some(changes))
}
