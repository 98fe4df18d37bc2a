//! A canvas of braille characters: two dots across and four down in each cell.

/// Dots of a cell by (row, column), as Unicode numbers them.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// One character cell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cell {
    dots: u8,
    /// Line that drew here last.
    pub owner: Option<usize>,
    /// A letter in place of the dots.
    pub letter: Option<char>,
}

impl Cell {
    /// What the cell shows.
    pub fn glyph(self) -> char {
        match (self.letter, self.dots) {
            (Some(letter), _) => letter,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        }
    }
}

/// A canvas of `columns` by `rows` cells. Dot (0, 0) is at the upper left.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    /// An empty canvas.
    pub fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    /// Dots across and down.
    pub fn dots(&self) -> (usize, usize) {
        (self.columns * 2, self.rows * 4)
    }

    /// The cell at a column and row.
    pub fn cell(&self, column: usize, row: usize) -> Cell {
        self.cells.get(row * self.columns + column).copied().unwrap_or_default()
    }

    /// The cell of a dot; none outside of the canvas.
    pub fn at(&self, (x, y): (i64, i64)) -> Option<usize> {
        let (width, height) = self.dots();
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        (x < width && y < height).then(|| (y / 4) * self.columns + x / 2)
    }

    /// Sets one dot for a line; outside of the canvas nothing happens. Returns the cell.
    fn dot(&mut self, x: i64, y: i64, owner: usize) -> Option<usize> {
        let index = self.at((x, y))?;
        let cell = self.cells.get_mut(index)?;
        cell.dots |= BITS[y.rem_euclid(4) as usize][x.rem_euclid(2) as usize];
        cell.owner = Some(owner);
        Some(index)
    }

    /// Draws straight pieces through the given dots, and returns the cells passed, in order, each once in a row.
    pub fn path(&mut self, dots: &[(i64, i64)], owner: usize) -> Vec<usize> {
        let mut passed = Vec::new();
        let mut visit = |cell: Option<usize>| {
            if let Some(c) = cell
                && passed.last() != Some(&c)
            {
                passed.push(c);
            }
        };
        if let [(x, y)] = dots {
            visit(self.dot(*x, *y, owner));
        }
        for pair in dots.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).max(1);
            for i in 0..=steps {
                let along = |a: i64, b: i64| a + ((b - a) as f64 * i as f64 / steps as f64).round() as i64;
                visit(self.dot(along(x0, x1), along(y0, y1), owner));
            }
        }
        passed
    }

    /// Puts a letter on the cell of a dot, whatever stood there.
    pub fn put(&mut self, x: i64, y: i64, letter: char, owner: usize) {
        if let Some(cell) = self.dot(x, y, owner) {
            self.cells[cell].letter = Some(letter);
        }
    }

    /// Puts a letter on the cells of a line, each `every` cells from `first` on. Cells with a letter of another line are skipped; a line
    /// gets at least one letter if any cell is free.
    pub fn letters(&mut self, passed: &[usize], letter: char, owner: usize, first: usize, every: usize) {
        let mut due = first.min(passed.len().saturating_sub(1));
        for (i, &cell) in passed.iter().enumerate() {
            if i >= due && self.cells[cell].letter.is_none() {
                self.cells[cell].letter = Some(letter);
                self.cells[cell].owner = Some(owner);
                due = i + every;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_become_braille() {
        let mut c = Canvas::new(2, 1);
        c.path(&[(0, 0), (3, 3)], 0);
        assert_eq!((c.cell(0, 0).glyph(), c.cell(1, 0).glyph()), ('⠑', '⢄'));
    }

    #[test]
    fn nothing_is_drawn_outside() {
        let mut c = Canvas::new(1, 1);
        assert_eq!(c.path(&[(-5, -5), (-1, -1)], 0), Vec::<usize>::new());
        assert_eq!(c.path(&[(9, 9)], 0), Vec::<usize>::new());
        assert_eq!(c.cell(0, 0).glyph(), ' ');
    }

    #[test]
    fn a_short_line_still_gets_a_letter() {
        let mut c = Canvas::new(4, 1);
        let passed = c.path(&[(0, 0)], 0);
        c.letters(&passed, 'a', 0, 5, 10);
        assert_eq!(c.cell(0, 0).glyph(), 'a');
    }
}
