//! The commands, as events carry them.

use serde::{Deserialize, Serialize};
use shared::auth::guard::Operator;
use shared::auth::password::Password;
use shared::domain::company::Company;
use shared::domain::customer::{AccountType, Customer, CustomerStatus};
use shared::domain::id::CompanyId;
use shared::domain::language::Language;
use shared::domain::sender::Sender;
use shared::domain::text::{Email, Line, Name, Username};
use shared::error::FieldErrors;
use shared::{Error, Result};

/// One command.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Creates a company with its first owner.
    CreateCompany {
        /// The identifier: `[a-z0-9-]{2,63}`, for ever.
        company: String,
        /// What it is called.
        name: String,
        /// Who answers for it.
        owner: Person,
    },
    /// Creates a staff user of an existing company.
    CreateCustomer {
        /// The company's identifier.
        company: String,
        /// What the user is in the company.
        account_type: AccountType,
        /// The user.
        customer: Person,
    },
    /// Sets where mails in a company's name may come from: what SES has verified for this company.
    VerifySenders {
        /// The company's identifier.
        company: String,
        /// Domains and addresses, at most 20, in place of those set before.
        senders: Vec<String>,
    },
}

/// A staff user to create.
#[derive(Deserialize)]
pub struct Person {
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// Where mails go.
    pub email: String,
    /// The name to log in with; the email when absent.
    pub username: Option<String>,
    /// 8–128 characters.
    pub password: String,
}

/// What a command did.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The company.
    pub company: String,
    /// The address of the staff user that was created, by a command that creates one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
}

impl Command {
    /// Its name in events.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::CreateCompany { .. } => "create-company",
            Self::CreateCustomer { .. } => "create-customer",
            Self::VerifySenders { .. } => "verify-senders",
        }
    }

    pub(crate) async fn run(self, operator: &Operator) -> Result<Outcome> {
        let mut errors = FieldErrors::default();
        match self {
            Self::CreateCompany { company, name, owner } => {
                let company = errors.read("company", company_id(&company));
                let name = errors.read("name", Name::parse(&name));
                let owner = Details::read(owner, &mut errors);
                let (Some(id), Some(name), Some(owner)) = (company, name, owner) else {
                    return Err(Error::Fields(errors));
                };
                let company = Company::new(id, name);
                let owner = owner.customer(&company.id, AccountType::Owner, operator).await?;
                operator.create_company(&company, &owner).await?;
                Ok(Outcome::created(&owner, operator))
            }
            Self::CreateCustomer { company, account_type, customer } => {
                let company = errors.read("company", company_id(&company));
                let customer = Details::read(customer, &mut errors);
                let (Some(company), Some(customer)) = (company, customer) else {
                    return Err(Error::Fields(errors));
                };
                let customer = customer.customer(&company, account_type, operator).await?;
                operator.create_customer(&customer).await?;
                Ok(Outcome::created(&customer, operator))
            }
            Self::VerifySenders { company, senders } => {
                let company = errors.read("company", company_id(&company));
                let senders = errors.read("senders", Sender::parse_all(&senders));
                let (Some(company), Some(senders)) = (company, senders) else {
                    return Err(Error::Fields(errors));
                };
                operator.verify_senders(&company, senders).await?;
                Ok(Outcome { company: company.to_string(), customer: None })
            }
        }
    }
}

impl Outcome {
    fn created(customer: &Customer, operator: &Operator) -> Self {
        let reference = operator.references().customer(&customer.company, customer.id);
        Self { company: customer.company.to_string(), customer: Some(reference) }
    }
}

fn company_id(text: &str) -> Result<CompanyId, String> {
    text.parse().map_err(|_| "Use 2 to 63 of a-z, 0-9 and -.".to_owned())
}

/// A [`Person`] whose details have been checked.
struct Details {
    first_name: Name,
    last_name: Name,
    email: Email,
    username: Username,
    password: Password,
}

impl Details {
    fn read(person: Person, errors: &mut FieldErrors) -> Option<Self> {
        let username = person.username.as_deref().unwrap_or(&person.email);
        let first_name = errors.read("first_name", Name::parse(&person.first_name));
        let last_name = errors.read("last_name", Name::parse(&person.last_name));
        let email = errors.read("email", Email::parse(&person.email));
        let username = errors.read("username", Username::parse(username));
        let password = errors.read("password", Password::choose(&person.password));
        Some(Self {
            first_name: first_name?,
            last_name: last_name?,
            email: email?,
            username: username?,
            password: password?,
        })
    }

    /// The customer, who needs no invitation: the operator hands the password over.
    async fn customer(
        self,
        company: &CompanyId,
        account_type: AccountType,
        operator: &Operator,
    ) -> Result<Customer> {
        Ok(Customer {
            id: operator.next_id(),
            company: company.clone(),
            account_type,
            username: self.username,
            email: self.email,
            first_name: self.first_name,
            last_name: self.last_name,
            phone: Line::default(),
            gender: Line::default(),
            position: Line::default(),
            preferred_language: Language::En,
            status: CustomerStatus::Confirmed,
            is_active: true,
            invited_at: None,
            confirmed_at: Some(operator.now),
            created_by: None,
            receive_interview_notifications: true,
            seen_welcome: false,
            password_hash: Some(operator.hash(self.password).await?),
            session_epoch: 0,
            one_time_key: None,
            authenticate_on_behalf: false,
        })
    }
}
