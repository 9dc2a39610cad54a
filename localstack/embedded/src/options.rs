//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use embedded::{Options, Storage};
use lexopt::{Arg, Parser, ValueExt};

/// The output of `--help`.
pub(crate) const HELP: &str = "\
Runs the whole service on localhost until Ctrl-C.

  --port N       the port (default 8080; 0 takes a free one)
  --listen ADDRESS
                 the address to listen on (default 127.0.0.1); 0.0.0.0 in a container that publishes the port. The host in
                 a request's URL must be localhost in any case
  --data DIR     keep the data in DIR (default .local/ in the workspace)
  --aws URL      use DynamoDB, S3, SES and the event buses at URL, such as http://localhost:4566 of LocalStack, with the
                 data stack deployed to it; everything is kept there
  --fresh        keep nothing: start empty, in memory
  --cors-origin ORIGIN
                 let pages of this origin, such as http://localhost:3000, use the API; may be given several times
  --import DIR   first import the company of the archive in DIR, whichever key has signed it, and print how its owners log in
  --as NAME      import that company under another identifier
  --ready-json   print one line of JSON on standard output once it answers, everything else on standard error:
                 {\"base_url\", \"company\", \"username\", \"password\", \"mails_url\"}
  --help         print this
";

const DEFAULT_PORT: u16 = 8080;
const DEFAULT_DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.local");

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Run(Run),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) options: Options,
    pub(crate) ready_json: bool,
    pub(crate) import: Option<Import>,
}

/// An archive to import.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) folder: PathBuf,
    /// The company's identifier in this service; `None` to keep the archive's.
    pub(crate) name: Option<String>,
}

impl Command {
    /// Parses the arguments; the first one is the program's name.
    pub(crate) fn from_arguments(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut parser = Parser::from_iter(arguments);
        let (mut port, mut data, mut aws, mut fresh, mut ready_json) =
            (DEFAULT_PORT, None, None, false, false);
        let mut address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let mut allowed_origins = Vec::new();
        let (mut archive, mut name) = (None, None);
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("port") => port = parser.value()?.parse()?,
                Arg::Long("listen") => address = parser.value()?.parse()?,
                Arg::Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Arg::Long("aws") => aws = Some(parser.value()?.string()?),
                Arg::Long("fresh") => fresh = true,
                Arg::Long("cors-origin") => allowed_origins.push(parser.value()?.string()?),
                Arg::Long("import") => archive = Some(PathBuf::from(parser.value()?)),
                Arg::Long("as") => name = Some(parser.value()?.string()?),
                Arg::Long("ready-json") => ready_json = true,
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(other.unexpected().into()),
            }
        }
        let storage = match (aws, fresh, data) {
            (Some(url), false, None) => Storage::External(url),
            (Some(_), ..) => {
                return Err("--aws keeps all data there, so it takes no --data and no --fresh".into());
            }
            (None, true, None) => Storage::Memory,
            (None, true, Some(_)) => return Err("--fresh keeps nothing, so it takes no --data".into()),
            (None, false, data) => Storage::Folder(data.unwrap_or_else(|| DEFAULT_DATA.into())),
        };
        let import = match (archive, name) {
            (Some(folder), name) => Some(Import { folder, name }),
            (None, Some(_)) => return Err("--as needs --import".into()),
            (None, None) => None,
        };
        let options = Options { address, port, storage, allowed_origins };
        Ok(Self::Run(Run { options, ready_json, import }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        let arguments = ["embedded"].into_iter().chain(line.split_whitespace()).map(OsString::from);
        Command::from_arguments(arguments).map_err(|error| error.to_string())
    }

    fn run(port: u16, storage: Storage, ready_json: bool) -> Result<Command, String> {
        let (address, allowed_origins) = (Ipv4Addr::LOCALHOST.into(), vec![]);
        let options = Options { address, port, storage, allowed_origins };
        Ok(Command::Run(Run { options, ready_json, import: None }))
    }

    #[test]
    fn options_have_defaults() {
        assert_eq!(read(""), run(8080, Storage::Folder(DEFAULT_DATA.into()), false));
        assert_eq!(read("--port 0 --data x"), run(0, Storage::Folder("x".into()), false));
        assert_eq!(read("--fresh --ready-json --port=9000"), run(9000, Storage::Memory, true));
        let both = "--cors-origin http://localhost:3000 --cors-origin=https://app.example";
        let Ok(Command::Run(Run { options, .. })) = read(both) else { panic!("{both}") };
        assert_eq!(options.allowed_origins, ["http://localhost:3000", "https://app.example"]);
        let url = "http://localhost:4566";
        assert_eq!(read(&format!("--aws {url}")), run(8080, Storage::External(url.to_owned()), false));
        let Ok(Command::Run(Run { options, .. })) = read("--listen 0.0.0.0") else { panic!("no run") };
        assert_eq!(options.address, Ipv4Addr::UNSPECIFIED);
        assert_eq!(read("--help"), Ok(Command::Help));
        let Ok(Command::Run(Run { import, .. })) = read("--import x --as y") else { panic!("no run") };
        assert_eq!(import, Some(Import { folder: "x".into(), name: Some("y".to_owned()) }));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, problem) in [
            ("--port", "missing argument for option '--port'"),
            ("--port x", "cannot parse argument \"x\": invalid digit found in string"),
            ("--listen x", "cannot parse argument \"x\": invalid IP address syntax"),
            ("--prot 1", "invalid option '--prot'"),
            ("here", "unexpected argument \"here\""),
            ("--aws x --fresh", "--aws keeps all data there, so it takes no --data and no --fresh"),
            ("--as x", "--as needs --import"),
            ("--fresh --data x", "--fresh keeps nothing, so it takes no --data"),
        ] {
            assert_eq!(read(line), Err(problem.to_owned()));
        }
    }

    #[test]
    fn the_service_container_runs_with_options_that_exist() {
        let compose = include_str!("../../compose.yaml");
        let lines = compose.lines().filter_map(|line| line.trim().strip_prefix("command: "));
        let commands: Vec<Vec<String>> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        let [data_stack, service] = &commands[..] else { panic!("{commands:?}") };
        let Ok(Command::Run(Run { options, .. })) = read(&service.join(" ")) else { panic!("{service:?}") };
        let (storage, allowed_origins) =
            (Storage::External(data_stack.concat()), vec!["${CORS_ORIGIN-}".to_owned()]);
        let address = Ipv4Addr::UNSPECIFIED.into();
        assert_eq!(options, Options { address, port: 8080, storage, allowed_origins });
    }
}
