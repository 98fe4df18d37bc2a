//! Flags of `echo`.

use clap::Args;

/// Give back what comes.
#[derive(Debug, Clone, Args)]
pub struct EchoFlags {
    /// Serve connections here, HOST:PORT (127.0.0.1:0 takes a free port and prints it) or the path of a UNIX socket, instead of standard input
    #[arg(long, value_name = "WHERE")]
    pub listen: Option<String>,
}
