//! Deliberate mistakes, one a layer or more, which the simulator's oracles must catch (`sim::mutants`). Only this crate's tests can switch one on.

/// A plausible mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// NAK delivers a cast that it has delivered already.
    NakDuplicates,
    /// NAK delivers across a gap.
    NakSkipsGap,
    /// NAK forgets what one other member has, as if all had it.
    NakForgetsEarly,
    /// NAK, frozen, goes on to listen to all, and to deliver.
    NakThaws,
    /// NAK never says how many casts it has sent: a lost last one stays lost.
    NakNoTail,
    /// FRAG takes a fragment for the last.
    FragCutsShort,
    /// MBRSHIP cuts at the least that anyone has and not at the most.
    CutAtLeast,
    /// MBRSHIP installs the view when all have reported, without the cut.
    InstallWithoutCut,
    /// MBRSHIP leads without itself in the view.
    LeaderForgotten,
    /// MBRSHIP hears of no failures.
    DeafToProblems,
    /// TOTAL sends with the token before it has delivered all before it.
    TokenEarly,
    /// TOTAL delivers in the order of arrival.
    TotalByArrival,
    /// SEQ's leftovers come in the order of arrival.
    LeftoversByArrival,
    /// CAUSAL compares only the sender's entry of the clock.
    CausalFifoOnly,
    /// SAFE takes what one other member has for what all have.
    SafeByOne,
    /// STABLE counts a cast as held that was not yet received.
    StableEager,
    /// FC drops the last of a pack.
    PackDropsLast,
    /// FAST takes a cast whose number in its sender's stream is another.
    FastSkipsNumber,
    /// FAST takes a cast whose number in the total order is another.
    FastSkipsOrder,
    /// FAST goes by what was foretold before other datagrams came.
    FastKeeps,
    /// FAST delivers without telling the layers.
    FastForgets,
    /// A snapshot is made after the messages of the view that were there already.
    SnapshotLate,
    /// Who receives a state forgets the messages that waited for it.
    JoinerForgets,
    /// Who moves on without the hellos of all takes its state for that of who had them.
    TokenStays,
    /// A view without a majority is primary.
    MinorityRules,
    /// Who is not in the next view is taken for one that left.
    GoneAsLeft,
    /// A member that leaves does not wait until the others have what it cast, and takes it for delivered.
    LeavesUndrained,
    /// MERGE forgets an address once it has asked there.
    AbsentForgotten,
}
