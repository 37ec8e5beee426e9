//! The program: opens the window.

fn main() -> anyhow::Result<()> {
    gigafringe::app::run(std::env::args_os().nth(1).map(Into::into), None)
}
