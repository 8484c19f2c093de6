//! Roost: proto.
