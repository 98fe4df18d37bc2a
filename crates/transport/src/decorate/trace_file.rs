//! Where `--trace` writes.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A file that traces are appended to. One that can't be opened fails at the first line, so that the error reaches
/// whoever uses the link.
#[derive(Debug)]
pub struct TraceFile(io::Result<BufWriter<File>>);

impl TraceFile {
    /// Lines go behind what the file holds.
    pub fn append(path: &Path) -> Self {
        Self(OpenOptions::new().append(true).create(true).open(path).map(BufWriter::new))
    }

    fn file(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.0.as_mut().map_err(|e| io::Error::new(e.kind(), e.to_string()))
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_opened_fails_at_the_first_line() {
        let mut file = TraceFile::append(Path::new("/no/such/directory/trace"));
        assert_eq!(file.write(b"x").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(file.flush().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
