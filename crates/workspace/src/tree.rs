//! Builds a tree of folders from the index.

use crate::index::{FileEntry, Index};
use crate::listing::Child;

/// A folder or a file of a tree.
#[derive(Clone, Debug)]
pub enum Node<'a> {
    /// A file, as the index has it.
    File(FileEntry<'a>),
    /// A folder with its totals, and its children if they are shown.
    Folder {
        /// Its path from the workspace's folder; empty for the workspace itself.
        path: String,
        /// Its children, folders first; absent below the greatest depth or where the tree was cut.
        children: Option<Vec<Node<'a>>>,
        /// How many files are beneath it, at any depth.
        files: usize,
        /// The size of those files together, in bytes, whether or not they are shown.
        bytes: u64,
    },
}

/// A tree of folders, limited in depth and in the number of nodes.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    /// The folder that was asked for.
    pub root: Node<'a>,
    /// The number of nodes, including the top.
    pub nodes: usize,
    /// The depth of the deepest node that is shown; 0 if only the top is.
    pub depth: usize,
    /// Whether nodes were left out because of the limit.
    pub is_cut: bool,
}

/// Builds the tree beneath a folder: `depth` levels deep, with at most `most` nodes, and with dot files only if
/// `hidden`.
pub fn tree<'a>(index: &'a Index, folder: &str, depth: usize, hidden: bool, most: usize) -> Tree<'a> {
    let mut builder = TreeBuilder { index, hidden, most, nodes: 1, reached: 0, is_cut: false };
    let root = builder.folder(folder, depth, 0);
    Tree { root, nodes: builder.nodes, depth: builder.reached, is_cut: builder.is_cut }
}

struct TreeBuilder<'a> {
    index: &'a Index,
    hidden: bool,
    most: usize,
    nodes: usize,
    reached: usize,
    is_cut: bool,
}

impl<'a> TreeBuilder<'a> {
    fn folder(&mut self, path: &str, depth: usize, level: usize) -> Node<'a> {
        self.reached = self.reached.max(level);
        let beneath = self.index.range(self.index.beneath(path));
        let (files, bytes) = beneath.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.size()));
        let children = (level < depth && !self.is_cut).then(|| self.children(path, depth, level + 1));
        Node::Folder { path: path.to_owned(), children, files, bytes }
    }

    fn children(&mut self, path: &str, depth: usize, level: usize) -> Vec<Node<'a>> {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for child in self.index.children(path) {
            let name = match &child {
                Child::File(file) => file.name(),
                Child::Folder(path) => path.rsplit('/').next().unwrap_or_default(),
            };
            if !self.hidden && name.starts_with('.') {
                continue;
            }
            if self.nodes >= self.most {
                self.is_cut = true;
                break;
            }
            self.nodes += 1;
            self.reached = self.reached.max(level);
            match child {
                Child::File(file) => files.push(Node::File(file)),
                Child::Folder(path) => folders.push(path),
            }
        }
        // Level by level, so that a cut takes away what is deep before what is near.
        let mut nodes: Vec<_> = folders.into_iter().map(|path| self.folder(path, depth, level)).collect();
        nodes.append(&mut files);
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::from_paths;

    fn drawn(node: &Node<'_>) -> String {
        match node {
            Node::File(file) => file.name().to_owned(),
            Node::Folder { path, children, files, .. } => {
                let inside: Vec<_> = children.iter().flatten().map(drawn).collect();
                format!("{path}/{files}[{}]", inside.join(" "))
            }
        }
    }

    #[test]
    fn a_tree_is_as_deep_and_as_big_as_wanted() {
        let index = from_paths(&["a/b/c.rs", "a/d.rs", "a/.x", ".git-x/y", "e"]);
        let draw = |folder, depth, hidden, most| {
            let tree = tree(&index, folder, depth, hidden, most);
            (drawn(&tree.root), tree.nodes, tree.depth, tree.is_cut)
        };
        assert_eq!(draw("", 1, false, 99), ("/5[a/3[] e]".into(), 3, 1, false));
        assert_eq!(draw("", 9, false, 99), ("/5[a/3[a/b/1[c.rs] d.rs] e]".into(), 6, 3, false));
        assert_eq!(draw("a", 1, true, 99), ("a/3[a/b/1[] .x d.rs]".into(), 4, 1, false));
        assert_eq!(draw("", 9, false, 2), ("/5[a/3[]]".into(), 2, 1, true));
    }
}
