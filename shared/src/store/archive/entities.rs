//! The kind and the identifier of the record of each entity.

use super::ArchivedEntity;
use crate::domain::answers::{Answers, WrittenAnswer};
use crate::domain::archive::RecordKind;
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::company::Company;
use crate::domain::company::label::Label;
use crate::domain::company::logo::Logo;
use crate::domain::evaluation::Evaluation;
use crate::domain::history::HistoryEntry;
use crate::domain::id::CompanyId;
use crate::domain::media::captions::Captions;
use crate::domain::media::video::Video;
use crate::domain::privacy::legal::LegalText;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::retention::RetentionPolicy;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::webhook::Webhook;
use crate::store::table::keys;

macro_rules! archived {
    ($($entity:ty: $kind:ident, |$one:ident| $id:expr, $company:ident $(. $rest:ident)*;)+) => {$(
        impl ArchivedEntity for $entity {
            const KIND: RecordKind = RecordKind::$kind;

            fn record_id(&self) -> String {
                let $one = self;
                $id
            }

            fn company(&self) -> &CompanyId {
                &self.$company $(. $rest)*
            }
        }
    )+};
}

archived! {
    Answers: Answers, |one| format!("{}/{}", one.project, one.candidate), company;
    Candidate: Candidates, |one| format!("{}/{}", one.project, one.id), company;
    Captions: Captions, |one| format!("{}/{}", one.video, one.language.as_str()), company;
    Company: Company, |one| one.id.to_string(), id;
    Customer: Customers, |one| one.id.to_string(), company;
    Evaluation: Evaluations, |one| format!("{}/{}/{}", one.project, one.candidate, one.evaluator), company;
    GuestLink: GuestLinks, |one| format!("{}/{}/{}", one.project, one.candidate, one.id), company;
    // An event that has no number yet is in no archive.
    HistoryEntry: Events, |one| keys::event_number(one.sequence.unwrap_or_default()), change.company;
    Label: Labels, |one| one.id.to_string(), company;
    LegalText: LegalTexts, |one| keys::legal_text(&one.company, one.id).sk.replace('#', "/"), company;
    Logo: Logos, |one| one.id.to_string(), company;
    NamedToken: Tokens, |one| one.id.to_string(), company;
    Project: Projects, |one| one.id.to_string(), company;
    Questionnaire: Questionnaires, |one| one.project.to_string(), company;
    RetentionPolicy: Retention, |one| one.company.to_string(), company;
    Video: Videos, |one| one.id.to_string(), company;
    Webhook: Webhooks, |one| one.id.to_string(), company;
    WrittenAnswer: WrittenAnswers, |one| format!("{}/{}/{}", one.project, one.candidate, one.question), company;
}
