//! Prints the figures, a name and a number a line, as this machine reckons them.

fn main() {
    for (name, figure) in pure::figures() {
        println!("{name}\t{figure:e}");
    }
}
