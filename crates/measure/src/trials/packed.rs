//! A trial as bytes: whole numbers as long as they need to be (LEB128), and one byte for each field that is absent. A trial of a file holds
//! about 30 numbers, of which most are 0 or absent: as a structure it takes 700 bytes, packed 60 to 300.

use crate::event::Trial;
use crate::{Carried, Cost, FarReport, FlowReport, Flows, Tcp, TrialReport};

/// What can be packed into bytes and comes back as it was.
pub(super) trait Packed: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads what [`Packed::put`] appended from the front, and removes it.
    fn take(from: &mut &[u8]) -> Self;
}

fn byte(from: &mut &[u8]) -> u8 {
    let (first, rest) = from.split_first().expect("no trial ends before its last field");
    *from = rest;
    *first
}

impl Packed for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
    }

    fn take(from: &mut &[u8]) -> Self {
        let (mut number, mut shift) = (0, 0);
        loop {
            let next = byte(from);
            number |= u64::from(next & 0x7f) << shift;
            if next < 0x80 {
                return number;
            }
            shift += 7;
        }
    }
}

impl Packed for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }

    fn take(from: &mut &[u8]) -> Self {
        u64::take(from) as u32
    }
}

impl Packed for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Self {
        byte(from) != 0
    }
}

/// Its eight bytes, or a 0 for what is zero.
impl Packed for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        let bits = self.to_bits();
        out.push(u8::from(bits != 0));
        if bits != 0 {
            out.extend(bits.to_le_bytes());
        }
    }

    fn take(from: &mut &[u8]) -> Self {
        if byte(from) == 0 {
            return 0.0;
        }
        let (number, rest) = from.split_first_chunk().expect("eight bytes");
        *from = rest;
        f64::from_bits(u64::from_le_bytes(*number))
    }
}

impl<T: Packed> Packed for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Self {
        bool::take(from).then(|| T::take(from))
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(from: &mut &[u8]) -> Self {
        (0..u64::take(from)).map(|_| T::take(from)).collect()
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Self {
        (A::take(from), B::take(from))
    }
}

/// A structure field by field. Taken apart and put together without `..`: a new field that is missing here is a compile error. Fields
/// behind the semicolon are not kept.
macro_rules! packed {
    ($kind:ident { $($field:ident),+ $(; $left:ident)? }) => {
        impl Packed for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ $(, $left: _)? } = self;
                $($field.put(out);)+
            }

            fn take(from: &mut &[u8]) -> Self {
                $(let $field = Packed::take(from);)+
                Self { $($field),+ $(, $left: None)? }
            }
        }
    };
}

packed!(Trial { path, round, at, size, response, burst, warmup, report });
packed!(TrialReport {
    repeats, seconds, median, min, max, histogram, pauses, late, lost, reordered, duplicated, bounds, cost, flows, tcp, copied, load, far;
    course
});
packed!(FarReport { seconds, bytes, received, lost, reordered, duplicated, strangers, corrupt, spilled, bounds, cost, copied; course });
packed!(Cost {
    iterations,
    elapsed_ns,
    cpu_ns,
    user_ns,
    system_ns,
    step_ns,
    voluntary,
    involuntary,
    cycles,
    instructions
});
packed!(Flows { seconds, span, apart, each });
packed!(FlowReport { iterations, lost, retransmits, sent, near_cost, far_cost });
packed!(Tcp { retransmits, rtt_us, window, delivery_rate });
packed!(Carried { there, back });
