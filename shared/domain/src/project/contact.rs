//! The contact for questions of candidates.

use crate::company::Company;
use crate::project::Project;
use crate::text::{Email, TextLine};

/// The contact for questions of candidates, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// A person; empty if the project names none.
    pub person: TextLine<150>,
    /// An address.
    pub email: Option<Email>,
}

impl Contact {
    /// The contact of a project. The address is the project's own, otherwise the company's.
    pub fn of(project: &Project, company: &Company) -> Self {
        let own = project.settings.email_alias.clone();
        let email = own.or_else(|| Self::of_company(company).email);
        Self { person: project.settings.contact_person.clone(), email }
    }

    /// The contact of a company, for people whose project is not known.
    pub fn of_company(company: &Company) -> Self {
        Self { person: TextLine::default(), email: Email::parse(company.registration_email.as_str()).ok() }
    }

    /// The contact in one phrase; `None` if nothing is known.
    pub fn in_words(&self) -> Option<String> {
        match (self.person.as_str(), &self.email) {
            ("", None) => None,
            ("", Some(email)) => Some(email.as_str().to_owned()),
            (person, None) => Some(person.to_owned()),
            (person, Some(email)) => Some(format!("{person} ({})", email.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_project_s_own_address_comes_before_that_of_the_company() {
        let mut company = samples::company();
        let mut project = samples::project();
        let known = |company: &Company, project: &Project| Contact::of(project, company).in_words();
        assert_eq!(known(&company, &project), None);
        company.registration_email = TextLine::parse("jobs@acme.example").unwrap();
        assert_eq!(known(&company, &project).as_deref(), Some("jobs@acme.example"));
        project.settings.email_alias = Some(Email::parse("sales@acme.example").unwrap());
        assert_eq!(known(&company, &project).as_deref(), Some("sales@acme.example"));
        project.settings.contact_person = TextLine::parse("Zoë").unwrap();
        assert_eq!(known(&company, &project).as_deref(), Some("Zoë (sales@acme.example)"));
        project.settings.email_alias = None;
        company.registration_email = TextLine::default();
        assert_eq!(known(&company, &project).as_deref(), Some("Zoë"));
    }
}
