//! Splits a patch into one part for each file.

/// The part of a patch about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch<'a> {
    /// The file's path, after a rename the new one.
    pub(crate) path: String,
    /// The patch creates the file.
    pub(crate) is_new: bool,
    /// git takes the file for binary and shows no lines.
    pub(crate) is_binary: bool,
    /// The header and the hunks, as git wrote them.
    pub(crate) text: &'a str,
}

/// The parts of a patch. Names with line ends are quoted by git, so a line that begins with `diff --` begins a file.
pub(crate) fn split(patch: &str) -> Vec<Patch<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive('\n') {
        if ["diff --git ", "diff --cc ", "diff --combined "].iter().any(|start| line.starts_with(start)) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).map(|(&start, end)| one(&patch[start..end])).collect()
}

fn one(text: &str) -> Patch<'_> {
    let header = || text.lines().take_while(|line| !line.starts_with("@@"));
    let after = |start: &str| header().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    let side = |start: &str, prefix: &str| {
        // After a name with spaces git puts a tab.
        let name = unquoted(after(start)?.trim_end_matches('\t'));
        name.strip_prefix(prefix).map(str::to_owned)
    };
    let path = side("+++ ", "b/")
        .or_else(|| side("--- ", "a/"))
        .or_else(|| after("rename to ").or_else(|| after("copy to ")).map(|name| unquoted(&name)))
        .unwrap_or_else(|| from_first_line(text.lines().next().unwrap_or_default()));
    Patch {
        path,
        is_new: after("new file mode ").is_some(),
        is_binary: header().any(|line| line.starts_with("Binary files ") || line == "GIT binary patch"),
        text,
    }
}

/// The name in `diff --git a/NAME b/NAME`, where both are the same, or in `diff --cc NAME`.
fn from_first_line(line: &str) -> String {
    let Some(names) = line.strip_prefix("diff --git ") else {
        return unquoted(line.splitn(3, ' ').nth(2).unwrap_or_default());
    };
    let (_, second) = names.split_at_checked(names.len() / 2).unwrap_or_default();
    let second = unquoted(second.trim_start());
    second.strip_prefix("b/").unwrap_or(&second).to_owned()
}

/// A name as git quotes it: in `"`, with C's escapes.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'v') => bytes.push(11),
            Some(first @ b'0'..=b'3') => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) {
                        value = value << 3 | (digit - b'0');
                    }
                }
                bytes.push(value);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_header_names_its_file() {
        let cases = [
            (
                "diff --git a/a b b/a b\nindex 1..2 100644\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+diff --git x\n",
                "a b",
            ),
            (
                "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
                "gone",
            ),
            ("diff --git a/mode x b/mode x\nold mode 100644\nnew mode 100755\n", "mode x"),
            ("diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", "n"),
            ("diff --git \"a/l\\nf\" \"b/l\\nf\"\nnew file mode 100644\nindex 0..e\n", "l\nf"),
            (
                "diff --git \"a/\\303\\251\\\"\" \"b/\\303\\251\\\"\"\n--- \"a/\\303\\251\\\"\"\n+++ \"b/\\303\\251\\\"\"\n",
                "é\"",
            ),
            (
                "diff --cc torn apart\nindex 1,2..3\n--- a/torn apart\t\n+++ b/torn apart\t\n@@@ -1 -1 +1 @@@\n",
                "torn apart",
            ),
        ];
        let all: String = cases.iter().map(|(text, _)| *text).collect();
        let parts = split(&all);
        assert_eq!(parts.iter().map(|part| part.path.as_str()).collect::<Vec<_>>(), cases.map(|(_, path)| path));
        assert_eq!(parts.iter().map(|part| part.text).collect::<String>(), all);
        assert!(parts[4].is_new && !parts[0].is_new);
    }

    #[test]
    fn what_is_no_text_is_named_so() {
        let binary = "diff --git a/p b/p\nnew file mode 100644\nindex 0..1\nBinary files /dev/null and b/p differ\n";
        let part = &split(binary)[0];
        assert!(part.is_binary && part.is_new);
        assert_eq!(part.path, "p");
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_breaks(patch: String) {
            let patch = format!("diff --git {patch}");
            let whole: String = split(&patch).iter().map(|part| part.text).collect();
            proptest::prop_assert_eq!(whole, patch);
        }
    }
}
