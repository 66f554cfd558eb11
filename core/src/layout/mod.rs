//! Values and buckets: which values share a count. Pure and `const`.

pub(crate) mod bucket;
pub(crate) mod indexer;
pub(crate) mod indices;
pub(crate) mod layout;
