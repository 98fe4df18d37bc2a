//! The program's buffers, one or several, as one run of bytes.

use libc::{iovec, msghdr};

/// Buffers to be filled or emptied, and how far that has got.
#[derive(Clone, Copy)]
pub struct Buffers<'a> {
    all: &'a [iovec],
    /// Bytes of the first that are done.
    done: usize,
}

impl<'a> Buffers<'a> {
    /// None if they can't all lie in memory: what is wrong then is the kernel's to say.
    ///
    /// # Safety
    /// Each names memory that may be read, and written if it is filled, until the buffers are gone.
    pub unsafe fn new(all: &'a [iovec]) -> Option<Self> {
        let sum = all.iter().try_fold(0_usize, |sum, buffer| sum.checked_add(buffer.iov_len));
        sum.filter(|&sum| isize::try_from(sum).is_ok()).map(|_| Self { all, done: 0 })
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.all.iter().map(|buffer| buffer.iov_len).sum::<usize>() - self.done
    }

    /// The next piece, of at most `most` bytes; not empty unless all is done.
    pub fn piece(&self, most: usize) -> (*mut u8, usize) {
        let mut done = self.done;
        for buffer in self.all {
            if done < buffer.iov_len {
                // SAFETY: within the buffer.
                let start = unsafe { buffer.iov_base.cast::<u8>().add(done) };
                return (start, (buffer.iov_len - done).min(most));
            }
            done -= buffer.iov_len;
        }
        (std::ptr::null_mut(), 0)
    }

    /// `len` more bytes are done.
    pub fn pass(&mut self, len: usize) {
        self.done += len;
        while let Some((first, rest)) = self.all.split_first()
            && self.done >= first.iov_len
            && !rest.is_empty()
        {
            self.done -= first.iov_len;
            self.all = rest;
        }
    }

    /// A message for the kernel of what is left, at most `most` bytes of it; `space` is for its list.
    pub fn message<const N: usize>(&self, most: usize, space: &mut [iovec; N]) -> msghdr {
        let (mut done, mut most, mut count) = (self.done, most, 0);
        for buffer in self.all {
            if done >= buffer.iov_len {
                done -= buffer.iov_len;
                continue;
            }
            if count == N || most == 0 {
                break;
            }
            let len = (buffer.iov_len - done).min(most);
            // SAFETY: within the buffer.
            space[count] = iovec { iov_base: unsafe { buffer.iov_base.cast::<u8>().add(done) }.cast(), iov_len: len };
            (done, most, count) = (0, most - len, count + 1);
        }
        // SAFETY: integers and pointers only, for which zero is a value.
        let mut message: msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = space.as_mut_ptr();
        message.msg_iovlen = count as _;
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_no_memory_has_are_no_buffers() {
        let sums = |lengths: &[usize]| {
            let all: Vec<_> =
                lengths.iter().map(|&iov_len| iovec { iov_base: std::ptr::null_mut(), iov_len }).collect();
            // SAFETY: nothing is read or written.
            unsafe { Buffers::new(&all) }.map(|buffers| buffers.left())
        };
        let most = isize::MAX as usize;
        assert_eq!(sums(&[]), Some(0));
        assert_eq!(sums(&[3, 0, 4]), Some(7));
        assert_eq!(sums(&[most]), Some(most));
        for wrong in [&[usize::MAX][..], &[most, 1], &[usize::MAX, 1], &[most, most, most]] {
            assert_eq!(sums(wrong), None, "{wrong:?}");
        }
    }
}
