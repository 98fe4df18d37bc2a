//! Records into a ring and out of it.

use crate::arena::{Control, Kind, Sizes};
use crate::error::{Broken, Error};
use crate::memory::Memory;
use crate::record::{Head, MAX_ARGUMENTS, MAX_HEAD, Place};
use crate::ring::{BadIndex, Capacity, Lane, Reader, Span, Writer};

/// A message to be written.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// Who handles it.
    pub handler: u16,
    /// At most [`MAX_ARGUMENTS`].
    pub arguments: &'a [u64],
    /// What goes into the ring.
    pub payload: &'a [u8],
    /// Of a bulk message, whose payload is in its place already: where, and how many bytes.
    pub bulk: Option<(u32, u32, u32)>,
}

impl Outgoing<'_> {
    /// The head, once the message is known to be one that can be sent.
    #[inline(always)]
    pub fn head(&self, medium: usize) -> Result<Head, Error> {
        if self.arguments.len() > MAX_ARGUMENTS {
            return Err(Error::TooManyArguments { given: self.arguments.len(), most: MAX_ARGUMENTS });
        }
        if self.payload.len() > medium {
            return Err(Error::TooLarge { len: self.payload.len(), most: medium });
        }
        let len = self.bulk.map_or(self.payload.len() as u32, |(_, _, len)| len);
        Ok(Head { handler: self.handler, arguments: self.arguments.len() as u8, len, bulk: self.bulk.is_some() })
    }
}

/// Which of the four rings.
#[derive(Debug, Clone, Copy)]
struct Which {
    sender: usize,
    kind: Kind,
    start: usize,
    capacity: Capacity,
}

impl Which {
    #[inline(always)]
    fn lane(self, memory: &Memory) -> &Lane {
        &memory.object::<Control>(0).lanes[self.sender & 1][self.kind as usize]
    }

    /// Where the word `at` bytes after the start of a span lies: words are never split.
    #[inline(always)]
    fn word(self, span: Span, at: usize) -> usize {
        self.start + ((span.at + at) & (self.capacity.bytes() - 1))
    }
}

/// The sending end of a ring.
#[derive(Debug)]
pub struct Sender {
    which: Which,
    writer: Writer,
}

impl Sender {
    /// Of a fresh connection.
    pub fn new(sizes: Sizes, sender: usize, kind: Kind) -> Self {
        Self {
            which: Which { sender, kind, start: sizes.ring_start(sender, kind), capacity: sizes.ring },
            writer: Writer::new(sizes.ring, 0),
        }
    }

    /// Most bytes of any record.
    #[inline(always)]
    pub fn largest(&self) -> usize {
        MAX_HEAD + self.which.capacity.bytes() / 4
    }

    /// Whether `len` bytes fit.
    #[inline(always)]
    pub fn fits(&mut self, memory: &Memory, len: usize) -> Result<bool, BadIndex> {
        Ok(self.writer.room(self.which.lane(memory), len)? >= len)
    }

    /// Whether `len` bytes fit by what is known.
    #[inline(always)]
    pub fn surely_fits(&self, len: usize) -> bool {
        self.writer.known_room() >= len
    }

    /// Whether the receiver has read anything since this side last looked.
    #[inline(always)]
    pub fn news(&self, memory: &Memory) -> bool {
        self.writer.news(self.which.lane(memory))
    }

    /// Whether the receiver says that it has read everything.
    pub fn all_read(&self, memory: &Memory) -> bool {
        self.writer.all_read(self.which.lane(memory))
    }

    /// Writes a message that is known to fit.
    #[inline(always)]
    pub fn write(&mut self, memory: &Memory, head: Head, message: &Outgoing<'_>) {
        let which = self.which;
        let span = self.writer.place(0, head.total());
        memory.set_word(which.word(span, 0), head.word());
        if let Some((region, at, _)) = message.bulk {
            memory.set_word(which.word(span, 8), u64::from(region) << 32 | u64::from(at));
        }
        for (i, &argument) in message.arguments.iter().enumerate() {
            memory.set_word(which.word(span, head.before_arguments() + 8 * i), argument);
        }
        if !message.payload.is_empty() {
            let place = self.writer.place(head.before_payload(), message.payload.len());
            memory.put_span(which.start, place, message.payload);
        }
        self.writer.publish(which.lane(memory), head.total());
    }
}

/// A message that arrived, still in its ring.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    /// Its head.
    pub head: Head,
    /// Its arguments.
    pub arguments: [u64; MAX_ARGUMENTS],
    /// Where its payload is.
    pub place: Place,
    /// Its payload in the ring.
    pub span: Span,
}

/// The receiving end of a ring.
#[derive(Debug)]
pub struct Receiver {
    which: Which,
    reader: Reader,
    medium: usize,
}

impl Receiver {
    /// Of a fresh connection.
    pub fn new(sizes: Sizes, sender: usize, kind: Kind) -> Self {
        Self {
            which: Which { sender, kind, start: sizes.ring_start(sender, kind), capacity: sizes.ring },
            reader: Reader::new(sizes.ring, 0),
            medium: sizes.medium(),
        }
    }

    /// Whether a message is there, or something that will be found to be none.
    #[inline(always)]
    pub fn news(&self, memory: &Memory) -> bool {
        self.reader.known() > 0 || self.reader.news(self.which.lane(memory))
    }

    /// Takes the next message. Its bytes stay where they are until [`Receiver::tell`]. Every word is loaded once and checked as loaded, so
    /// that a peer that keeps writing can give a wrong message and nothing worse.
    #[inline(always)]
    pub fn take(&mut self, memory: &Memory) -> Result<Option<Arrived>, Broken> {
        let which = self.which;
        let there = self.reader.ready(which.lane(memory), 8)?;
        if there == 0 {
            return Ok(None);
        }
        if there < 8 || !there.is_multiple_of(8) {
            return Err(Broken::Cut { says: there.next_multiple_of(8), there });
        }
        let start = self.reader.place(0, 8);
        let head = Head::of(memory.word(which.word(start, 0)))?;
        let total = head.total();
        if total > there || (!head.bulk && head.len as usize > self.medium) {
            return Err(Broken::Cut { says: total, there });
        }
        let place = if head.bulk {
            let word = memory.word(which.word(start, 8));
            Place::Region { region: (word >> 32) as u32, at: word as u32 }
        } else {
            Place::Ring
        };
        let mut arguments = [0; MAX_ARGUMENTS];
        for (i, argument) in arguments.iter_mut().take(head.arguments.into()).enumerate() {
            *argument = memory.word(which.word(start, head.before_arguments() + 8 * i));
        }
        let span = self.reader.place(head.before_payload(), if head.bulk { 0 } else { head.len as usize });
        self.reader.consume(total);
        Ok(Some(Arrived { head, arguments, place, span }))
    }

    /// Where the ring starts in memory.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.which.start
    }

    /// Tells the sender of what was taken, once it is a quarter of the ring: the news costs a line that moves between CPUs, and a
    /// record is at most little more than a quarter, so the sender never waits for the rest. True if the sender was told.
    #[inline(always)]
    pub fn tell(&mut self, memory: &Memory) -> bool {
        self.reader.tell(self.which.lane(memory), self.which.capacity.bytes() / 4)
    }

    /// Tells it of all.
    pub fn tell_all(&mut self, memory: &Memory) -> bool {
        self.reader.tell(self.which.lane(memory), 1)
    }
}
