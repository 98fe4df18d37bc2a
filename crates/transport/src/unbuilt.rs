//! Transports that this program was built without: they are listed, and say which command builds them in.

use crate::options::OptionSpec;
use crate::port::Transport;
use crate::{Capabilities, LinkError, Name, Settings};

/// What is known of a transport whose code is a cargo feature.
#[derive(Debug)]
pub struct Unbuilt {
    /// As [`Transport::name`].
    pub name: Name,
    /// As [`Transport::summary`].
    pub summary: &'static str,
    /// As [`Transport::spoken`].
    pub spoken: &'static [&'static str],
    /// As [`Transport::capabilities`].
    pub can: fn(&Settings) -> Capabilities,
    /// As [`Transport::options`].
    pub options: &'static [OptionSpec],
    /// The feature that it is.
    pub feature: &'static str,
}

impl Unbuilt {
    fn why(&self) -> LinkError {
        let Self { name, feature, .. } = self;
        let why =
            format!("this pipegauge was built without it; cargo build --release --features {feature} builds it in");
        LinkError::io(format!("using {name}"), std::io::Error::new(std::io::ErrorKind::Unsupported, why))
    }
}

impl Transport for Unbuilt {
    fn name(&self) -> Name {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn spoken(&self) -> &'static [&'static str] {
        self.spoken
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        (self.can)(settings)
    }
    fn availability(&self) -> Result<(), LinkError> {
        Err(self.why())
    }
    fn options(&self) -> &'static [OptionSpec] {
        self.options
    }
    fn listen(&self, _: &Settings, _: std::net::SocketAddr, _: &crate::Patience) -> Result<crate::Acceptor, LinkError> {
        Err(self.why())
    }
    fn dial(
        &self,
        _: &Settings,
        _: &crate::Address,
        _: std::net::SocketAddr,
        _: &crate::Patience,
    ) -> Result<crate::Connector, LinkError> {
        Err(self.why())
    }
}
