//! TLS 1.3 with a pinned certificate: a fresh one each start, known by its SHA-256 instead of by an authority.

use std::sync::Arc;

use rustls::{ClientConnection, ServerConfig, ServerConnection};
use transport::tls::certificate;

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
        let (certificate, key) = certificate::fresh()?;
        Self::of(certificate, key)
    }

    /// That of a certificate (DER) with its key (PKCS #8).
    pub(crate) fn of(certificate: Vec<u8>, key: Vec<u8>) -> Result<Self, MeetError> {
        let pin = sha256(&certificate);
        Ok(Self { config: Arc::new(certificate::server_of(certificate::provider(), certificate, key)?), pin })
    }

    /// The server's end of one session.
    pub(crate) fn session(&self) -> Result<ServerConnection, MeetError> {
        Ok(ServerConnection::new(Arc::clone(&self.config))?)
    }
}

/// The client's end of one session with the server whose certificate has this SHA-256.
pub(crate) fn client(pin: [u8; 32]) -> Result<ClientConnection, MeetError> {
    // The pin and the certificate are no secrets: an ordinary comparison gives nothing away.
    let known = Box::new(move |certificate: &[u8]| sha256(certificate) == pin);
    Ok(certificate::session(&Arc::new(certificate::client(certificate::provider(), known)?))?)
}
