//! Both ends of a data connection show that they belong to this measurement before anything is believed.
//!
//! The 32-byte values are derived from the control session's keys and a connection number (crate `rendezvous`); here they
//! are only exchanged and compared. The near side speaks first and may send its first message behind its proof.

/// What each side must show on a new data connection.
#[derive(Clone)]
pub struct Proof {
    /// What the near side sends.
    pub near: [u8; 32],
    /// What the far side answers.
    pub far: [u8; 32],
}

impl Proof {
    /// A proof of zeros, for links inside one process and for tests.
    pub fn none() -> Self {
        Self { near: [0; 32], far: [0; 32] }
    }

    /// Whether `shown` is `expected`, in time that does not depend on where they differ.
    pub fn matches(shown: &[u8; 32], expected: &[u8; 32]) -> bool {
        shown.iter().zip(expected).fold(0u8, |d, (a, b)| d | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Proof(..)")
    }
}
