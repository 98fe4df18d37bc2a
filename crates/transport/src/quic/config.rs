//! Settings in the library's own terms.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt,
};
use rustls::CipherSuite;
use rustls::quic::Suite;

use super::CONTROLS;
use crate::tls::{self, certificate};
use crate::{LinkError, Patience, Settings};

/// The window where nobody says otherwise: that of the library.
pub const WINDOW: u64 = 1_250_000;

/// How often a side that has nothing to say asks whether the other is there.
const ALIVE: Duration = Duration::from_secs(2);

/// How long nothing may come before the connection counts as gone, at least and at most.
const IDLE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(86_400));

/// The name in the certificate; nobody looks at it.
pub const SERVER: &str = "pipegauge";

fn bad(e: impl std::error::Error + Send + Sync + 'static) -> LinkError {
    LinkError::io("setting up QUIC", std::io::Error::other(e))
}

/// A congestion control whose first window holds two datagrams, where they are large (RFC 9002, 7.2): with less none would ever leave.
macro_rules! first {
    ($config:ident, $packet:expr) => {{
        let mut config = $config::default();
        if let Some(packet) = $packet {
            config.initial_window(u64::from(packet).saturating_mul(2).max(14_720));
        }
        config
    }};
}

/// What both sides ask of the protocol.
fn protocol(settings: &Settings, patience: &Patience) -> Result<Arc<TransportConfig>, LinkError> {
    let mut config = TransportConfig::default();
    let window = settings.whole("window").unwrap_or(WINDOW);
    let idle = patience.limit.saturating_mul(2).clamp(IDLE.0, IDLE.1);
    config
        .max_concurrent_bidi_streams(1u32.into())
        .max_concurrent_uni_streams(0u32.into())
        .max_idle_timeout(Some(IdleTimeout::try_from(idle).map_err(bad)?))
        .keep_alive_interval(Some(ALIVE))
        .stream_receive_window(VarInt::from_u64(window).map_err(bad)?)
        .send_window(window.saturating_mul(8))
        .datagram_receive_buffer_size(
            super::by_datagrams(settings).then(|| usize::try_from(window).unwrap_or(usize::MAX)),
        )
        .datagram_send_buffer_size(usize::try_from(window).unwrap_or(usize::MAX))
        .enable_segmentation_offload(settings.switch("offload").unwrap_or(true));
    let packet = settings.whole("packet").and_then(|bytes| u16::try_from(bytes).ok());
    match settings.text("control").unwrap_or(CONTROLS[0]) {
        "bbr" => config.congestion_controller_factory(Arc::new(first!(BbrConfig, packet))),
        "new-reno" => config.congestion_controller_factory(Arc::new(first!(NewRenoConfig, packet))),
        _ => config.congestion_controller_factory(Arc::new(first!(CubicConfig, packet))),
    };
    if let Some(mtu) = packet {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(mtu);
        config.initial_mtu(mtu).mtu_discovery_config(Some(discovery));
    }
    Ok(Arc::new(config))
}

/// What an endpoint takes: datagrams of any size.
pub fn endpoint() -> Result<Arc<EndpointConfig>, LinkError> {
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(65_527).map_err(bad)?;
    Ok(Arc::new(config))
}

/// The suite of the first packets, which the RFC fixes (RFC 9001, 5.2).
fn initial() -> Result<Suite, LinkError> {
    let suites = certificate::provider().cipher_suites;
    let suite = suites.iter().find(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
    suite
        .and_then(|suite| suite.tls13()?.quic_suite())
        .ok_or_else(|| LinkError::io("setting up QUIC", std::io::Error::other("no suite for the first packets")))
}

/// A far side with a fresh certificate.
pub fn server(settings: &Settings, patience: &Patience) -> Result<Arc<ServerConfig>, LinkError> {
    let tls = certificate::server(tls::provider(settings)).map_err(bad)?.0;
    let crypto = QuicServerConfig::with_initial(Arc::new(tls), initial()?).map_err(bad)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.migration(false).transport_config(protocol(settings, patience)?);
    Ok(Arc::new(config))
}

/// A near side.
pub fn client(settings: &Settings, patience: &Patience) -> Result<ClientConfig, LinkError> {
    let tls = certificate::client(tls::provider(settings), Box::new(|_| true)).map_err(bad)?;
    let crypto = QuicClientConfig::with_initial(Arc::new(tls), initial()?).map_err(bad)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(protocol(settings, patience)?);
    Ok(config)
}
