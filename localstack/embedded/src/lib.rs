//! The whole service on localhost in one process.
//!
//! `localstack/run` starts [`Local`], the whole service. Tests use its parts: one [`Backend`] per test process
//! (DynamoDB, S3 and SES as servers on the loopback interface), with a table per test; a [`Gateway`] in front of the
//! functions, where routing matters; [`Events`] behind them, where events matter. The table, routes and triggers come
//! from the workspace's [`Template`].

mod backend;
mod clock;
mod cors;
mod demo;
mod error;
mod events;
mod function;
mod functions;
mod gateway;
mod issuer;
mod local;
mod mailbox;
mod pages;
mod provider;
mod random;
mod receivers;
mod state;
mod template;
mod watch;

pub use backend::{ACCESS_KEY_ID, BUCKET, Backend, REGION, SECRET_ACCESS_KEY, Storage, StreamReader};
pub use clock::OffsetClock;
pub use demo::Demo;
pub use error::Error;
pub use events::{Answers, Events};
pub use function::{Function, in_process, in_process_event};
pub use functions::{functions, groups};
pub use gateway::{Gateway, RouteKey, SourceIp};
pub use local::{Local, Options};
pub use mailbox::{Mail, Mailbox};
pub use provider::LocalProvider;
pub use template::{
    Pattern, RouteTarget, RuleTrigger, ScheduleTrigger, StreamTrigger, TableDefinition, Template, Triggers,
};
