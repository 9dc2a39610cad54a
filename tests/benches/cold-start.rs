//! The time of the `auth` function from process start to its first response, compared with the smallest function built
//! the same way. Release binaries, DynamoDB over TLS; counts instructions if Valgrind is installed.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use embedded::{Backend, Storage};
use serde_json::{Value, json};
use tests::callgrind;
use tests::function::{Function, http_event};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto::ring};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const STARTS: usize = 31;
const TABLE: &str = "cold-start-table";
/// The root certificates of deployed functions. Another authority signs here, but parsing takes as long.
const AMAZON_ROOTS: &str = include_str!("../../shared/src/aws/roots.pem");
/// A well-formed but unknown token: the response needs one round trip to DynamoDB and no data.
const TOKEN: &str = "ivt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGFjbWU";

struct Subject {
    name: &'static str,
    binary: PathBuf,
    variables: BTreeMap<&'static str, String>,
    status: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let binaries = tests::binaries::build(["--release", "--package", "auth", "--package", "hello"]);
    let backend = Backend::start(&Storage::Memory)?;
    backend.create_table(TABLE)?;
    let subjects = subjects(&binaries, &backend).await?;

    let mut starts = [Vec::new(), Vec::new()];
    // In turn, so that other load on the computer affects all subjects alike.
    for _ in 0..STARTS {
        for (subject, starts) in subjects.iter().zip(&mut starts) {
            starts.push(start(subject).await?);
        }
    }
    let hello = medians(&starts[0]);
    for (subject, starts) in subjects.iter().zip(&starts) {
        let median = medians(starts);
        for (figure, value, least) in [("first_poll", median.0, hello.0), ("first_answer", median.1, hello.1)]
        {
            print(json!({
                "figure": format!("{figure}_ms"), "function": subject.name, "median": round(value), "starts": STARTS,
                "ratio_to_hello": round(value / least),
            }));
        }
    }
    for subject in &subjects {
        let bytes = std::fs::metadata(&subject.binary)?.len();
        print(json!({ "figure": "binary_bytes", "function": subject.name, "value": bytes }));
    }
    if callgrind::is_installed().await {
        for subject in &subjects {
            let (init, first) = instructions(subject).await?;
            print(json!({
                "figure": "instructions_millions", "function": subject.name,
                "first_poll": round(init), "first_answer": round(first),
            }));
        }
    }
    Ok(())
}

async fn subjects(binaries: &BTreeMap<String, PathBuf>, backend: &Backend) -> Result<[Subject; 2]> {
    let mut variables = backend.environment("https://hr.example/api/v3", TABLE);
    let dynamodb = variables.get("AWS_ENDPOINT_URL_DYNAMODB").and_then(|url| url.strip_prefix("http://"));
    let dynamodb = dynamodb.ok_or("the back end has no DynamoDB")?.trim_end_matches('/').to_owned();
    let (tls, root) = tls_in_front_of(dynamodb).await?;
    variables.insert("AWS_ENDPOINT_URL_DYNAMODB", format!("https://{tls}"));

    let roots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("roots.pem");
    std::fs::write(&roots, format!("{AMAZON_ROOTS}\n{root}"))?;
    variables.insert("SSL_CERT_FILE", roots.display().to_string());

    let path = |name: &str| binaries.get(name).cloned().ok_or(format!("{name} was not built"));
    Ok([
        Subject { name: "hello", binary: path("hello")?, variables: BTreeMap::new(), status: 200 },
        Subject { name: "auth", binary: path("auth")?, variables, status: 401 },
    ])
}

/// A TLS server that forwards to `target`, and its certificate.
async fn tls_in_front_of(target: String) -> Result<(SocketAddr, String)> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed([Ipv4Addr::LOCALHOST.to_string()])?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], signing_key.into())?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (acceptor, target) = (acceptor.clone(), target.clone());
            tokio::spawn(async move {
                client.set_nodelay(true)?;
                let mut client = acceptor.accept(client).await?;
                let mut server = TcpStream::connect(target).await?;
                server.set_nodelay(true)?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    Ok((address, cert.pem()))
}

/// Starts a subject and sends one request: the times to its first poll and to its response.
async fn start(subject: &Subject) -> Result<(Duration, Duration)> {
    let mut function = Function::start(Command::new(&subject.binary), &subject.variables).await?;
    function.ready().await?;
    let poll = function.age();
    ask(subject, &mut function).await?;
    Ok((poll, function.age()))
}

async fn ask(subject: &Subject, function: &mut Function) -> Result<()> {
    let answer = function.invoke(&whoami()).await?;
    if answer["statusCode"] == subject.status {
        Ok(())
    } else {
        Err(format!("unexpected answer: {answer}").into())
    }
}

/// Millions of instructions until the first poll, and from there to the first response.
async fn instructions(subject: &Subject) -> Result<(f64, f64)> {
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join("callgrind.out");
    let count = async |asks: bool| {
        let ask = async |function: &mut Function| if asks { ask(subject, function).await } else { Ok(()) };
        callgrind::instructions(&subject.binary, &subject.variables, &profile, ask).await
    };
    let init = count(false).await?;
    Ok((init, count(true).await? - init))
}

fn whoami() -> Value {
    let headers = json!({ "authorization": format!("Token {TOKEN}"), "host": "hr.example" });
    http_event("GET", "/api/v3/whoami/", headers)
}

/// The medians of both times, in milliseconds.
fn medians(starts: &[(Duration, Duration)]) -> (f64, f64) {
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    (
        median(starts.iter().map(|start| start.0).collect()),
        median(starts.iter().map(|start| start.1).collect()),
    )
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: Value) {
    println!("{figure}");
}
