use super::*;
use crate::account::Account;
use crate::effect::deletion::DeletionAuthor;
use crate::history::erasure::ErasureReason;
use crate::id::{Id, TakeRef};
use crate::language::Language;
use crate::mail::suppression::SuppressionReason;
use crate::media::conversion::queue::Recording;
use crate::samples;
use crate::secret::SecretHash;
use crate::staff::customer::{AccountType, CustomerStatus, NewCustomer};
use crate::staff::help_notice::{AskedHelp, HelpRecipient};
use crate::text::{Email, ShortName, Username};
use crate::transition::CandidateMail;
use crate::webhook::tests::webhook;

fn effects() -> [Effect; 32] {
    let (company, now): (CompanyId, _) = ("acme".parse().unwrap(), DateTime::UNIX_EPOCH);
    let project = Id::from_bytes([1; 16]);
    let candidate = Id::from_bytes([2; 16]);
    let customer = Id::from_bytes([3; 16]);
    let mail = |mail| EffectTask::CandidateMail { project, candidate, mail };
    let webhook = Id::from_bytes([4; 16]);
    let webhook_mail = |mail| EffectTask::WebhookMail { customer, webhook, mail };
    let export_mail = |mail| EffectTask::ExportMail { customer, export: Id::from_bytes([6; 16]), mail };
    let was = Box::new(FormerCustomer {
        email: Email::parse("ada@mail.example").unwrap(),
        first_name: ShortName::parse("Ada").unwrap(),
        last_name: ShortName::parse("Byron").unwrap(),
        language: Language::En,
    });
    let asked = AskedHelp { project, candidate, asked_at: now };
    let take = TakeRef { question: Id::from_bytes([5; 16]), number: 1 };
    let by = DeletionAuthor { name: "Sam Staff".to_owned(), email: None };
    [
        mail(CandidateMail::Invitation),
        mail(CandidateMail::Reminder),
        mail(CandidateMail::DeadlineChanged),
        mail(CandidateMail::Completed),
        mail(CandidateMail::EndedByTime),
        mail(CandidateMail::Reopened),
        mail(CandidateMail::Cancelled),
        mail(CandidateMail::LatestLink),
        mail(CandidateMail::HelpAnswered),
        EffectTask::CandidateLink { project, candidate, key: SecretHash::of("key") },
        EffectTask::CustomerInvitation { customer },
        EffectTask::AddressConfirmation { account: Account::Candidate { project, candidate } },
        EffectTask::AddressChanged {
            account: Account::Customer { customer },
            changed_at: now,
            by: ChangeAuthor::Customer { customer },
        },
        EffectTask::AddressRestored { owner: customer, account: Account::Customer { customer } },
        EffectTask::SignInChanged { customer, by: ChangeAuthor::Customer { customer }, is_own: false },
        EffectTask::InterviewNotice { customer, interviews: EndedInterviews::default() },
        EffectTask::EvaluationReminder { customer, interviews: EndedInterviews::default() },
        EffectTask::HelpRequested { asked },
        EffectTask::HelpNotice { recipient: HelpRecipient::Customer(customer), asked: vec![asked], more: 0 },
        EffectTask::CustomerDeleted { was, by: by.clone() },
        EffectTask::ObjectsDeleted { keys: Vec::new() },
        EffectTask::Conversion { recording: Recording::Take { project, candidate, take }, since: now },
        EffectTask::TakesDeleted { project, candidate, takes: vec![take] },
        EffectTask::Erased {
            erased: ErasedItem::Customer { customer },
            reason: ErasureReason::Deleted,
            counts: ErasureCounts::default(),
            found: ErasureCounts::default(),
            deleted_before: None,
            settles_at: None,
        },
        EffectTask::Deletion { deletion: ItemDeletion::Customer { customer, by } },
        EffectTask::MadeByTokenDeleted {
            token: Id::from_bytes([7; 16]),
            made: MadeByToken::ALL.into(),
            by: customer,
        },
        EffectTask::PasswordReset { name: "ada".to_owned() },
        webhook_mail(WebhookMail::Failing),
        webhook_mail(WebhookMail::Disabled),
        export_mail(ExportMail::Requested),
        export_mail(ExportMail::Finished),
        export_mail(ExportMail::Failed),
    ]
    .map(|task| Effect::new(company.clone(), "cause", task, now))
}

#[test]
fn every_kind_has_a_name_and_no_deletion_is_forgotten() {
    let now = DateTime::UNIX_EPOCH;
    assert_eq!(effects().map(|effect| effect.task.as_str()), EffectTask::KINDS);
    for effect in effects() {
        assert_eq!(effect.forgotten_at(), None);
        let given_up = effect.give_up(now);
        let kind = given_up.task.as_str();
        let is_personal = ["password-reset", "customer-deleted"].contains(&kind);
        let days = TimeDelta::days(if is_personal { 1 } else { 90 });
        let expected = (!given_up.task.is_deletion()).then(|| now + days);
        assert_eq!(given_up.forgotten_at(), expected, "{kind}");
        assert_eq!(given_up.retry(now).forgotten_at(), None);
    }
}

#[test]
fn owners_who_can_log_in_and_take_mails_are_told_of_a_webhook() {
    let owner = |id, status| {
        let new = NewCustomer {
            account_type: AccountType::Owner,
            username: Username::parse("ada").unwrap(),
            email: Email::parse("ada@acme.example").unwrap(),
            first_name: ShortName::parse("Ada").unwrap(),
            last_name: ShortName::parse("Byron").unwrap(),
            preferred_language: Language::En,
        };
        let company = samples::company().id;
        let owner = Customer::invited(Id::from_bytes([id; 16]), company, new, None, DateTime::UNIX_EPOCH);
        Customer { status, ..owner }
    };
    let [owner_1, other] = [1, 2].map(|id| owner(id, CustomerStatus::Confirmed));
    let invited = owner(3, CustomerStatus::Invited);
    let inactive = Customer { is_active: false, ..owner(4, CustomerStatus::Confirmed) };
    let bounced = owner(5, CustomerStatus::Confirmed);
    let bounced = bounced.clone().after_delivery_report(bounced.email.as_str(), SuppressionReason::Bounced);
    let admin = Customer { account_type: AccountType::Admin, ..owner(6, CustomerStatus::Confirmed) };
    let webhook = webhook();
    let told = |customers: &[Customer]| {
        Effect::of_webhook(&webhook, WebhookMail::Failing, customers, 7, DateTime::UNIX_EPOCH)
    };
    let effects = told(&[owner_1.clone(), invited, inactive, bounced.unwrap(), admin, other.clone()]);
    let ids: Vec<_> = effects.iter().map(|effect| effect.id.as_str()).collect();
    let id = |owner: &Customer| format!("{}.{}-{}-7-webhook-failing", webhook.company, webhook.id, owner.id);
    assert_eq!(ids, [id(&owner_1), id(&other)]);
    let many: Vec<_> = (0..200).map(|id| owner(id, CustomerStatus::Confirmed)).collect();
    assert_eq!(told(&many).len(), MAILED_OWNERS);
}

#[test]
fn postponing_slows_down_with_time_and_ends_after_three_days() {
    let [effect, ..] = effects();
    let after = |minutes: i64| {
        let now = DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        effect.clone().postpone(now).work.due_at.map(|next| (next - now).num_seconds())
    };
    let day = 24 * 60;
    let delays = [0, 30, 60, day, 2 * day, 3 * day, 3 * day + 1].map(after);
    assert_eq!(delays, [Some(60), Some(60), Some(120), Some(48 * 60), Some(3600), Some(3600), None]);
}
