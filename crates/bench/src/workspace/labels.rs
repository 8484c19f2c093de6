//! What people type to find a file, and the file that they mean.
//!
//! The files lie in every tree of the bench, among thousands whose names are made of the same words. The queries are of
//! the kinds that are typed: a name, a part of one, words, a piece of a path, the letters that words begin with.

/// What is typed, and the path that is meant.
pub(super) const LABELS: [(&str, &str); 44] = [
    // A name, whole or nearly.
    ("readme", "README.md"),
    ("cargo.toml", "Cargo.toml"),
    ("package.json", "package.json"),
    ("gitignore", ".gitignore"),
    ("dockerfile", "services/gateway/Dockerfile"),
    ("kafka.rs", "crates/pipeline/src/sources/kafka.rs"),
    ("LoginForm", "apps/web/src/components/LoginForm.tsx"),
    ("loginform.tsx", "apps/web/src/components/LoginForm.tsx"),
    ("useAuth", "apps/web/src/hooks/useAuth.ts"),
    ("webhook_handler", "services/billing/internal/http/webhook_handler.go"),
    ("rate-limits.md", "docs/guides/rate-limits.md"),
    ("conftest", "tests/conftest.py"),
    // The beginning of a name.
    ("loginf", "apps/web/src/components/LoginForm.tsx"),
    ("webhook", "services/billing/internal/http/webhook_handler.go"),
    ("conft", "tests/conftest.py"),
    ("changel", "CHANGELOG.md"),
    ("releas", ".github/workflows/release.yml"),
    ("snapsh", "crates/storage/src/snapshot.rs"),
    // A piece of a path.
    ("sinks/kafka/config", "crates/pipeline/src/sinks/kafka/config.rs"),
    ("kafka/sink", "crates/pipeline/src/sinks/kafka/sink.rs"),
    ("web/package.json", "apps/web/package.json"),
    ("storage/src/lib.rs", "crates/storage/src/lib.rs"),
    ("workflows/release", ".github/workflows/release.yml"),
    ("auth/middleware.go", "services/gateway/internal/auth/middleware.go"),
    ("docs/guides/rate", "docs/guides/rate-limits.md"),
    ("pipeline/src/main", "crates/pipeline/src/main.rs"),
    // Words in any order.
    ("kafka sink", "crates/pipeline/src/sinks/kafka/sink.rs"),
    ("gateway docker", "services/gateway/Dockerfile"),
    ("storage snapshot", "crates/storage/src/snapshot.rs"),
    ("login form", "apps/web/src/components/LoginForm.tsx"),
    ("lib storage", "crates/storage/src/lib.rs"),
    ("billing webhook", "services/billing/internal/http/webhook_handler.go"),
    // Letters that words begin with, and pieces of several words in one.
    ("lform", "apps/web/src/components/LoginForm.tsx"),
    ("whandler", "services/billing/internal/http/webhook_handler.go"),
    ("sinkskafkaconf", "crates/pipeline/src/sinks/kafka/config.rs"),
    ("srckafka", "crates/pipeline/src/sources/kafka.rs"),
    ("storlib", "crates/storage/src/lib.rs"),
    ("storsnap", "crates/storage/src/snapshot.rs"),
    ("gwauthmid", "services/gateway/internal/auth/middleware.go"),
    ("webpkg", "apps/web/package.json"),
    ("dgrate", "docs/guides/rate-limits.md"),
    ("ghrelease", ".github/workflows/release.yml"),
    ("pipemain", "crates/pipeline/src/main.rs"),
    ("uauth", "apps/web/src/hooks/useAuth.ts"),
];
