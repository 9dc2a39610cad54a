//! Runs the whole service on localhost until Ctrl-C or SIGTERM.

mod options;

use std::io::{self, Write};
use std::process::ExitCode;

use admin::import::ImportResult;
use embedded::Local;
use tokio::signal::unix::{SignalKind, signal};

use options::{Command, Import, Run};

fn main() -> ExitCode {
    match Command::from_arguments(std::env::args_os()) {
        Ok(Command::Help) => finish(io::stdout().write_all(options::HELP.as_bytes()).map_err(Into::into)),
        Ok(Command::Run(run)) => finish(start(&run)),
        Err(error) => {
            complain(&*error);
            ExitCode::from(2)
        }
    }
}

fn finish(result: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&*error);
            ExitCode::FAILURE
        }
    }
}

fn complain(error: &dyn std::error::Error) {
    // If standard error is closed, there is no other place to report the error.
    let _ = writeln!(io::stderr(), "embedded: {error}");
}

fn start(run: &Run) -> Result<(), Box<dyn std::error::Error>> {
    shared::telemetry::install_to(io::stderr);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // Register signals before writing anything, so that a signal always ends the run in order.
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let local = Local::start(&run.options).await?;
        let imported = match &run.import {
            Some(Import { folder, name }) => Some(local.import(folder, name.as_deref()).await?),
            None => None,
        };
        if run.ready_json {
            announce_in_json(&local, &mut io::stdout().lock())?;
            announce(&local, &mut io::stderr().lock())?;
            announce_import(&local, imported.as_ref(), &mut io::stderr().lock())?;
        } else {
            announce(&local, &mut io::stdout().lock())?;
            announce_import(&local, imported.as_ref(), &mut io::stdout().lock())?;
        }
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        local.stop().await;
        Ok(())
    })
}

fn announce_in_json(local: &Local, out: &mut impl Write) -> io::Result<()> {
    let demo = local.demo();
    let ready = serde_json::json!({
        "base_url": local.base_url(),
        "company": demo.company,
        "username": demo.username,
        "password": demo.password,
        "mails_url": local.mails_url(),
    });
    writeln!(out, "{ready}")?;
    out.flush()
}

fn announce(local: &Local, out: &mut impl Write) -> io::Result<()> {
    let (url, demo) = (local.base_url(), local.demo());
    let login =
        serde_json::json!({ "company": demo.company, "username": demo.username, "password": demo.password });
    let projects = format!("{url}/companies/{}/projects/", demo.company);
    writeln!(
        out,
        r#"
API     {url}
Docs    {url}/docs/
Login   company {company}, user {username}, password {password}
Inbox   {inbox}

Try it: log in, create a project, list the projects.

TOKEN=$(curl -s {url}/api-token-auth/ -H 'Content-Type: application/json' -d '{login}' | sed 's/.*"token": *"\([^"]*\)".*/\1/')
curl -sw '\n' {projects} -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{{"name": "Backend engineer"}}'
curl -sw '\n' {projects} -H "Authorization: Token $TOKEN"

Move the clock ahead by a day: curl -s {clock} -H 'Content-Type: application/json' -d '{{"advance_seconds": 86400}}'

Ctrl-C stops it."#,
        company = demo.company,
        username = demo.username,
        password = demo.password,
        inbox = local.inbox_url(),
        clock = local.clock_url(),
    )?;
    out.flush()
}

/// Prints how the owners of an imported company log in, because an archive contains no passwords.
fn announce_import(local: &Local, imported: Option<&ImportResult>, out: &mut impl Write) -> io::Result<()> {
    let Some(imported) = imported else { return Ok(()) };
    let ImportResult {
        company,
        key,
        records,
        media,
        media_missing,
        base_url,
        created_at,
        owners,
        grants,
        ..
    } = imported;
    let url = local.base_url();
    writeln!(
        out,
        "\nImported and started the company {company}: {records} records and {media} files of {created_at} from {base_url}, signed by
the key {key}. Deadlines and reminders take their course."
    )?;
    if *media_missing > 0 {
        writeln!(out, "{media_missing} files that it names are missing.")?;
    }
    for grant in grants {
        writeln!(out, "Kept, although only an operator can grant it: {grant}")?;
    }
    writeln!(out, "Its owners request a password, by a link in the inbox:")?;
    for owner in owners {
        let forgotten = serde_json::json!({ "company": company, "username": owner });
        writeln!(
            out,
            "curl -s {url}/api-password-reset/ -H 'Content-Type: application/json' -d '{forgotten}'"
        )?;
    }
    out.flush()
}
