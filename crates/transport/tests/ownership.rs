//! No memory of a link outlives the link. The only test of its program: nobody else maps memory meanwhile, so that an address tells whose
//! memory it is.

use std::time::Duration;

use transport::{Asked, Buffer, Capabilities, End, Link, LinkError, Room};

/// A link that remembers where the memory is that it made, and when it ends looks whether any of that is still there.
#[derive(Default)]
struct Domain(Vec<usize>);

impl Link for Domain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::plain()
    }
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        let memory = asked.ordinary()?;
        self.0.push(memory.as_ptr().addr());
        Ok(memory)
    }
    fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
        Ok(())
    }
    fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
        Ok(())
    }
    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        Ok(())
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(true)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        for at in &self.0 {
            assert!(!mapped(*at), "memory of this link is still there");
        }
    }
}

/// Whether memory is at this address.
fn mapped(at: usize) -> bool {
    let number = |text| usize::from_str_radix(text, 16).unwrap();
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().any(|line| {
        let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap();
        (number(from)..number(to)).contains(&at)
    })
}

#[test]
fn memory_ends_before_its_link() {
    let two = [64 << 20, 65 << 20].map(|len| Room::of(len, 4096));
    let made = |end: &mut End<Domain>| {
        end.lend(&two[0], &two[1]).unwrap();
        assert!(end.0.len() == 2 && end.0.iter().all(|at| mapped(*at)), "both are there while the link is");
    };
    let mut end = End::new(Domain::default());
    made(&mut end);
    drop(end);
    let mut end = End::new(Domain::default());
    made(&mut end);
    // Behind a decorator a link has memory of its own.
    drop(end.into_link());
    let mut end = End::new(Domain::default());
    made(&mut end);
    // What is put in its place takes nothing over.
    end = End::new(Domain::default());
    made(&mut end);
}
