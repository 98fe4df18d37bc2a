//! The one-time secret, and what is derived from it and from the TLS session.
//!
//! After the handshake each side shows `HMAC-SHA256(secret, role || exported)`, where `exported` comes from the TLS
//! exporter (RFC 8446, section 7.5) and is the same on both ends of one session only. So both sides prove the secret
//! without sending it, a proof is worth nothing on another connection, and one side's proof can't be sent back to it.

use ring::digest::{SHA256, digest};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use transport::Proof;
use zeroize::Zeroizing;

use crate::MeetError;

const BINDING_LABEL: &[u8] = b"EXPORTER-pipegauge-control";
const DATA_LABEL: &[u8] = b"EXPORTER-pipegauge-data";

/// SHA-256 of `bytes`.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// `N` random bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], MeetError> {
    let mut bytes = [0; N];
    let refused = |_| MeetError::io("asking the system for random bytes")(std::io::Error::other("the system refused"));
    SystemRandom::new().fill(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

/// Who shows something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Near,
    Far,
}

impl Role {
    fn label(self) -> &'static [u8] {
        match self {
            Self::Near => b"pipegauge near",
            Self::Far => b"pipegauge far ",
        }
    }
}

/// 32 bytes that only the two sides know. Wiped from memory when dropped; never printed.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    pub(crate) fn of(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn fresh() -> Result<Self, MeetError> {
        random().map(Self::of)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0[..])
    }

    /// What `role` shows on the session with this binding.
    pub(crate) fn tag(&self, role: Role, binding: &[u8; 32]) -> [u8; 32] {
        tag(&self.key(), &[role.label(), binding])
    }

    /// Whether `shown` is what `role` shows; takes the same time wherever they differ.
    pub(crate) fn verify(&self, role: Role, binding: &[u8; 32], shown: &[u8]) -> bool {
        let message = [role.label(), binding].concat();
        hmac::verify(&self.key(), &message, shown).is_ok()
    }
}

fn tag(key: &hmac::Key, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    context.sign().as_ref().try_into().expect("HMAC-SHA256 has 32 bytes")
}

/// Keys exported from one TLS session; both ends hold the same.
pub(crate) struct SessionKeys {
    /// Names the session in authentication.
    pub(crate) binding: [u8; 32],
    data: hmac::Key,
}

impl SessionKeys {
    /// The keys of a session whose handshake is complete.
    pub(crate) fn of(tls: &rustls::Connection) -> Result<Self, MeetError> {
        let binding = tls.export_keying_material([0; 32], BINDING_LABEL, None)?;
        let data = Zeroizing::new(tls.export_keying_material([0; 32], DATA_LABEL, None)?);
        Ok(Self { binding, data: hmac::Key::new(hmac::HMAC_SHA256, &data[..]) })
    }

    /// What both sides must show on data connection number `connection`, for which the far side drew `nonce`.
    pub(crate) fn proof(&self, connection: u64, nonce: &[u8; 16]) -> Proof {
        let of = |role: Role| tag(&self.data, &[role.label(), &connection.to_be_bytes(), nonce]);
        Proof { near: of(Role::Near), far: of(Role::Far) }
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self { binding: [7; 32], data: hmac::Key::new(hmac::HMAC_SHA256, &[9; 32]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_only_for_its_role_session_and_secret() {
        let secret = Secret::of([1; 32]);
        let shown = secret.tag(Role::Near, &[2; 32]);
        assert!(secret.verify(Role::Near, &[2; 32], &shown));
        assert!(!secret.verify(Role::Far, &[2; 32], &shown), "a reflected proof");
        assert!(!secret.verify(Role::Near, &[3; 32], &shown), "a proof replayed on another session");
        assert!(!Secret::of([4; 32]).verify(Role::Near, &[2; 32], &shown), "another secret");
        assert!(!secret.verify(Role::Near, &[2; 32], &shown[..31]), "a short proof");
        assert!(!secret.verify(Role::Near, &[2; 32], &[]), "no proof");
    }

    #[test]
    fn each_data_connection_has_its_own_proofs() {
        let keys = SessionKeys::for_tests();
        let one = keys.proof(1, &[0; 16]);
        assert_eq!(one.near, keys.proof(1, &[0; 16]).near);
        assert_ne!(one.near, one.far);
        assert_ne!(one.near, keys.proof(2, &[0; 16]).near);
        assert_ne!(one.near, keys.proof(1, &[1; 16]).near);
    }
}
