//! The door at its boundary.

// Clippy knows the tests themselves, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod admission;
mod answering;
mod attaching;
mod attacks;
mod auth;
mod cdev;
mod conversing;
mod devices;
mod every_method;
mod files;
mod forking;
mod git;
mod hostile;
mod kit;
mod lifecycle;
mod limits;
mod live;
mod malformed;
mod metrics;
mod ordering;
mod outside;
mod past;
mod player;
mod reading_once;
mod repository;
mod rest;
mod restarting;
mod resuming;
mod routing;
mod secrecy;
mod slow_client;
mod sound;
mod stage;
mod streaming;
mod terminal;
mod uploads;
mod watching;
mod workspaces;
mod yolo;
