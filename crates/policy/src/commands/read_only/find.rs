//! `find`, whose options and tests are words.

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
            PlainWord::Literal(word) if word == "-exec" => {
                let command: Vec<_> =
                    args.by_ref().take_while(|arg| !matches!(arg.literal(), Some(";" | "+"))).collect();
                runs_a_reader(&command)
            }
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

/// Whether a program only reads, whatever files it is given. The names begin with the folder that is searched, so none
/// of them is an option.
fn runs_a_reader(command: &[&PlainWord]) -> bool {
    let Some((PlainWord::Literal(program), args)) = command.split_first() else { return false };
    let found = |arg: &&PlainWord| match arg.literal() {
        Some("{}") => PlainWord::Files("./*".to_owned()),
        _ => (*arg).clone(),
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
