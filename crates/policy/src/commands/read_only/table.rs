//! Programs that read, with the options that each is known to take; one that is not here is not known to read.
//!
//! Left out on purpose: `sort -o -T --compress-program`, `tree -o -R`, `file -C -m -p -z`, `rg --pre -z`,
//! `diff --paginate`, `base64 -o`, `date -s`; and whole programs that run others (`less`, `man`, `watch`, `time`).

use super::options::{KnownOptions, Operands};
use crate::shell::PlainWord;

use Operands::{Any, AtMost, Named};

/// A program's name, its options of one letter without and with a value, its long options, its operands.
type Row = (&'static str, &'static str, &'static str, &'static str, Operands);

const GREP: &str = "include= exclude= exclude-dir= exclude-from= color? colour? line-number recursive ignore-case \
    no-ignore-case binary-files= text null null-data only-matching count files-with-matches files-without-match \
    with-filename no-filename max-count= after-context= before-context= context= extended-regexp fixed-strings \
    perl-regexp basic-regexp word-regexp line-regexp invert-match no-messages quiet silent initial-tab byte-offset label= \
    line-buffered dereference-recursive regexp= file=";
const GREP_FLAGS: &str = "EFGPivwxyclLoqsnHhbTUuZzarRI";
const RIPGREP: &str = "after-context= before-context= block-buffered byte-offset case-sensitive color= column context= \
    context-separator= count count-matches crlf debug dfa-size-limit= encoding= engine= files files-with-matches \
    files-without-match fixed-strings follow glob= glob-case-insensitive heading hidden iglob= ignore-case ignore-file= \
    include-zero invert-match json line-buffered line-number line-regexp max-columns= max-columns-preview max-count= \
    max-depth= max-filesize= mmap multiline multiline-dotall no-config no-heading no-filename no-follow no-hidden no-ignore \
    no-ignore-dot no-ignore-files no-ignore-global no-ignore-parent no-ignore-vcs no-line-number no-messages no-mmap \
    no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 pretty quiet regex-size-limit= \
    regexp= replace= smart-case sort= sortr= stats stop-on-nonmatch text threads= trace trim type= type-list type-not= \
    unrestricted vimgrep with-filename word-regexp";
const LS: &str = "all almost-all author escape block-size= ignore-backups color? directory classify? file-type format= \
    full-time group-directories-first no-group human-readable si dereference hide= hyperlink? indicator-style= inode \
    ignore= kibibytes numeric-uid-gid literal hide-control-chars quote-name quoting-style= reverse recursive size sort= \
    time= time-style= width= zero context";
const SORT: &str = "key= field-separator= numeric-sort reverse unique ignore-case general-numeric-sort \
    human-numeric-sort version-sort month-sort random-sort stable zero-terminated check? merge buffer-size= parallel= \
    dictionary-order ignore-leading-blanks ignore-nonprinting sort= debug";
const DIFF: &str = "unified? context? brief recursive side-by-side color? ignore-case ignore-all-space \
    ignore-space-change ignore-blank-lines ignore-trailing-space ignore-matching-lines= suppress-common-lines exclude= \
    label= new-file text width= minimal strip-trailing-cr report-identical-files show-c-function no-dereference normal";
const SUMS: &str = "binary check text tag zero ignore-missing quiet status strict warn";
const TREE: &str = "dirsfirst filesfirst du si inodes device noreport charset= filelimit= prune matchdirs ignore-case \
    sort= gitignore info fromfile metafirst timefmt=";
const FD: &str = "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex fixed-strings \
    absolute-path list-details follow full-path print0 max-depth= min-depth= exact-depth= exclude= type= extension= size= \
    changed-within= changed-before= color= max-results= quiet";

#[rustfmt::skip]
const PROGRAMS: &[Row] = &[
    ("arch", "", "", "", AtMost(0)),
    ("b2sum", "bctwz", "l", SUMS, Any),
    ("base64", "dD", "w", "decode wrap= ignore-garbage", Named),
    ("basename", "az", "s", "multiple suffix= zero", Any),
    ("cal", "13jmwy", "", "", Any),
    ("cat", "AbeEnstTuv", "", "number number-nonblank squeeze-blank show-all show-ends show-tabs show-nonprinting", Any),
    ("cksum", "", "", "", Any),
    ("cmp", "bls", "in", "print-bytes ignore-initial= verbose bytes= quiet silent", Any),
    ("column", "tenxJ", "csoNHRTOWl", "table separator= output-separator= columns=", Any),
    ("comm", "123iz", "", "check-order nocheck-order output-delimiter= total zero-terminated", Any),
    ("cut", "nsz", "bcdf", "delimiter= fields= characters= bytes= complement only-delimited output-delimiter=", Any),
    ("df", "ahHiklPT", "txB", "all human-readable si inodes local portability type= exclude-type= print-type total block-size= output?", Any),
    ("diff", "abBcdeEinNpqrsTuwyZ", "CUFxSIW", DIFF, Named),
    ("dirname", "z", "", "zero", Any),
    ("du", "abchHkLlmPsSx0", "dtBX", "all apparent-size bytes total max-depth= human-readable summarize exclude= threshold= si time? block-size= one-file-system separate-dirs", Any),
    ("egrep", GREP_FLAGS, "efmABCdD", GREP, Any),
    ("env", "", "", "", AtMost(0)),
    ("expand", "i", "t", "initial tabs=", Any),
    ("expr", "", "", "", Any),
    ("false", "", "", "", Any),
    ("fd", "HIuisgFalL0pq1", "etdEcjS", FD, Named),
    ("fdfind", "HIuisgFalL0pq1", "etdEcjS", FD, Named),
    ("fgrep", GREP_FLAGS, "efmABCdD", GREP, Any),
    ("file", "bhiklLNnrsv0EIS", "F", "brief mime mime-type mime-encoding dereference no-dereference separator= extension", Named),
    ("fmt", "cstu", "wpg", "width=", Any),
    ("fold", "bs", "w", "bytes spaces width=", Any),
    ("free", "bkmghltvw", "sc", "human bytes kibi mebi gibi kilo mega giga total wide si", AtMost(0)),
    ("getconf", "a", "", "", Named),
    ("grep", GREP_FLAGS, "efmABCdD", GREP, Any),
    ("groups", "", "", "", Any),
    ("head", "qvz", "nc", "lines= bytes= quiet silent verbose zero-terminated", Any),
    ("hexdump", "bcCdovx", "efns", "canonical length= skip= no-squeezing", Any),
    ("hostname", "adfiIsy", "", "", AtMost(0)),
    ("id", "agGnruzZ", "", "group groups name real user zero context", Any),
    ("join", "iz", "aetvojt12", "header check-order nocheck-order ignore-case", Any),
    ("jq", "cnrjaSCMsRe", "", "compact-output null-input raw-output join-output ascii-output sort-keys color-output monochrome-output slurp raw-input exit-status tab indent= arg= argjson= args jsonargs stream seq raw-output0", Any),
    ("locale", "ackm", "", "", Any),
    ("ls", "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1", "ITw", LS, Any),
    ("md5sum", "bctwz", "", SUMS, Any),
    ("nl", "p", "bdfhilnsvw", "body-numbering= number-format= number-width= number-separator= starting-line-number=", Any),
    ("nproc", "", "", "all ignore=", AtMost(0)),
    ("od", "abcdfFiloOsvxX", "AjNStw", "address-radix= skip-bytes= read-bytes= format= output-duplicates width? strings?", Any),
    ("paste", "sz", "d", "serial delimiters= zero-terminated", Any),
    ("pgrep", "acflnovwx", "dgGPstuU", "list-name list-full full exact newest oldest count parent= user= delimiter=", Named),
    ("printenv", "0", "", "null", Any),
    ("ps", "aAcdeEfFhHjlLmMNrSTvwxyXZ", "CGgnopPqstuU", "forest sort= format= pid= ppid= user= headers no-headers cols= columns= rows= lines= width=", Any),
    ("pwd", "LP", "", "logical physical", AtMost(0)),
    ("readlink", "efmnqsvz", "", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero", Any),
    ("realpath", "emLPqsz", "", "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks relative-to= relative-base= zero", Any),
    ("rev", "", "", "", Any),
    ("rg", "nilcwvFPUoSsNuxHIqahLp0b.", "ABCegtTmMjrdEf", RIPGREP, Named),
    ("seq", "w", "fs", "equal-width separator= format=", Any),
    ("sha1sum", "bctwz", "", SUMS, Any),
    ("sha224sum", "bctwz", "", SUMS, Any),
    ("sha256sum", "bctwz", "", SUMS, Any),
    ("sha384sum", "bctwz", "", SUMS, Any),
    ("sha512sum", "bctwz", "", SUMS, Any),
    ("shasum", "bcpstw0", "a", "algorithm= binary check text", Any),
    ("sleep", "", "", "", Any),
    ("sort", "bdfghiMmnRrsuVcCz", "ktS", SORT, Named),
    ("stat", "LtfFlnqrsx", "c", "dereference file-system format= printf= terse", Any),
    ("strings", "afow", "nte", "all print-file-name bytes= radix= encoding= include-all-whitespace", Any),
    ("sum", "rs", "", "", Any),
    ("tac", "br", "s", "before regex separator=", Any),
    ("tail", "fFqrvz", "nc", "lines= bytes= quiet silent verbose zero-terminated follow? retry pid= sleep-interval=", Any),
    ("tr", "cCdstu", "", "complement delete squeeze-repeats truncate-set1", Any),
    ("tree", "adflpsDhugcrtvUxifnCAqNQSJXF", "LPI", TREE, Named),
    ("true", "", "", "", Any),
    ("tty", "s", "", "", AtMost(0)),
    ("type", "aftpP", "", "", Any),
    ("uname", "asnrvmpio", "", "all kernel-name nodename kernel-release kernel-version machine processor operating-system", AtMost(0)),
    ("unexpand", "a", "t", "all first-only tabs=", Any),
    ("uniq", "cdDuiz", "fsw", "count repeated unique ignore-case skip-fields= skip-chars= check-chars= zero-terminated", AtMost(1)),
    ("uptime", "psV", "", "pretty since", AtMost(0)),
    ("wc", "clmwL", "", "lines words chars bytes max-line-length total=", Any),
    ("whereis", "bms", "", "", Named),
    ("which", "as", "", "", Any),
    ("whoami", "", "", "", AtMost(0)),
    ("xxd", "abeEipuC", "cglosR", "", AtMost(1)),
    ("zcat", "f", "", "", Named),
];

/// Whether this program only reads, given these arguments.
pub(super) fn reads(program: &str, args: &[PlainWord]) -> bool {
    let Some(&(_, flags, valued, long, operands)) = PROGRAMS.iter().find(|row| row.0 == program) else { return false };
    let numeric = matches!(program, "head" | "tail" | "grep" | "egrep" | "fgrep" | "diff" | "fold" | "fmt");
    let known = KnownOptions { flags, valued, long, numeric, operands };
    // In their old forms, a word that begins with a plus is an option.
    let old = matches!(program, "sort" | "uniq")
        && args.iter().any(|arg| arg.literal().is_some_and(|arg| arg.starts_with('+')));
    !old && !hides_letters(program, args) && known.accepts(args)
}

/// Whether one-letter options are combined in a way that this program reads differently from others: `xxd` only looks
/// at the first letter, and `tree` continues after a letter that takes a value.
fn hides_letters(program: &str, args: &[PlainWord]) -> bool {
    let alone = match program {
        "xxd" => "",
        "tree" => "LPI",
        _ => return false,
    };
    args.iter().filter_map(PlainWord::literal).any(|word| {
        let together = word.starts_with('-') && !word.starts_with("--") && word.len() > 2;
        together && (alone.is_empty() || word.contains(|letter| alone.contains(letter)))
    })
}

const DATE: KnownOptions = KnownOptions {
    flags: "uR",
    valued: "d",
    long: "utc universal rfc-email rfc-2822 iso-8601? rfc-3339= date=",
    numeric: false,
    operands: Named,
};

/// `date` shows the time; an operand without a plus sets it.
pub(super) fn date(args: &[PlainWord]) -> bool {
    let shows = |word: &&PlainWord| word.literal().is_some_and(|text| text.starts_with('+'));
    let short_iso = |word: &PlainWord| {
        matches!(word.literal(), Some("-I" | "-Idate" | "-Ihours" | "-Iminutes" | "-Iseconds" | "-Ins"))
    };
    let args: Vec<_> = args.iter().filter(|word| !short_iso(word)).cloned().collect();
    DATE.operands_of(&args).is_some_and(|operands| operands.iter().all(shows))
}

/// Programs that tell their version, and how they are asked. Not those that let a file of the project choose which
/// program answers: cargo and rustc (`rust-toolchain.toml`), go (`go.mod`), yarn (`yarnPath`), pnpm, dotnet.
const VERSIONED: &[(&str, &[&str])] = &[
    ("bash", &["--version"]),
    ("bun", &["--version", "-v"]),
    ("clang", &["--version"]),
    ("cmake", &["--version"]),
    ("deno", &["--version", "-V"]),
    ("gcc", &["--version"]),
    ("git", &["--version"]),
    ("java", &["-version", "--version"]),
    ("jq", &["--version"]),
    ("make", &["--version"]),
    ("node", &["--version", "-v"]),
    ("npm", &["--version", "-v"]),
    ("perl", &["--version", "-v"]),
    ("php", &["--version", "-v"]),
    ("pip", &["--version", "-V"]),
    ("pip3", &["--version", "-V"]),
    ("python", &["--version", "-V"]),
    ("python3", &["--version", "-V"]),
    ("rg", &["--version", "-V"]),
    ("ruby", &["--version", "-v"]),
    ("uv", &["--version", "-V"]),
];

/// Whether a program is only asked for its version.
pub(super) fn tells_version(program: &str, args: &[PlainWord]) -> bool {
    let [PlainWord::Literal(asked)] = args else { return false };
    VERSIONED.iter().any(|(name, ways)| *name == program && ways.contains(&asked.as_str()))
}
