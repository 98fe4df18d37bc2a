//! Frames of uncompressed video: their pixels, and the bytes of a pixel.

use units::thousands;

/// What a question says of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Frame {
    /// Width and height, pixels.
    pub pixels: Option<(u64, u64)>,
    /// Samples of a pixel.
    samples: Option<f64>,
    /// Bits of a sample.
    sample_bits: Option<f64>,
    /// Bits of a pixel, where they were said as a whole.
    pixel_bits: Option<f64>,
}

/// Resolutions by name: the television's, progressive; K is thousands of columns as consumer devices count them.
const NAMES: [(&str, (u64, u64)); 16] = [
    ("8k", (7680, 4320)),
    ("4320p", (7680, 4320)),
    ("5k", (5120, 2880)),
    ("4k", (3840, 2160)),
    ("uhd", (3840, 2160)),
    ("ultrahd", (3840, 2160)),
    ("2160p", (3840, 2160)),
    ("1440p", (2560, 1440)),
    ("qhd", (2560, 1440)),
    ("1080p", (1920, 1080)),
    ("fullhd", (1920, 1080)),
    ("fhd", (1920, 1080)),
    ("720p", (1280, 720)),
    ("hd", (1280, 720)),
    ("vga", (640, 480)),
    ("480p", (640, 480)),
];

/// Words of how a pixel is stored: its samples, of 8 bits each where nothing else is said.
const FORMATS: [(&[&str], f64); 5] = [
    (&["rgb", "bgr", "rgb24", "bgr24", "rgb888", "yuv444", "4:4:4"], 3.0),
    (&["rgba", "bgra", "argb", "rgbx", "rgba8888", "xrgb"], 4.0),
    (&["yuv422", "4:2:2", "yuyv", "uyvy", "yuy2"], 2.0),
    (&["yuv420", "4:2:0", "nv12", "i420", "yv12"], 1.5),
    (&["grayscale", "greyscale", "gray", "grey", "mono", "monochrome"], 1.0),
];

/// A resolution's name in small letters.
pub fn resolution(name: &str) -> Option<(u64, u64)> {
    NAMES.iter().find(|(n, _)| *n == name).map(|(_, pixels)| *pixels)
}

/// Samples of a pixel stored as the word says.
pub fn samples(word: &str) -> Option<f64> {
    FORMATS.iter().find(|(words, _)| words.contains(&word)).map(|(_, samples)| *samples)
}

impl Frame {
    /// Whether it is one picture of so many megapixels, whose sides are not known, and no frame of a video.
    pub fn is_picture(&self) -> bool {
        self.pixels.is_some_and(|(_, height)| height == 1)
    }

    /// Takes a word of how pixels are stored; whether it is one.
    pub fn stored(&mut self, word: &str) -> bool {
        let found = samples(word);
        self.samples = found.or(self.samples);
        found.is_some()
    }

    /// Takes "10 bit": of a sample up to 12, else of a pixel.
    pub fn bits(&mut self, bits: f64) {
        if bits <= 12.0 { self.sample_bits = Some(bits) } else { self.pixel_bits = Some(bits) }
    }

    /// Bytes of a frame, and the words for what they rest on. None without pixels, or where no u64 holds them.
    pub fn size(&self) -> Option<(u64, String)> {
        let (width, height) = self.pixels?;
        let said = self.samples.is_some() || self.sample_bits.is_some() || self.pixel_bits.is_some();
        let samples = self.samples.unwrap_or(3.0);
        let bits = self.pixel_bits.unwrap_or_else(|| samples * self.sample_bits.unwrap_or(8.0));
        // Twice the bits are whole: samples come in halves.
        let doubled = (bits * 2.0).round() as u128;
        let bytes = (u128::from(width) * u128::from(height)).checked_mul(doubled)?.div_ceil(16);
        let bytes = u64::try_from(bytes).ok().filter(|b| *b > 0)?;
        let taken = if said { "" } else { ", which is assumed: RGBA has 32, YUV 4:2:0 has 12" };
        // Of a picture of so many megapixels the sides are not known.
        let pixels = match height {
            1 => format!("a picture of {}", thousands(width)),
            _ => format!("a frame of {width} x {height}"),
        };
        let words = format!("{pixels} pixels of {bits} bit is {} B uncompressed{taken}", thousands(bytes));
        Some((bytes, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(name: &str, change: impl Fn(&mut Frame)) -> u64 {
        let mut frame = Frame { pixels: resolution(name), ..Frame::default() };
        change(&mut frame);
        frame.size().unwrap().0
    }

    #[test]
    fn frames_have_the_bytes_of_their_pixels() {
        assert_eq!(size("4k", |_| {}), 24_883_200);
        assert_eq!(size("1080p", |_| {}), 6_220_800);
        assert_eq!(size("8k", |_| {}), 99_532_800);
        assert_eq!(size("720p", |f| f.bits(32.0)), 3_686_400);
        assert_eq!(size("1080p", |f| assert!(f.stored("4:2:0"))), 3_110_400);
        assert_eq!(size("1080p", |f| f.bits(10.0)), 7_776_000);
        assert!(Frame { pixels: Some((u64::MAX, u64::MAX)), ..Frame::default() }.size().is_none());
    }
}
