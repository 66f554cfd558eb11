//! What answers where there is nothing to answer with.

/// Functions that take what they take elsewhere, and answer with the refusal that is in scope.
macro_rules! refused {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident $arguments:tt -> $result:ty;)*) => {
        $(
            /// `Unsupported`.
            $(#[$attribute])*
            $visibility fn $name $arguments -> $result {
                Err(refusal())
            }
        )*
    };
}
pub(crate) use refused;
