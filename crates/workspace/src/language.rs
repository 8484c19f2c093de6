//! Guesses the language of a file by its name.

use crate::index::extension;

/// Each language with its extensions, which are compared without regard to case.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("Assembly", &["asm", "s"]),
    ("C", &["c", "h"]),
    ("C#", &["cs"]),
    ("C++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    ("CSS", &["css", "less", "sass", "scss"]),
    ("Clojure", &["clj", "cljc", "cljs"]),
    ("Dart", &["dart"]),
    ("Elixir", &["ex", "exs"]),
    ("Elm", &["elm"]),
    ("Erlang", &["erl", "hrl"]),
    ("F#", &["fs", "fsx"]),
    ("Go", &["go"]),
    ("GraphQL", &["gql", "graphql"]),
    ("HCL", &["hcl", "tf"]),
    ("HTML", &["htm", "html", "xhtml"]),
    ("Haskell", &["hs", "lhs"]),
    ("INI", &["cfg", "ini"]),
    ("JSON", &["json", "json5", "jsonc", "jsonl"]),
    ("Java", &["java"]),
    ("JavaScript", &["cjs", "js", "jsx", "mjs"]),
    ("Julia", &["jl"]),
    ("Kotlin", &["kt", "kts"]),
    ("Lua", &["lua"]),
    ("Markdown", &["markdown", "md", "mdx"]),
    ("Nix", &["nix"]),
    ("OCaml", &["ml", "mli"]),
    ("Objective-C", &["m", "mm"]),
    ("PHP", &["php"]),
    ("Perl", &["pl", "pm"]),
    ("Protocol Buffers", &["proto"]),
    ("Python", &["py", "pyi", "pyw"]),
    ("R", &["r"]),
    ("Ruby", &["erb", "rake", "rb"]),
    ("Rust", &["rs"]),
    ("SQL", &["sql"]),
    ("SVG", &["svg"]),
    ("Scala", &["sbt", "scala"]),
    ("Shell", &["bash", "fish", "sh", "zsh"]),
    ("Svelte", &["svelte"]),
    ("Swift", &["swift"]),
    ("TOML", &["toml"]),
    ("TeX", &["sty", "tex"]),
    ("Text", &["rst", "text", "txt"]),
    ("TypeScript", &["cts", "mts", "ts", "tsx"]),
    ("Vue", &["vue"]),
    ("XML", &["xml", "xsd", "xsl"]),
    ("YAML", &["yaml", "yml"]),
    ("Zig", &["zig"]),
];

/// Languages by the whole file name, which are compared exactly.
const NAMES: &[(&str, &str)] = &[
    ("CMakeLists.txt", "CMake"),
    ("Dockerfile", "Dockerfile"),
    ("GNUmakefile", "Makefile"),
    ("Gemfile", "Ruby"),
    ("Justfile", "Just"),
    ("Makefile", "Makefile"),
    ("Rakefile", "Ruby"),
    ("justfile", "Just"),
    ("makefile", "Makefile"),
];

/// The language of a file of this name; `None` if it is unknown.
pub(crate) fn from_file_name(name: &str) -> Option<&'static str> {
    if let Some((_, language)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(language);
    }
    let extension = extension(name);
    if extension.is_empty() {
        return None;
    }
    let is_its = |known: &&str| known.eq_ignore_ascii_case(extension);
    EXTENSIONS.iter().find(|(_, extensions)| extensions.iter().any(&is_its)).map(|(name, _)| *name)
}
