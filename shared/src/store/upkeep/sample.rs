//! Reads any item by its key, to check that one release reads what another has written.

use serde::de::DeserializeOwned;

use crate::domain::account::Account;
use crate::domain::answers::{AnswerCaptions, Answers, WrittenAnswer};
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::company::Company;
use crate::domain::company::import::CompanyImport;
use crate::domain::company::label::Label;
use crate::domain::company::logo::Logo;
use crate::domain::company::usage::ClosedUsage;
use crate::domain::effect::Effect;
use crate::domain::evaluation::Evaluation;
use crate::domain::export::{CompanyExport, LatestExport};
use crate::domain::history::{HistoryEntry, ResourceRef};
use crate::domain::media::captions::Captions;
use crate::domain::media::upload::Upload;
use crate::domain::media::video::Video;
use crate::domain::privacy::legal::LegalText;
use crate::domain::privacy::receipt::ImportedReceiptKey;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::retention::RetentionPolicy;
use crate::domain::retention::company_erasure::CompanyErasure;
use crate::domain::retention::run::RetentionRun;
use crate::domain::scoring::result::ResultSummary;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::help_notice::HelpNotice;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::staff::notice::{InterviewNotice, InterviewWave};
use crate::domain::staff::reminder::EvaluationRound;
use crate::domain::staff::sign_in::SignInSettings;
use crate::domain::webhook::{DeliveryAttempt, DeliveryCursor, StalledResource, Webhook};
use crate::error::{Error, Result};
use crate::store::candidate::share::ShareNote;
use crate::store::history::EventSequence;
use crate::store::idempotency::KeyedAttempt;
use crate::store::login::failures::FailedLogins;
use crate::store::login::reset::ResetMail;
use crate::store::login::session::Session;
use crate::store::staff::exchange::ExchangedToken;
use crate::store::table::item::{self, BOOKKEEPING_ATTRIBUTES, Item, StoredEntity};
use crate::store::table::write::rewrite;

/// Reads an item as the type that its key implies, and checks that writing it again would lose nothing. Returns the
/// name of the type; `None` for items without a value of their own, such as counts, and for items that only another
/// release knows.
pub fn check(item: Item) -> Result<Option<&'static str>> {
    let key = item::key_of(&item)?;
    let is_of_company = key.pk.starts_with("COMPANY#");
    let kind = key.sk.split('#').next().unwrap_or_default();
    let name = match (kind, key.pk.split('#').next().unwrap_or_default()) {
        ("WAVE", "NOTICES") => entity::<InterviewWave>("wave of ended interviews", item),
        ("EVALUATIONS", "NOTICES") => entity::<EvaluationRound>("round of reminders", item),
        ("HELP", "NOTICES") => entity::<HelpNotice>("notice of requests for help", item),
        (_, "NOTICES") => entity::<InterviewNotice>("notice of ended interviews", item),
        ("EXPORT", "EXPORTS") => entity::<CompanyExport>("export", item),
        (_, "EXPORTS") => entity::<LatestExport>("latest export", item),
        (_, "EXTERNAL") => value::<ResourceRef>("marker of a client's key", item),
        ("COMPANY", _) => entity::<Company>("company", item),
        ("CUSTOMER", _) => entity::<Customer>("customer", item),
        // A membership has no value: its key says everything.
        ("PROJECT", _) if key.pk.contains("#CUSTOMER#") => return Ok(None),
        ("PROJECT", _) => entity::<Project>("project", item),
        ("CANDIDATE", _) if is_of_company => entity::<Candidate>("candidate", item),
        ("INTERVIEW", _) => entity::<Questionnaire>("interview", item),
        ("RESULT", _) => value::<ResultSummary>("result", item),
        _ if key.pk.ends_with("#EVALUATIONS") => entity::<Evaluation>("evaluation", item),
        (_, "GUESTS") => entity::<GuestLink>("guest link", item),
        (_, "ANSWERS") => entity::<Answers>("answers", item),
        (_, "TEXTS") => entity::<WrittenAnswer>("written answer", item),
        (_, "TAKE_CAPTIONS") => entity::<AnswerCaptions>("captions of an answer", item),
        (_, "VIDEOS") => entity::<Video>("video", item),
        (_, "CAPTIONS") => entity::<Captions>("captions of a video", item),
        (_, "LOGO") => entity::<Logo>("logo", item),
        ("LABEL", _) => entity::<Label>("label", item),
        ("IMPORT", _) => entity::<CompanyImport>("import of a company", item),
        ("RECEIPT_KEY", _) => entity::<ImportedReceiptKey>("imported key of receipts", item),
        ("ERASURE", _) => entity::<CompanyErasure>("erasure of a company", item),
        ("RETENTION", _) if key.sk.ends_with("RUN") => entity::<RetentionRun>("retention run", item),
        ("RETENTION", _) => entity::<RetentionPolicy>("retention policy", item),
        ("SIGN_IN", _) => entity::<SignInSettings>("settings of the sign-in of staff", item),
        (_, "LEGAL") => entity::<LegalText>("legal text", item),
        ("TOKEN", _) | (_, "TRUSTS") => entity::<NamedToken>("named token", item),
        ("EXCHANGED", _) => value::<ExchangedToken>("token of an exchange", item),
        ("EFFECT", _) => entity::<Effect>("effect", item),
        (_, "HISTORY") => entity::<HistoryEntry>("entry of a history", item),
        ("SEQUENCE", _) => entity::<EventSequence>("sequence of events", item),
        ("USAGE", _) => entity::<ClosedUsage>("usage of closed months", item),
        ("WEBHOOK", _) => entity::<Webhook>("webhook", item),
        ("CURSOR", _) => entity::<DeliveryCursor>("cursor of a webhook", item),
        ("STALLED", _) => entity::<StalledResource>("stalled resource of a webhook", item),
        ("ATTEMPT", _) => entity::<DeliveryAttempt>("attempt of a webhook", item),
        ("UPLOAD", _) => entity::<Upload>("upload", item),
        ("FAILURES", _) => entity::<FailedLogins>("failed logins", item),
        ("MAIL", _) => entity::<ResetMail>("mail about forgotten passwords", item),
        ("SESSION", _) => value::<Session>("session", item),
        ("SHARE", _) => value::<ShareNote>("share", item),
        ("USERNAME" | "EMAIL" | "CANDIDATE", "LOGIN") => value::<Account>("login", item),
        ("IDEMPOTENCY", _) => entity::<KeyedAttempt>("keyed request", item),
        _ => return Ok(None),
    };
    name.map(Some)
}

fn value<T: DeserializeOwned>(name: &'static str, item: Item) -> Result<&'static str> {
    item::value_in::<T>(&item).map(|_| name)
}

fn entity<T: StoredEntity>(name: &'static str, item: Item) -> Result<&'static str> {
    let read = item::read::<T>(item.clone())?;
    // When a release writes an item, it must keep attributes that it does not know.
    let again = rewrite::next(&read, &read, None)?.item;
    let values = item.keys().filter(|name| !BOOKKEEPING_ATTRIBUTES.contains(&name.as_str()));
    let lost: Vec<&String> = values.filter(|name| again.get(*name) != item.get(*name)).collect();
    if lost.is_empty() {
        return Ok(name);
    }
    Err(Error::Unreadable(format!("a {name} would be written again without {lost:?}").into()))
}
