//! The functions, run in the test's process.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use embedded::{Function, in_process_event};
use futures_util::future::BoxFuture;
use shared::app::App;
use shared::outgoing::{NameResolver, Outgoing};

/// The functions, each with the application that `app_of` returns for its logical id. The webhook sender resolves no
/// names: tests use no name server, so webhooks need IP addresses.
pub(crate) fn functions(app_of: impl Fn(&str) -> App) -> HashMap<String, Function> {
    let mut functions = embedded::functions(&app_of);
    let id = "WebhookSenderFunction";
    let send = async |app: App, event| {
        webhook_sender::handle_through(&app, &Outgoing::of(&app, NoNames), event).await
    };
    functions.insert(id.to_owned(), in_process_event(&app_of(id), send));
    functions
}

/// Resolves no name.
struct NoNames;

impl NameResolver for NoNames {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
