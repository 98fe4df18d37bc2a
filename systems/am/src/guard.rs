//! Whether a wait spins, and for how long: the decision, without a clock.
//!
//! Spinning answers in a fraction of a microsecond where each side has a CPU of its own, and is a disaster where it has not: the peer
//! can't run as long as this side looks. Sleeping costs a wake-up and is never a disaster. So a wait sleeps at once if the peer was
//! last seen on this CPU, or sleeps itself and has read everything (it waits for this side), spins only while spins have paid of
//! late, and tries rarely where they have not. A clock that jumps while spinning says that this thread was preempted: the CPUs
//! are contended, and nobody spins for a while.

use std::time::Duration;

/// The longest a wait spins: about twice what a sleep and a wake-up cost.
pub const BUDGET: Duration = Duration::from_micros(20);
/// A jump of the clock between two looks that only losing the CPU explains.
const JUMP: Duration = Duration::from_micros(200);
/// How long nobody spins after such a jump: the first time, and at most.
const CONTENDED: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(640));
/// How long nobody spins after a yield that gave the CPU to somebody else: the first time, and at most. An interrupt looks like one, so the first is short.
const CROWDED: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(256));
/// And at least so many times as long as the CPU was away: where many programs want it, one yield takes as long as all their turns together.
const AWAY: u32 = 20;
/// How long until a spin is tried again where spins fail: the first time, and at most.
const PROBE: (Duration, Duration) = (Duration::from_micros(2500), Duration::from_millis(40));
/// Of 256: the share of spins that must have paid of late for spinning to go on.
const PAYS: u32 = 128;

/// What is known of both sides as a wait begins.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// When, from any fixed moment.
    pub now: Duration,
    /// Both were last seen on the same CPU.
    pub same_cpu: bool,
    /// The peer sleeps and has read everything: nothing will come.
    pub peer_waits: bool,
}

/// What past waits taught.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Share of spins that paid, of 256, moving average.
    paid: u32,
    /// No spinning before this moment, because the CPUs are contended.
    contended_until: Duration,
    /// For how long next time.
    contended_for: Duration,
    /// For how long next time, where a yield said so.
    crowded_for: Duration,
    /// No spinning before this moment, because spins failed.
    probe_at: Duration,
    /// For how long next time.
    probe_after: Duration,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            paid: 256,
            contended_until: Duration::ZERO,
            contended_for: CONTENDED.0,
            crowded_for: CROWDED.0,
            probe_at: Duration::ZERO,
            probe_after: PROBE.0,
        }
    }
}

impl Guard {
    /// Whether a wait that begins now may spin.
    pub fn may_spin(&self, scene: Scene) -> bool {
        !scene.same_cpu
            && !scene.peer_waits
            && scene.now >= self.contended_until
            && (self.paid >= PAYS || scene.now >= self.probe_at)
    }

    /// A spin found what it waited for.
    pub fn paid(&mut self) {
        self.paid += (256 - self.paid) / 8 + 1;
        self.paid = self.paid.min(256);
        if self.paid >= PAYS {
            self.probe_after = PROBE.0;
            self.contended_for = CONTENDED.0;
            self.crowded_for = CROWDED.0;
        }
    }

    /// A spin found nothing for all of its budget.
    pub fn failed(&mut self, now: Duration) {
        self.lost(now, self.paid / 4);
    }

    /// A spin found nothing and was given up early, because somebody else wants the CPU: it cost less, unless the CPU was `away` for long.
    pub fn given_up(&mut self, now: Duration, away: Duration) {
        self.lost(now, self.paid.div_ceil(16));
        if away > JUMP {
            self.contended_until = now + away * AWAY;
        }
    }

    fn lost(&mut self, now: Duration, share: u32) {
        self.paid -= share;
        if self.paid < PAYS {
            self.probe_at = now + self.probe_after;
            self.probe_after = (self.probe_after * 2).min(PROBE.1);
        }
    }

    /// This thread yielded its CPU, which was `away` then, and somebody else than its peer took it: others want it. Nobody spins or yields for a while from
    /// `now` on.
    pub fn crowd(&mut self, now: Duration, away: Duration) {
        self.contended_until = now + self.crowded_for.max(away * AWAY);
        self.crowded_for = (self.crowded_for * 2).min(CROWDED.1);
    }

    /// A yield let the peer run, and nobody else.
    pub fn handed(&mut self) {
        self.crowded_for = CROWDED.0;
    }

    /// Until when nobody is to spin or yield; in the past if nothing is known to speak against it.
    pub fn contended_until(&self) -> Duration {
        self.contended_until
    }

    /// Another thread of this process has learned so.
    pub fn contend(&mut self, until: Duration) {
        self.contended_until = self.contended_until.max(until);
    }

    /// Whether this CPU is known to be wanted by others.
    pub fn crowded(&self, now: Duration) -> bool {
        now < self.contended_until
    }

    /// The clock went from `before` to `now` between two looks of a spin. True if this thread lost its CPU meanwhile: it is to stop.
    pub fn jumped(&mut self, before: Duration, now: Duration) -> bool {
        let lost = now.saturating_sub(before) > JUMP;
        if lost {
            self.contended_until = now + self.contended_for;
            self.contended_for = (self.contended_for * 2).min(CONTENDED.1);
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Scene {
        Scene { now: Duration::from_micros(micros), same_cpu: false, peer_waits: false }
    }

    #[test]
    fn a_wait_spins_at_first_but_not_on_the_peers_cpu_nor_when_the_peer_waits() {
        let guard = Guard::default();
        assert!(guard.may_spin(at(0)));
        assert!(!guard.may_spin(Scene { same_cpu: true, ..at(0) }));
        assert!(!guard.may_spin(Scene { peer_waits: true, ..at(0) }));
    }

    #[test]
    fn spins_that_fail_end_spinning_until_a_rare_probe() {
        let mut guard = Guard::default();
        let mut tried = 0;
        // A wait each 100 us for a second, and none pays.
        for wait in 0..10_000 {
            let scene = at(wait * 100);
            if guard.may_spin(scene) {
                tried += 1;
                guard.failed(scene.now);
            }
        }
        assert!((20..=40).contains(&tried), "{tried} spins: some at first, then one in 40 ms");
    }

    #[test]
    fn a_probe_that_pays_again_and_again_brings_spinning_back() {
        let mut guard = Guard::default();
        while guard.may_spin(at(0)) {
            guard.failed(Duration::ZERO);
        }
        for probe in 1..20 {
            if guard.may_spin(at(probe * 50_000)) {
                guard.paid();
            }
        }
        assert!(guard.may_spin(at(1_000_000)) && guard.may_spin(at(1_000_001)));
    }

    #[test]
    fn spins_given_up_early_end_spinning_too_but_later() {
        let tries = |miss: fn(&mut Guard, Duration)| {
            let mut guard = Guard::default();
            (0..100).take_while(|_| guard.may_spin(at(0)).then(|| miss(&mut guard, Duration::ZERO)).is_some()).count()
        };
        let (failed, given_up) =
            (tries(Guard::failed), tries(|guard, now| guard.given_up(now, Duration::from_micros(9))));
        assert!(failed < given_up && given_up < 20, "{failed} {given_up}");
    }

    #[test]
    fn a_crowded_cpu_is_left_alone_for_longer_each_time_until_a_yield_lets_the_peer_alone_run() {
        let mut guard = Guard::default();
        let ms = Duration::from_millis;
        let brief = Duration::from_micros(40);
        guard.crowd(ms(10), brief);
        assert!(guard.crowded(ms(10)) && !guard.crowded(ms(11)));
        guard.crowd(ms(20), brief);
        assert!(guard.crowded(ms(21)) && !guard.may_spin(at(21_000)) && !guard.crowded(ms(22)));
        guard.handed();
        guard.crowd(ms(30), brief);
        assert!(!guard.crowded(ms(31)));
    }

    #[test]
    fn yields_that_take_long_take_a_twentieth_of_the_time_at_most() {
        let ms = Duration::from_millis;
        // Each takes 50 ms: twelve others have their turns on this CPU. A wait every millisecond, for ten seconds.
        type Yielded = fn(&mut Guard, Duration, Duration);
        let yielded: [Yielded; 2] = [Guard::crowd, Guard::given_up];
        for yielded in yielded {
            let (mut guard, mut now, mut yields) = (Guard::default(), Duration::ZERO, 0);
            while now < ms(10_000) {
                now += ms(1);
                if guard.may_spin(Scene { now, same_cpu: false, peer_waits: false }) {
                    now += ms(50);
                    yields += 1;
                    yielded(&mut guard, now, ms(50));
                }
            }
            assert!((2..=10).contains(&yields), "{yields} yields");
        }
    }

    #[test]
    fn losing_the_cpu_stops_spinning_for_longer_each_time() {
        let mut guard = Guard::default();
        let ms = Duration::from_millis;
        assert!(!guard.jumped(ms(10), ms(10) + Duration::from_micros(150)));
        assert!(guard.may_spin(at(10_150)));
        assert!(guard.jumped(ms(10), ms(11)));
        assert!(!guard.may_spin(at(30_900)));
        assert!(guard.may_spin(at(31_000)));
        assert!(guard.jumped(ms(40), ms(41)));
        assert!(!guard.may_spin(at(80_900)));
        assert!(guard.may_spin(at(81_000)));
    }
}
