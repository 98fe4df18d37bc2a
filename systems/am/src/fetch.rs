//! Hints to the CPU that a line of the cache will be wanted. They neither read nor write, and no address makes them fault. Elsewhere than on x86-64 there are none.

/// The line at `address` will be read.
#[inline(always)]
pub fn to_read(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, at whatever address.
    unsafe {
        std::arch::asm!("prefetcht0 [{address}]", address = in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// The line at `address` will be written, so that no other CPU is to keep it. (A CPU that does not know this takes it for nothing.)
#[inline(always)]
pub fn to_write(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, at whatever address.
    unsafe {
        std::arch::asm!("prefetchw [{address}]", address = in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
