//! Sample events of a company, its staff, its projects and its other resources.

use std::collections::BTreeSet;

use super::sample::{EventSample, at, company, id};
use crate::domain::company::Company;
use crate::domain::company::label::{Label, LabelText};
use crate::domain::history::{
    ChangeAuthor, EventType, FieldChanges, HasHistory, ResourceChange, ResourceRef,
};
use crate::domain::id::{CustomerId, ProjectId, VideoId};
use crate::domain::issuer::IssuerUrl;
use crate::domain::language::Language;
use crate::domain::media::conversion::{Conversion, ConversionResult};
use crate::domain::media::upload::AnnouncedFile;
use crate::domain::media::video::{FileName, NewVideo, Video};
use crate::domain::outgoing::{AllowedTargets, OutgoingUrl};
use crate::domain::privacy::retention_rule::{RetentionRule, RetentionStart};
use crate::domain::project::{Project, ProjectSettings, ProjectStatus};
use crate::domain::retention::run::{CompletedRun, RunCounts};
use crate::domain::retention::{RetentionPolicy, ScheduledRule};
use crate::domain::secret::{PasswordHash, Sealed, SecretHash};
use crate::domain::staff::ProjectStaff;
use crate::domain::staff::customer::{AccountType, Customer, CustomerStatus, NewCustomer};
use crate::domain::staff::named_token::{NamedToken, TokenProof, TokenRights, TokenUses};
use crate::domain::staff::sign_in::{MailDomain, SignInProvider, SignInSettings};
use crate::domain::staff::trust::ClaimText;
use crate::domain::text::{Email, ExternalId, ShortName, TextLine, TextLines, Username};
use crate::domain::webhook::{DisabledReason, Webhook};
use crate::http::example_uri;

type Samples = Result<Vec<EventSample>, String>;

/// At least one event of each type, except pings and those about candidates.
pub(super) fn samples() -> Samples {
    let customer: CustomerId = id(example_uri::CUSTOMER)?;
    let owner = ChangeAuthor::Customer { customer };
    let samples = [
        projects(owner)?,
        customers(owner)?,
        videos(owner)?,
        labels(owner)?,
        tokens(owner)?,
        companies(owner)?,
        retentions(owner)?,
        sign_ins(owner)?,
        webhooks(owner)?,
    ];
    Ok(samples.into_iter().flatten().collect())
}

/// The events of writes by one author.
fn told<T: HasHistory, const N: usize>(
    by: ChangeAuthor,
    writes: [(Option<&T>, Option<&T>); N],
) -> Vec<EventSample> {
    writes.into_iter().filter_map(|(before, after)| EventSample::of(by, before, after)).collect()
}

fn projects(by: ChangeAuthor) -> Samples {
    let created_at = at("2026-11-02T09:00:00Z")?;
    let project: ProjectId = id(example_uri::PROJECT)?;
    let draft = Project::new(project, &company()?, ShortName::parse("Backend engineer")?, created_at);
    let external_id = Some(ExternalId::parse("REQ-7")?);
    let draft = Project { settings: ProjectSettings { external_id, ..draft.settings }, ..draft };
    let (running, _) =
        draft.clone().move_to(ProjectStatus::Running, created_at).map_err(|refusal| refusal.detail)?;
    let settings = ProjectSettings { team_evaluation: 2, ..running.settings.clone() };
    let changed = Project { settings, ..running.clone() };
    let staff = ProjectStaff { evaluators: [id(example_uri::CUSTOMER)?].into(), ..running.staff.clone() };
    let staffed = Project { staff, ..running.clone() };
    let writes = [
        (None, Some(&draft)),
        (Some(&draft), Some(&running)),
        (Some(&running), Some(&changed)),
        (Some(&running), Some(&staffed)),
    ];
    Ok(told(by, writes))
}

fn customers(by: ChangeAuthor) -> Samples {
    let customer: CustomerId = id(example_uri::CUSTOMER)?;
    let new = NewCustomer {
        account_type: AccountType::Recruiter,
        username: Username::parse("grace")?,
        email: Email::parse("grace@example.com")?,
        first_name: ShortName::parse("Grace")?,
        last_name: ShortName::parse("Hopper")?,
        preferred_language: Language::En,
    };
    let invited_at = at("2026-11-02T09:05:00Z")?;
    let invited = Customer::invited(customer, company()?.id, new, Some(customer), invited_at);
    let confirmed = Customer {
        status: CustomerStatus::Confirmed,
        confirmed_at: Some(at("2026-11-08T22:59:00Z")?),
        password_hash: Some(PasswordHash::new(String::new())),
        ..invited.clone()
    };
    let promoted = Customer { account_type: AccountType::Admin, ..confirmed.clone() };
    let inactive = Customer { is_active: false, ..confirmed.clone() };
    let itself = told(ChangeAuthor::Customer { customer }, [(Some(&invited), Some(&confirmed))]);
    let writes = [
        (None, Some(&invited)),
        (Some(&confirmed), Some(&promoted)),
        (Some(&confirmed), Some(&inactive)),
        (Some(&inactive), Some(&confirmed)),
        (Some(&confirmed), None),
    ];
    Ok([told(by, writes), itself].into_iter().flatten().collect())
}

fn videos(by: ChangeAuthor) -> Samples {
    let video: VideoId = id(example_uri::VIDEO)?;
    let new = NewVideo {
        name: ShortName::parse("Welcome")?,
        description: TextLines::default(),
        internal_description: TextLines::default(),
        upload_filename: FileName::parse("welcome.mov")?,
        file: AnnouncedFile { content_type: "video/quicktime".to_owned(), size: 48_000_000 },
    };
    let customer: CustomerId = id(example_uri::CUSTOMER)?;
    let created_at = at("2026-11-02T09:00:00Z")?;
    let announced = Video::announced(video, company()?.id, new, Some(customer), created_at);
    let arrived = announced.clone().arrived(created_at);
    let made = ConversionResult { seconds: 42, width: 1920, height: 1080 };
    let converted = arrived.clone().with_conversion(Conversion::succeeded(made));
    let failed = arrived.clone().with_conversion(Conversion::failed("The file has no picture."));
    let renamed = Video { name: ShortName::parse("Welcome to Acme")?, ..converted.clone() };
    let by_service = [(Some(&arrived), Some(&converted)), (Some(&arrived), Some(&failed))];
    let writes = [(None, Some(&announced)), (Some(&converted), Some(&renamed)), (Some(&renamed), None)];
    Ok([told(by, writes), told(ChangeAuthor::System, by_service)].into_iter().flatten().collect())
}

fn labels(by: ChangeAuthor) -> Samples {
    let label = Label::new(id(example_uri::LABEL)?, company()?.id, LabelText::parse("Senior")?);
    let renamed = Label { text: LabelText::parse("Principal")?, ..label.clone() };
    Ok(told(by, [(None, Some(&label)), (Some(&label), Some(&renamed)), (Some(&renamed), None)]))
}

fn tokens(by: ChangeAuthor) -> Samples {
    let token = NamedToken {
        id: id(example_uri::TOKEN)?,
        company: company()?.id,
        name: ShortName::parse("Applicant tracking")?,
        proof: TokenProof::Value { hash: SecretHash::of(""), media_key: Sealed::of_nothing() },
        rights: TokenRights::OWNER,
        expires_at: Some(at("2027-11-02T09:00:00Z")?),
        uses: TokenUses::default(),
        created_at: at("2026-11-02T09:00:00Z")?,
        created_by: id(example_uri::CUSTOMER)?,
    };
    Ok(told(by, [(None, Some(&token)), (Some(&token), None)]))
}

fn companies(by: ChangeAuthor) -> Samples {
    let company = company()?;
    let moved = Company { city: TextLine::parse("London")?, ..company.clone() };
    let by_operator = [(None, Some(&company)), (Some(&moved), None)];
    let export = ResourceRef::Export { export: id(example_uri::EXPORT)? };
    let exports = [EventType::CompanyExported, EventType::CompanyExportDeleted].map(|event| {
        let change = ResourceChange::new(&company.id, export, vec![event], FieldChanges::default());
        EventSample::new(by, 4, change)
    });
    let samples = [
        told(ChangeAuthor::Operator, by_operator),
        told(by, [(Some(&company), Some(&moved))]),
        exports.into(),
    ];
    Ok(samples.into_iter().flatten().collect())
}

fn sign_ins(by: ChangeAuthor) -> Samples {
    let provider = SignInProvider {
        issuer: IssuerUrl::parse("https://login.acme.example", AllowedTargets::Public)?,
        client_id: ClaimText::parse("interviews")?,
        client_secret: Some(Sealed::of_nothing()),
        domains: [MailDomain::parse("acme.example")?].into(),
        trusts_addresses: false,
        required: false,
        break_glass: BTreeSet::new(),
    };
    let none = SignInSettings::none(company()?.id);
    let set = none.with_provider(provider, at("2026-11-02T09:00:00Z")?);
    Ok(told(by, [(Some(&none), Some(&set))]))
}

fn retentions(by: ChangeAuthor) -> Samples {
    let kept = RetentionPolicy::keep(company()?.id);
    let rule = RetentionRule { days: Some(180), from: RetentionStart::ProjectClosed };
    let scheduled = ScheduledRule { rule, starts_at: Some(at("2026-11-09T22:59:00Z")?) };
    let limited = RetentionPolicy { scheduled, ..kept.clone() };
    let counts = RunCounts { looked_at: 120, erased: 3, held: 1, soon: 5, waiting: 0 };
    let run = limited.run_change(&CompletedRun { at: at("2026-11-09T02:00:00Z")?, counts });
    let run = EventSample::new(ChangeAuthor::System, 7, run);
    Ok(told(by, [(Some(&kept), Some(&limited))]).into_iter().chain([run]).collect())
}

fn webhooks(by: ChangeAuthor) -> Samples {
    let url = OutgoingUrl::parse("https://hooks.example.com/interviews", AllowedTargets::Public)?;
    let secret = Sealed::new(String::new());
    let created_at = at("2026-11-02T09:00:00Z")?;
    let webhook = Webhook::new(id(example_uri::WEBHOOK)?, company()?.id, url, secret, None, created_at);
    let described = Webhook { description: TextLine::parse("Applicant tracking")?, ..webhook.clone() };
    let disabled = described.clone().disabled(DisabledReason::Failing);
    let writes = [(None, Some(&webhook)), (Some(&webhook), Some(&described)), (Some(&disabled), None)];
    let by_service = told(ChangeAuthor::System, [(Some(&described), Some(&disabled))]);
    Ok([told(by, writes), by_service].into_iter().flatten().collect())
}
