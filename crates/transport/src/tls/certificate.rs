//! TLS 1.3 with a certificate of one's own: made at the start, never stored, and known without an authority.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, PeerIncompatible, ServerConfig,
    SignatureScheme,
};

/// The name in every certificate; nobody looks at it.
const NAME: &str = "pipegauge";

/// The algorithms of the *ring* library.
pub fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// A server with a fresh certificate, and the certificate (DER). It resumes no session: each one shows the certificate again.
///
/// # Errors
/// No certificate can be made.
pub fn server(provider: CryptoProvider) -> Result<(ServerConfig, CertificateDer<'static>), Error> {
    let (certificate, key) = fresh()?;
    Ok((server_of(provider, certificate.clone(), key)?, certificate.into()))
}

/// A fresh certificate (DER) and its key (PKCS #8).
///
/// # Errors
/// No certificate can be made.
pub fn fresh() -> Result<(Vec<u8>, Vec<u8>), Error> {
    let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])
        .map_err(|e| Error::General(format!("can't make a certificate: {e}")))?;
    Ok((made.cert.der().to_vec(), made.signing_key.serialize_der()))
}

/// The server of a certificate (DER) with its key (PKCS #8). It resumes no session: each one shows the certificate again.
///
/// # Errors
/// The key is none, or not the certificate's.
pub fn server_of(provider: CryptoProvider, certificate: Vec<u8>, key: Vec<u8>) -> Result<ServerConfig, Error> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], key)?;
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Whether a certificate (DER) is that of the server that is meant.
pub type Known = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// A client that goes on with a server whose certificate is `known`.
///
/// # Errors
/// The algorithms have none for TLS 1.3.
pub fn client(provider: CryptoProvider, known: Known) -> Result<ClientConfig, Error> {
    let provider = Arc::new(provider);
    let verifier = Own { known, provider: Arc::clone(&provider) };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

/// The client's end of one session.
///
/// # Errors
/// Those of rustls.
pub fn session(config: &Arc<ClientConfig>) -> Result<ClientConnection, Error> {
    let name = ServerName::try_from(NAME).map_err(|e| Error::General(e.to_string()))?;
    ClientConnection::new(Arc::clone(config), name)
}

/// Accepts the certificates that are known. Names, dates and authorities mean nothing here; that the server holds the certificate's key is
/// checked as always.
struct Own {
    known: Known,
    provider: Arc<CryptoProvider>,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

impl ServerCertVerifier for Own {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if (self.known)(end_entity) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
