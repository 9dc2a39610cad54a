//! DynamoDB behind TLS, as on AWS, optionally with AWS's latency.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_RSA_SHA256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{CipherSuite, ServerConfig};
use tokio_rustls::server::TlsStream;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The name of the operation in the header of a transaction request.
const TRANSACTION: &[u8] = b"TransactWriteItems";

/// A TLS server in front of a DynamoDB, which runs until the process ends.
///
/// Like AWS's endpoints, it has a certificate of an intermediate authority, all keys are RSA with 2,048 bits, and it
/// prefers the smaller cipher suite of TLS 1.3.
pub struct TlsDynamoDb {
    address: SocketAddr,
    authority: PathBuf,
    latency: Arc<Latency>,
}

/// The latency added to requests, in microseconds.
#[derive(Default)]
struct Latency {
    transactions: AtomicU64,
    others: AtomicU64,
}

impl TlsDynamoDb {
    /// Starts the server in front of the DynamoDB in a function's variables, and writes the certificate of its
    /// authority to a file in `folder`.
    ///
    /// # Errors
    /// If the variables contain no DynamoDB, OpenSSL is missing, or no port is free.
    pub async fn start(variables: &BTreeMap<&'static str, String>, folder: &Path) -> Result<Self> {
        let target = variables.get("AWS_ENDPOINT_URL_DYNAMODB").and_then(|url| url.strip_prefix("http://"));
        let target = target.ok_or("the back end has no DynamoDB")?.trim_end_matches('/').to_owned();
        let (acceptor, root) = acceptor().await?;
        let authority = folder.join("roots.pem");
        std::fs::write(&authority, root)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let latency = Arc::new(Latency::default());
        let shared = latency.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, target, latency) = (acceptor.clone(), target.clone(), shared.clone());
                tokio::spawn(async move {
                    client.set_nodelay(true)?;
                    let client = acceptor.accept(client).await?;
                    let server = TcpStream::connect(target).await?;
                    server.set_nodelay(true)?;
                    forward(client, server, &latency).await
                });
            }
        });
        Ok(Self { address, authority, latency })
    }

    /// The environment variables that make a function use and trust this DynamoDB.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("https://{}", self.address)),
            ("SSL_CERT_FILE", self.authority.display().to_string()),
        ]
    }

    /// The file with the certificate of the authority.
    pub fn authority(&self) -> &Path {
        &self.authority
    }

    /// Sets the latency added to transactions and to other requests.
    pub fn delay(&self, transactions: Duration, others: Duration) {
        let micros = |latency: Duration| u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency.transactions.store(micros(transactions), Ordering::Relaxed);
        self.latency.others.store(micros(others), Ordering::Relaxed);
    }
}

impl Latency {
    /// The added latency of the request that begins with these bytes.
    fn of(&self, request: &[u8]) -> Duration {
        let is_transaction = request.windows(TRANSACTION.len()).any(|part| part == TRANSACTION);
        let micros = if is_transaction { &self.transactions } else { &self.others };
        Duration::from_micros(micros.load(Ordering::Relaxed))
    }
}

/// Forwards both directions until either side closes. Clients send one request at a time per connection.
async fn forward(
    mut client: TlsStream<TcpStream>,
    mut server: TcpStream,
    latency: &Latency,
) -> std::io::Result<()> {
    let (mut request, mut response) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_new = true;
    loop {
        tokio::select! {
            read = client.read(&mut request) => match read? {
                0 => return Ok(()),
                length => {
                    let latency = latency.of(&request[..length]);
                    if std::mem::take(&mut is_new) && !latency.is_zero() {
                        #[expect(clippy::disallowed_methods, reason = "the latency of a network")]
                        tokio::time::sleep(latency).await;
                    }
                    server.write_all(&request[..length]).await?;
                }
            },
            read = server.read(&mut response) => match read? {
                0 => return client.shutdown().await,
                length => {
                    is_new = true;
                    client.write_all(&response[..length]).await?;
                    client.flush().await?;
                }
            },
        }
    }
}

/// A TLS acceptor, and the PEM certificate of its authority.
async fn acceptor() -> Result<(TlsAcceptor, String)> {
    let authority = |name: &str| -> Result<CertificateParams> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(params)
    };
    let root = CertifiedIssuer::self_signed(authority("root")?, rsa_key().await?)?;
    let intermediate = CertifiedIssuer::signed_by(authority("intermediate")?, rsa_key().await?, &root)?;
    let key = rsa_key().await?;
    let leaf = CertificateParams::new([Ipv4Addr::LOCALHOST.to_string()])?.signed_by(&key, &intermediate)?;
    let chain = vec![leaf.der().clone(), intermediate.der().clone()];

    let mut provider = ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::Pkcs8(key.serialize_der().into()))?;
    config.ignore_client_order = true;
    Ok((TlsAcceptor::from(Arc::new(config)), root.pem()))
}

/// Generates a key with the OpenSSL command, because *ring* generates no RSA keys.
async fn rsa_key() -> Result<KeyPair> {
    let mut openssl = Command::new("openssl");
    openssl.args(["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]);
    let key = openssl.output().await.map_err(|error| format!("openssl is needed: {error}"))?;
    Ok(KeyPair::from_pkcs8_pem_and_sign_algo(std::str::from_utf8(&key.stdout)?, &PKCS_RSA_SHA256)?)
}
