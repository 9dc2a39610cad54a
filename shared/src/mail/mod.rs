//! Mails: their texts in six languages, and their delivery through SES.

mod from;
mod link;
mod moment;
mod occasion;
mod personal_mail;
mod render;
mod send;

pub use link::{
    InterviewLink, activation_link, confirmation_link, reset_link, restoration_link, review_link,
};
pub use moment::in_words as moment_in_words;
pub use occasion::{
    AccountLink, AskedHelpEntry, EndedInterviewLine, EndedInterviewList, MailOccasion, WaitingDays,
};
pub use personal_mail::PersonalMail;
pub use render::RenderedMail;
pub use send::{MailDelivery, MailEnvelope, Mailer};
