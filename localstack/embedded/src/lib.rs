//! The whole service on localhost in one process.
//!
//! [`Local`] is all of it, as `localstack/run` starts it. Tests use the pieces: one [`Backend`] (DynamoDB, S3 and SES as
//! servers on the loopback interface) for a whole test process, a table of its own for each test, and where routing
//! matters a [`Gateway`] in front of the functions, where events matter [`Events`] behind them. The table, the routes and
//! the triggers come from the workspace's [`Template`].
//! The functions use the AWS SDK's own clients and do not know that they run here.

mod backend;
mod clock;
mod cors;
mod demo;
mod error;
mod events;
mod function;
mod gateway;
mod local;
mod mailbox;
mod pages;
mod random;
mod state;
mod template;
mod watch;

pub use backend::{ACCESS_KEY_ID, BUCKET, Backend, REGION, SECRET_ACCESS_KEY, Storage, StreamReader};
pub use clock::OffsetClock;
pub use demo::Demo;
pub use error::Error;
pub use events::{Answers, Events};
pub use function::{Function, in_process, in_process_event};
pub use gateway::{Gateway, RouteKey, SourceIp};
pub use local::{Local, Options, functions, groups};
pub use mailbox::{Mail, Mailbox};
pub use template::{
    Pattern, RouteTarget, RuleTrigger, ScheduleTrigger, StreamTrigger, TableDefinition, Template, Triggers,
};
