/work/wt/body/embedded/target/debug/deps/board-dfcc25dcb7f8f63b.d: src/board.rs

/work/wt/body/embedded/target/debug/deps/libboard-dfcc25dcb7f8f63b.rmeta: src/board.rs

src/board.rs:
