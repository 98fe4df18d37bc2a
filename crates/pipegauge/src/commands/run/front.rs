//! What people see of a run while it goes on.

use measure::Event;

/// A front end: a line of progress, or a screen.
pub trait Front {
    /// Shows what happened.
    fn take_event(&mut self, event: &Event);

    /// Goes away: what follows is printed as by any command.
    fn done(&mut self);
}
