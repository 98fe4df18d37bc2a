//! TLS 1.3 with a pinned certificate: a fresh one each start, known by its SHA-256 instead of by an authority.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, PeerIncompatible, ServerConfig,
    ServerConnection, SignatureScheme,
};

use crate::MeetError;
use crate::secret::sha256;

/// The far side's certificate, made at its start and never stored.
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    /// SHA-256 of the certificate.
    pub(crate) pin: [u8; 32],
}

impl Identity {
    pub(crate) fn fresh() -> Result<Self, MeetError> {
        let made = rcgen::generate_simple_self_signed(vec!["pipegauge".to_owned()])
            .map_err(|e| Error::General(format!("can't make a certificate: {e}")))?;
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let pin = sha256(&certificate);
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        // No session is ever resumed: a ticket would only be something more to read.
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), pin })
    }

    /// The server's end of one session.
    pub(crate) fn session(&self) -> Result<ServerConnection, MeetError> {
        Ok(ServerConnection::new(Arc::clone(&self.config))?)
    }
}

/// The client's end of one session with the server whose certificate has this SHA-256.
pub(crate) fn client(pin: [u8; 32]) -> Result<ClientConnection, MeetError> {
    let provider = provider();
    let verifier = Pinned { pin, provider: Arc::clone(&provider) };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.enable_sni = false;
    let name = ServerName::try_from("pipegauge").map_err(|e| Error::General(e.to_string()))?;
    Ok(ClientConnection::new(Arc::new(config), name)?)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Accepts exactly one certificate. Names, dates and authorities mean nothing here; that the server holds the
/// certificate's key is checked as always.
#[derive(Debug)]
struct Pinned {
    pin: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // The pin and the certificate are no secrets: an ordinary comparison gives nothing away.
        if sha256(end_entity) == self.pin {
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
