//! Clocks and performance counters: all that touches the OS or the CPU.
