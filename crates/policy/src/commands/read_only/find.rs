//! `find`, whose options and tests are whole words, such as `-name`.

use super::table;
use crate::shell::PlainWord;

/// Words without a value.
const FLAGS: &str = "-H -L -P -E -X -x -s -d -depth -xdev -mount -empty -executable -readable -writable -nouser -nogroup \
    -print -print0 -ls -prune -quit -not ! -a -and -o -or , ( ) -follow -true -false -daystart -noleaf -warn -nowarn \
    -ignore_readdir_race";
/// Words with one value.
const VALUED: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size \
    -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -newerct -newerat -newerBt -maxdepth -mindepth \
    -perm -user -group -uid -gid -links -inum -samefile -lname -ilname -fstype -printf";

pub(super) fn reads(args: &[PlainWord]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let fine = match arg {
            PlainWord::Literal(word) if word == "-exec" => runs_a_reader(&mut args),
            PlainWord::Literal(word) if VALUED.split_ascii_whitespace().any(|known| known == word) => {
                args.next().and_then(PlainWord::literal).is_some_and(is_value)
            }
            PlainWord::Literal(word) if word.starts_with(['-', '!', '(', ')', ',']) => {
                FLAGS.split_ascii_whitespace().any(|known| known == word)
            }
            PlainWord::Literal(_) => true,
            PlainWord::Files(_) => !arg.may_be_option(),
            PlainWord::Variable => false,
        };
        if !fine {
            return false;
        }
    }
    true
}

/// Whether the program of an `-exec`, which is taken up to its end, only reads whatever files it is given. The names
/// begin with the folder that is searched, so none of them is an option.
fn runs_a_reader<'a>(args: &mut impl Iterator<Item = &'a PlainWord>) -> bool {
    let mut command: Vec<&str> = Vec::new();
    loop {
        match args.next() {
            Some(PlainWord::Literal(word)) if word == ";" => break,
            // Anywhere else, `+` is an argument.
            Some(PlainWord::Literal(word)) if word == "+" && command.last() == Some(&"{}") => break,
            Some(PlainWord::Literal(word)) if word != "+" => command.push(word),
            _ => return false,
        }
    }
    let Some((program, args)) = command.split_first() else { return false };
    let found = |arg: &&str| match *arg {
        "{}" => PlainWord::Files("./*".to_owned()),
        arg => PlainWord::Literal(arg.to_owned()),
    };
    table::reads(program, &args.iter().map(found).collect::<Vec<_>>())
}

/// A value does not look like an action, so that a version with other options cannot take it for one.
fn is_value(value: &str) -> bool {
    match value.strip_prefix('-') {
        Some(rest) => rest.starts_with(|c: char| c.is_ascii_digit()) || matches!(rest, "u+x" | "g+w" | "o+w"),
        None => true,
    }
}
