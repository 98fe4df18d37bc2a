//! The run file: writing, reading, import and export.
