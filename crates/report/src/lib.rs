//! Pictures: terminal, SVG, PNG and one-file HTML.
