//! `pipegauge live`: a run on the whole terminal while it goes on.
//!
//! What the screen shows is a pure function of the run's events, the keys pressed and the time passed: [`State`] takes
//! them in, [`view::draw`] turns it into a buffer of cells. What has to do with a real terminal lies around that:
//!
//! | module | job |
//! |---|---|
//! | [`state`] | events, keys and time become what there is to show; pure |
//! | [`keys`] | bytes that a terminal sends become keys; pure |
//! | [`view`] | a state becomes cells; pure |
//! | [`paint`] | cells that changed become bytes for a terminal; pure |
//! | [`tty`] | the terminal: taken over and given back as it was |
//! | `signals` | Ctrl-C, Ctrl-Z, a closed terminal: told to the screen's thread |
//! | [`screen`] | the screen as its owner has it, and how drawing stays out of the way of what is measured |
//! | `painter` | the thread that draws |
//! | `shared` | what the screen is asked for, and what its owner and its thread share |
//!
//! No terminal library stands between: Ctrl-C and Ctrl-Z stay signals, as they are in `run`, and every byte to the
//! terminal passes [`tty`], which knows whether the terminal is taken.

pub mod keys;
pub mod paint;
mod painter;
pub mod screen;
mod shared;
mod signals;
pub mod state;
pub mod tty;
pub mod view;

pub use screen::Screen;
pub use shared::Requests;
pub use state::State;
