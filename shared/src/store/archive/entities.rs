//! The kind and the identifier of each entity's record.

use super::ArchivedEntity;
use crate::domain::answers::{AnswerCaptions, Answers, WrittenAnswer};
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
use crate::domain::staff::sign_in::SignInSettings;
use crate::domain::webhook::Webhook;
use crate::store::table::keys;

macro_rules! archived {
    ($($entity:ty: $kind:ident, |$value:ident| $id:expr, $company:ident $(. $rest:ident)*;)+) => {$(
        impl ArchivedEntity for $entity {
            const KIND: RecordKind = RecordKind::$kind;

            fn record_id(&self) -> String {
                let $value = self;
                $id
            }

            fn company(&self) -> &CompanyId {
                &self.$company $(. $rest)*
            }
        }
    )+};
}

archived! {
    AnswerCaptions: AnswerCaptions, |value| captions_id(value), company;
    Answers: Answers, |value| format!("{}/{}", value.project, value.candidate), company;
    Candidate: Candidates, |value| format!("{}/{}", value.project, value.id), company;
    Captions: Captions, |value| format!("{}/{}", value.video, value.language.as_str()), company;
    Company: Company, |value| value.id.to_string(), id;
    Customer: Customers, |value| value.id.to_string(), company;
    Evaluation: Evaluations, |value| format!("{}/{}/{}", value.project, value.candidate, value.evaluator), company;
    GuestLink: GuestLinks, |value| format!("{}/{}/{}", value.project, value.candidate, value.id), company;
    // Archives contain only events that have a number.
    HistoryEntry: Events, |value| keys::event_number(value.sequence.unwrap_or_default()), change.company;
    Label: Labels, |value| value.id.to_string(), company;
    LegalText: LegalTexts, |value| keys::legal_text(&value.company, value.id).sk.replace('#', "/"), company;
    Logo: Logos, |value| value.id.to_string(), company;
    NamedToken: Tokens, |value| value.id.to_string(), company;
    Project: Projects, |value| value.id.to_string(), company;
    Questionnaire: Questionnaires, |value| value.project.to_string(), company;
    RetentionPolicy: Retention, |value| value.company.to_string(), company;
    SignInSettings: SignIn, |value| value.company.to_string(), company;
    Video: Videos, |value| value.id.to_string(), company;
    Webhook: Webhooks, |value| value.id.to_string(), company;
    WrittenAnswer: WrittenAnswers, |value| format!("{}/{}/{}", value.project, value.candidate, value.question), company;
}

fn captions_id(captions: &AnswerCaptions) -> String {
    let AnswerCaptions { project, candidate, question, take, language, .. } = captions;
    format!("{project}/{candidate}/{question}/{take}/{}", language.as_str())
}
