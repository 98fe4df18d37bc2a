//! How the cost of a group grows with its size: one calm run of one size, and what it took.

use std::time::Duration;

use super::world::World;
use super::{Limits, Scenario};

/// What a group of one size took.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// Members.
    pub members: usize,
    /// Virtual seconds until all had one view: they join at one moment.
    pub formed: f64,
    /// Datagrams until then, of all members.
    pub forming: f64,
    /// Datagrams and bytes of all members in a second in which nobody casts, nor has yet.
    pub quiet: (f64, f64),
    /// Datagrams and bytes that a cast took, beyond those of a quiet group until a quarter of a second after the last. Statuses, which list streams in use, are longer then.
    pub cast: (f64, f64),
    /// Deliveries of each cast.
    pub deliveries: f64,
    /// The least and the largest virtual time in which a cast was delivered everywhere, in milliseconds.
    pub everywhere: (f64, f64),
}

const SECOND: u64 = 1_000_000_000;

/// Forms a group, lets it be quiet for a second, and has it cast.
///
/// # Errors
/// Where the stack is none, or the group did not become one within a virtual minute.
pub fn grow(stack: &str, members: usize, casts: usize) -> Result<Growth, String> {
    let limits = Limits {
        stack: Some(stack.to_owned()),
        any_stack: false,
        members: Some(members),
        faults: Some(Vec::new()),
        casts: Some(0),
        calm: true,
        state: false,
    };
    let mut scenario = Scenario::new(1, &limits)?;
    scenario.config = crate::Config { key: scenario.config.key.take(), ..crate::Config::default() };
    scenario.delay = (50_000, 100_000);
    scenario.heal = u64::MAX / 4;
    let mut world = World::new(&scenario);
    let mut at = 0;
    while world.unsettled().is_some() {
        at += SECOND / 20;
        if at > 60 * SECOND {
            return Err(format!("{members} members had not one view after a minute: {:?}", world.unsettled()));
        }
        world.until(at);
    }
    let formed = at;
    let forming = world.sent().0;
    // What joining leaves to be done is none of the quiet second's.
    at += SECOND / 4;
    world.until(at);
    let before = world.sent();
    at += SECOND / 2;
    world.until(at);
    // In a second.
    let quiet = ((world.sent().0 - before.0) * 2, (world.sent().1 - before.1) * 2);
    let began = world.sent();
    let delivered = world.delivered();
    let mut everywhere = (f64::MAX, 0f64);
    let first = at;
    for n in 0..casts {
        let all = world.delivered() + members;
        let said = at;
        world.cast(n * members / casts, 64);
        while world.delivered() < all {
            at += SECOND / 100_000;
            if at > said + 60 * SECOND {
                return Err(format!("a cast among {members} members was not everywhere after a minute"));
            }
            world.until(at);
        }
        let took = Duration::from_nanos(at - said).as_secs_f64() * 1e3;
        everywhere = (everywhere.0.min(took), everywhere.1.max(took));
    }
    // The statuses that casts cause come later.
    at += SECOND / 4;
    world.until(at);
    let took = (at - first) as f64 / SECOND as f64;
    let each = |all: u64, quiet: u64| (all as f64 - quiet as f64 * took) / casts as f64;
    let all = (world.sent().0 - began.0, world.sent().1 - began.1);
    Ok(Growth {
        members,
        formed: formed as f64 / SECOND as f64,
        forming: forming as f64,
        quiet: (quiet.0 as f64, quiet.1 as f64),
        cast: (each(all.0, quiet.0), each(all.1, quiet.1)),
        deliveries: (world.delivered() - delivered) as f64 / casts as f64,
        everywhere,
    })
}

#[cfg(test)]
mod tests {
    use super::grow;

    #[test]
    fn a_quiet_group_costs_by_the_square_of_its_size_and_a_cast_by_the_size() {
        let small = grow("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim", 8, 4).unwrap();
        let large = grow("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim", 32, 4).unwrap();
        assert_eq!((small.deliveries, large.deliveries), (8.0, 32.0));
        // Each says to each other ten times a second what it has.
        assert!((large.quiet.0 / (32.0 * 31.0 * 10.0) - 1.0).abs() < 0.3, "{large:?}");
        assert!((small.quiet.0 / (8.0 * 7.0 * 10.0) - 1.0).abs() < 0.3, "{small:?}");
        assert!(small.formed < 5.0 && large.formed < 5.0, "{small:?} {large:?}");
    }
}
