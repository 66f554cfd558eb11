//! Single observations kept with their context, and why they were slow.

#[cfg(test)]
mod alone_tests;
// Nothing asks for this evidence yet.
#[allow(dead_code)]
mod bracket;
#[allow(dead_code)]
mod cgroup;
#[allow(dead_code)]
mod ring;
