//! Functions for builds that cannot do the work: they only return an error.

/// Functions with the same signatures as elsewhere, which return the `refusal()` that is in scope.
#[doc(hidden)]
#[macro_export]
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
pub use refused;
