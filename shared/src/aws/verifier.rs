//! Verifies the certificates of AWS's endpoints.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Trusts a few authorities. Asks others only about a certificate that none of the few has signed.
#[derive(Debug)]
pub(super) struct FallbackVerifier {
    first: Arc<WebPkiServerVerifier>,
    /// Called only for such a certificate, because parsing all of the system's authorities takes most of a cold start.
    others: fn() -> Arc<RootCertStore>,
}

impl FallbackVerifier {
    /// A verifier that trusts `first`; `None` if `first` has no authority.
    pub(super) fn new(first: Arc<RootCertStore>, others: fn() -> Arc<RootCertStore>) -> Option<Self> {
        Some(Self { first: WebPkiServerVerifier::builder(first).build().ok()?, others })
    }
}

impl ServerCertVerifier for FallbackVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.first.verify_server_cert(certificate, intermediates, name, ocsp, now);
        let Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) = verified else {
            return verified;
        };
        let Ok(others) = WebPkiServerVerifier::builder((self.others)()).build() else { return verified };
        let verified = others.verify_server_cert(certificate, intermediates, name, ocsp, now);
        if verified.is_ok() {
            tracing::warn!(target: "aws", host = ?name, "an authority that is not compiled in has signed this certificate");
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.first.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.first.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.first.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    const HOST: &str = "dynamodb.eu-central-1.amazonaws.com";

    static SERVER: LazyLock<CertificateDer<'static>> = LazyLock::new(|| certificate(HOST));

    fn certificate(host: &str) -> CertificateDer<'static> {
        let mut parameters = CertificateParams::new([host.to_owned()]).unwrap();
        // Authorities are found by name. If all had the same name, each would seem to have signed the others, with
        // invalid signatures.
        parameters.distinguished_name.push(DnType::CommonName, host);
        parameters.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn trusting(certificate: &CertificateDer<'static>) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        roots.into()
    }

    fn is_accepted(
        first: &CertificateDer<'static>,
        others: fn() -> Arc<RootCertStore>,
        name: &'static str,
    ) -> bool {
        let verifier = FallbackVerifier::new(trusting(first), others).unwrap();
        let name = ServerName::try_from(name).unwrap();
        verifier.verify_server_cert(&SERVER, &[], &name, &[], UnixTime::now()).is_ok()
    }

    #[test]
    fn others_are_asked_only_about_a_certificate_that_the_first_have_not_signed() {
        let unrelated = certificate("unrelated.example");
        assert!(is_accepted(&SERVER, || panic!("asked the others"), HOST));
        assert!(is_accepted(&unrelated, || trusting(&SERVER), HOST));
        assert!(!is_accepted(&unrelated, || trusting(&certificate("another.example")), HOST));
        assert!(!is_accepted(&unrelated, || RootCertStore::empty().into(), HOST));
        // A wrong host name must not cause a fallback to the others.
        assert!(!is_accepted(&SERVER, || panic!("asked the others"), "evil.example"));
        assert!(FallbackVerifier::new(RootCertStore::empty().into(), || trusting(&SERVER)).is_none());
    }
}
