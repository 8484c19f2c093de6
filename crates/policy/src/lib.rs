//! Roost: policy.
