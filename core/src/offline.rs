//! The model that needs no provider.
