//! Tests against real servers on the loopback interface, most of them hostile.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::domain::outgoing::is_public;
use futures_util::future::BoxFuture;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::*;

/// Stands for a public address, because tests must not leave this computer.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// A resolver that returns the given lists one after the other, then repeats the last one.
struct Names {
    answers: Vec<Vec<IpAddr>>,
    count: Arc<AtomicUsize>,
}

impl NameResolver for Names {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let number = self.count.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        let addresses = self.answers[number].iter().map(|address| (*address, port).into()).collect();
        Box::pin(async move { Ok(addresses) })
    }
}

fn outgoing(answers: &[&[Ipv4Addr]], is_allowed: fn(IpAddr) -> bool) -> (Outgoing, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let list = |answer: &&[Ipv4Addr]| answer.iter().map(|address| IpAddr::V4(*address)).collect();
    let names = Names { answers: answers.iter().map(list).collect(), count: count.clone() };
    (Outgoing::new(names, is_allowed), count)
}

/// A sender to `PUBLIC` with a short timeout.
fn impatient() -> Outgoing {
    Outgoing { deadline: Duration::from_millis(100), ..outgoing(&[&[PUBLIC]], |_| true).0 }
}

fn message(url: &str) -> OutgoingMessage {
    OutgoingMessage {
        url: Url::parse(url).unwrap(),
        id: "evt_1_1_0".to_owned(),
        timestamp: 1_614_265_330,
        signature: "v1,abc v1,def".to_owned(),
        body: r#"{"id":"evt_1_1_0"}"#.to_owned(),
    }
}

/// Starts a server on `PUBLIC` that accepts one connection. Returns its URL.
async fn server<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> (String, JoinHandle<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    let listener = TcpListener::bind((PUBLIC, 0)).await.unwrap();
    let url = format!("http://hooks.example:{}/in?x=1", listener.local_addr().unwrap().port());
    let task = tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    (url, task)
}

/// Reads and returns the request.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
    }
    String::from_utf8(request).unwrap()
}

/// A server that sends `answer` and closes the connection.
async fn server_of(answer: impl Into<String>) -> (String, JoinHandle<String>) {
    let answer = answer.into();
    server(async move |mut stream: TcpStream| {
        let request = read_request(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        request
    })
    .await
}

/// A server that sends `start`, then repeats `more` until the connection is closed.
async fn endless(start: &'static str, more: &'static [u8], pause: Duration) -> (String, JoinHandle<()>) {
    server(async move |mut stream: TcpStream| {
        read_request(&mut stream).await;
        let _ = stream.write_all(start.as_bytes()).await;
        while stream.write_all(more).await.is_ok() {
            #[expect(clippy::disallowed_methods, reason = "an endpoint that sends slowly")]
            tokio::time::sleep(pause).await;
        }
    })
    .await
}

#[tokio::test]
async fn the_request_is_that_of_standard_webhooks() {
    let (url, server) = server_of("HTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 2\r\n\r\nno").await;
    let answer = outgoing(&[&[PUBLIC]], |_| true).0.post(&message(&url)).await;
    let expected =
        EndpointResponse { status: 503, retry_after: Some("9".to_owned()), start: "no".to_owned() };
    assert_eq!(answer, Ok(expected));
    let host = &url[7..url.len() - 7];
    let head = format!(
        "POST /in?x=1 HTTP/1.1\r\nhost: {host}\r\nuser-agent: interview-service/3\r\n\
         content-type: application/json\r\nwebhook-id: evt_1_1_0\r\nwebhook-timestamp: 1614265330\r\n\
         webhook-signature: v1,abc v1,def\r\ncontent-length: 18\r\n\r\n{{\"id\":\"evt_1_1_0\"}}"
    );
    assert_eq!(server.await.unwrap(), head);
}

/// Fails if something has connected.
async fn assert_untouched(listener: &TcpListener) {
    let pending = futures_util::poll!(std::pin::pin!(listener.accept()));
    assert!(pending.is_pending(), "something has connected to {:?}", listener.local_addr());
}

#[tokio::test]
async fn no_connection_is_made_to_an_address_that_is_not_public_in_any_notation() {
    let trap = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = trap.local_addr().unwrap().port();
    for host in [
        "hooks.example",
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.01",
        "127.1",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fd00:ec2::254]",
        "[fe80::1]",
    ] {
        let (outgoing, _) = outgoing(&[&[LOOPBACK]], is_public);
        let answer = outgoing.post(&message(&format!("http://{host}:{port}/"))).await;
        assert_eq!(answer, Err(OutgoingError::ForbiddenAddress), "{host}");
    }
    assert_untouched(&trap).await;
}

#[tokio::test]
async fn a_name_that_leads_to_a_public_and_to_another_address_is_refused() {
    let open = TcpListener::bind((PUBLIC, 0)).await.unwrap();
    let url = format!("http://hooks.example:{}/", open.local_addr().unwrap().port());
    for mixed in [[PUBLIC, LOOPBACK], [LOOPBACK, PUBLIC]] {
        let (outgoing, _) = outgoing(&[&mixed], |address| address == PUBLIC);
        assert_eq!(outgoing.post(&message(&url)).await, Err(OutgoingError::ForbiddenAddress));
    }
    assert_untouched(&open).await;
}

#[tokio::test]
async fn nothing_is_sent_unencrypted_to_another_computer() {
    let (outgoing, _) = outgoing(&[&[Ipv4Addr::new(198, 51, 100, 7)]], |_| true);
    let answer = outgoing.post(&message("http://hooks.example/in")).await;
    assert_eq!(answer, Err(OutgoingError::ForbiddenAddress));
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_is_resolved_only_once() {
    let (url, server) = server_of("HTTP/1.1 204 \r\n\r\n").await;
    let port = Url::parse(&url).unwrap().port().unwrap();
    let trap = TcpListener::bind((LOOPBACK, port)).await.unwrap();
    let (outgoing, count) = outgoing(&[&[PUBLIC], &[LOOPBACK]], |address| address == PUBLIC);
    assert_eq!(outgoing.post(&message(&url)).await.unwrap().status, 204);
    server.await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // The next request resolves and checks the name again.
    assert_eq!(outgoing.post(&message(&url)).await, Err(OutgoingError::ForbiddenAddress));
    assert_untouched(&trap).await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let trap = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://{}/", trap.local_addr().unwrap());
        let head = format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let (url, _) = server_of(head).await;
        let (outgoing, count) = outgoing(&[&[PUBLIC]], |address| address == PUBLIC);
        assert_eq!(outgoing.post(&message(&url)).await.unwrap().status, status);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
    assert_untouched(&trap).await;
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let (url, server) = server_of("HTTP/1.1 200 OK\r\n\r\n").await;
    let silent = Ipv4Addr::new(127, 0, 0, 3);
    let answer = outgoing(&[&[silent, PUBLIC]], |_| true).0.post(&message(&url)).await;
    assert_eq!(answer.unwrap().status, 200);
    server.await.unwrap();
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 500 No\r\nContent-Length: 99999999999\r\n\r\n"] {
        let (url, server) = endless(head, &[b'x'; 4096], Duration::ZERO).await;
        let answer = outgoing(&[&[PUBLIC]], |_| true).0.post(&message(&url)).await.unwrap();
        assert_eq!((answer.start.len(), &answer.start[..3]), (512, "xxx"));
        server.await.unwrap();
    }
}

#[tokio::test]
async fn what_is_kept_of_a_body_is_a_text_of_512_bytes() {
    let (url, server) = endless("HTTP/1.1 500 No\r\n\r\n", &[0xff; 4096], Duration::ZERO).await;
    let answer = outgoing(&[&[PUBLIC]], |_| true).0.post(&message(&url)).await.unwrap();
    assert_eq!(answer.start, "\u{fffd}".repeat(170));
    server.await.unwrap();
}

#[tokio::test]
async fn a_body_that_does_not_end_leaves_the_status_as_it_is() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (start, more) in [("HTTP/1.1 200 OK\r\n\r\n", &b"x"[..]), (chunked, b"1\r\nx\r\n")] {
        let (url, server) = endless(start, more, Duration::from_millis(5)).await;
        assert_eq!(impatient().post(&message(&url)).await.unwrap().status, 200, "{start:?}");
        server.await.unwrap();
    }
    // A body that breaks off changes nothing either.
    let (url, server) = server_of("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort").await;
    assert_eq!(impatient().post(&message(&url)).await.unwrap().status, 200);
    server.await.unwrap();
}

#[tokio::test]
async fn slow_answers_end_at_the_deadline() {
    let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    for (start, more) in [("HTTP/1.1 200 OK\r\nX-Slow: ", &b"x"[..]), ("HTTP", b""), ("", hints)] {
        let (url, server) = endless(start, more, Duration::from_millis(5)).await;
        assert_eq!(impatient().post(&message(&url)).await, Err(OutgoingError::Timeout), "{start:?}");
        if !more.is_empty() {
            server.await.unwrap();
        }
    }
}

#[tokio::test]
async fn informational_answers_without_end_stop_at_the_deadline() {
    let (url, server) = endless("", b"HTTP/1.1 100 Continue\r\n\r\n", Duration::ZERO).await;
    assert_eq!(impatient().post(&message(&url)).await, Err(OutgoingError::Timeout));
    server.await.unwrap();
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    for more in [&[b'x'; 4096][..], b"X-More: x\r\n"] {
        let (url, server) = endless("HTTP/1.1 200 OK\r\nX-Long: x", more, Duration::ZERO).await;
        let answer = outgoing(&[&[PUBLIC]], |_| true).0.post(&message(&url)).await;
        assert_eq!(answer, Err(OutgoingError::InvalidAnswer));
        server.await.unwrap();
    }
}

#[tokio::test]
async fn what_is_no_answer_has_a_name() {
    let (outgoing, _) = outgoing(&[&[PUBLIC]], |_| true);
    for (answer, failure) in [
        ("", OutgoingError::Connection),
        ("SSH-2.0-OpenSSH_9.9\r\n", OutgoingError::InvalidAnswer),
        ("HTTP/1.1 abc\r\n\r\n", OutgoingError::InvalidAnswer),
    ] {
        let (url, server) = server_of(answer).await;
        assert_eq!(outgoing.post(&message(&url)).await, Err(failure), "{answer:?}");
        server.await.unwrap();
    }
    // Nothing listens on this port now.
    let (url, server) = server(async |_| {}).await;
    server.abort();
    let _ = server.await;
    assert_eq!(outgoing.post(&message(&url)).await, Err(OutgoingError::Connection));
    let none = self::outgoing(&[&[]], |_| true).0;
    assert_eq!(none.post(&message(&url)).await, Err(OutgoingError::UnknownHost));
}

#[tokio::test]
async fn the_system_resolves_names() {
    let addresses = SystemResolver.resolve("localhost", 80).await.unwrap();
    assert!(!addresses.is_empty() && addresses.iter().all(|at| at.ip().is_loopback() && at.port() == 80));
}

/// A server with a self-signed certificate for `hooks.example`, and a sender that trusts it.
async fn encrypted() -> (String, Outgoing, JoinHandle<Option<Vec<u8>>>) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["hooks.example".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![cert.der().clone()], key).unwrap();
    let (url, server) = server(async move |stream: TcpStream| {
        let mut stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await.ok()?;
        let mut request = vec![0; 4];
        stream.read_exact(&mut request).await.ok()?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.ok()?;
        stream.flush().await.ok()?;
        Some(request)
    })
    .await;
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let tls = Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    let trusting = Outgoing { tls, ..outgoing(&[&[PUBLIC]], |_| true).0 };
    (url.replacen("http", "https", 1), trusting, server)
}

#[tokio::test]
async fn certificates_are_checked() {
    let (url, trusting, server) = encrypted().await;
    assert_eq!(trusting.post(&message(&url)).await.unwrap().status, 200);
    assert_eq!(server.await.unwrap().unwrap(), b"POST");
    // No trusted authority has signed this certificate.
    let (url, _, server) = encrypted().await;
    let (outgoing, _) = outgoing(&[&[PUBLIC]], |_| true);
    assert_eq!(outgoing.post(&message(&url)).await, Err(OutgoingError::Tls));
    assert_eq!(server.await.unwrap(), None);
    // The certificate is for another name.
    let (url, trusting, server) = encrypted().await;
    let url = url.replace("hooks.example", "other.example");
    assert_eq!(trusting.post(&message(&url)).await, Err(OutgoingError::Tls));
    assert_eq!(server.await.unwrap(), None);
}

#[tokio::test]
async fn what_does_not_encrypt_is_not_talked_to() {
    let (outgoing, _) = outgoing(&[&[PUBLIC]], |_| true);
    let (url, _) =
        server(async |mut stream: TcpStream| stream.write_all(b"HTTP/1.1 400 No\r\n\r\n").await).await;
    assert_eq!(outgoing.post(&message(&url.replacen("http", "https", 1))).await, Err(OutgoingError::Tls));
    let (url, _server) = server(async |stream: TcpStream| {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    assert_eq!(
        impatient().post(&message(&url.replacen("http", "https", 1))).await,
        Err(OutgoingError::Timeout)
    );
}
