//! Which words before a full stop take the stop for themselves: abbreviations, initials, numbers.

/// What a full stop after a word says, as far as the word alone can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ends a sentence unless a small letter follows.
    End,
    /// Never ends one: an end that is missed costs a sentence, a wrong one tears it in two.
    Never,
    /// Ends one only if a letter that is not small follows ("etc.", "usw.", "p.m.").
    BeforeCapital,
    /// Belongs to a number that follows ("No. 5", "Jan. 3"), else ends a sentence.
    UnlessDigit,
    /// A bare number: a capital must follow, and not a word that takes an ordinal ("3. Oktober").
    Ordinal,
}

/// The words around a full stop that a verdict needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    /// What stands directly before the stop, back to the last white space.
    pub(super) word: &'a str,
    /// The word before that one in the same sentence, or nothing.
    pub(super) previous: &'a str,
    /// How many whole words of this sentence, or line, come before `word`.
    pub(super) position: usize,
}

// In these lists an entry in small letters matches with a capital too ("approx", "Approx");
// an entry with a capital only as it is written, because small it is a word that ends sentences.

/// Abbreviations that go on, whatever follows.
const NEVER: &[&str] = &[
    // English
    "Dr", "Drs", "Mr", "Mrs", "Ms", "Messrs", "Prof", "Rev", "Hon", "Gen", "Col", "Capt", "lt",
    "Cmdr", "Sgt", "Maj", "Gov", "Sen", "Rep", "Supt", "Pres", "St", "Ste", "Mt", "Ft", "vs",
    "approx", "esp", "cf", "viz", "al", "resp", "Ph", "pp", "vol", "vols", "eds", "Ed", "eq",
    "eqs", "figs", "Fig", "Dept", "Univ", "Assn", "Bros", "Blvd", "Rd", "incl", "excl", "abbr",
    "Co", "Eq", "Ex", "Ave", "dept", "aka", "Est", "misc", "assoc", "Msgr", "Sec", "Sect", "Ch",
    // German
    "Hr", "Hrn", "Frl", "Dipl", "Ing", "nr", "bzw", "ggf", "ggfs", "evtl", "inkl", "zzgl", "exkl",
    "vgl", "sog", "bspw", "usf", "abb", "Abs", "Abt", "Kap", "Bd", "Bde", "Hrsg", "Aufl", "Mio",
    "Mrd", "Tsd", "Tel", "Str", "ca", "mind", "allg", "bzgl", "ehem", "geb", "Ges", "lfd", "od",
    "rer", "nat", "stv", "urspr", "verh", "Ziff", "Stk", "Std", "Sek", "hl", "insb", "insbes",
    "einschl", "gegr", "gest", "jew", "Jhd", "Mag", "Mwst", "o.g", "betr", "med", "jur", "iur",
    "habil", "h.c", "entspr", "zit", // French
    "MM", "Mme", "Mmes", "Mlle", "Mgr", "env", "av", "Éd", "chap", "Tél", "c.-à-d", "Bd", "Me",
    // Spanish, Portuguese, Italian
    "Sr", "Sra", "Srta", "Sres", "Dra", "Ud", "Uds", "Vd", "Vds", "ej", "pág", "págs", "núm",
    "aprox", "Prov", "EE", "UU", "Dña", "Gral", "Lic", "Avda", "Dott", "Sig", "Sigg", "Avv",
    "Arch", "pag", "pagg", "cfr", "Dn", "Ing", "Exmo", "Ilmo", "tel", "máx", "mín", "Cía",
    // Dutch, Nordic, Polish, Czech
    "bijv", "dhr", "mevr", "bl.a", "f.eks", "t.ex", "np", "tzv", "např", "tj", "dvs", "m.fl",
    // Russian
    "т.е", "т.к", "т.д", "т.п", "им", "ул", "стр", "руб", "тыс", "млн", "млрд", "рис", "см", "проф",
];

/// Abbreviations that often close a sentence too.
const BEFORE_CAPITAL: &[&str] = &[
    "etc", "usw", "ecc", "osv", "enz", "Jr", "Snr", "Inc", "Ltd", "Corp", "LLC", "plc", "Chr",
    "Jh", "Jhs", "ff", "Esq", "др", "пр", "гг",
];

/// Abbreviations only where a number follows: most are words as well.
const UNLESS_DIGIT: &[&str] = &[
    "no", "nos", "art", "arts", "sec", "sect", "ch", "para", "ex", "fig", "ref", "app", "cl",
    "tab", "op", "ver", "pt", "n°", "nº", "max", "min", "est", "cap", "num", "lib", "ed", "col",
    "abs", // Months and days, only with a capital: "He sat." is none.
    "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Okt", "Nov", "Dec",
    "Dez", "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
];

/// Words after which a number of one or two digits is a German ordinal ("am 3. Tag").
const BEFORE_AN_ORDINAL: &[&str] = &[
    "am", "der", "den", "dem", "vom", "zum", "zur", "im", "beim", "das", "des", "bis", "seit",
    "ab", "jeder", "jedem", "jeden", "jedes", "dieser", "dieses", "diesem", "diesen",
];

/// Words that take an ordinal before them and keep their capital in mid-sentence.
pub(super) const AFTER_AN_ORDINAL: &[&str] = &[
    "Januar",
    "Jänner",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
    "Jahrhundert",
    "Jahrhunderts",
    "Jahrhunderte",
    "Weltkrieg",
    "Weltkriegs",
    "Weltkrieges",
    "Auflage",
    "Klasse",
    "Kapitel",
    "Platz",
    "Tag",
    "Stock",
    "Etage",
    "Runde",
    "Semester",
    "Bundesliga",
    "Liga",
    "Absatz",
    "Jahrestag",
    "Geburtstag",
];

/// Every word of these lists.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    [NEVER, BEFORE_CAPITAL, UNLESS_DIGIT, BEFORE_AN_ORDINAL, AFTER_AN_ORDINAL]
        .into_iter()
        .flatten()
        .copied()
}

/// What a full stop after `before.word` means.
pub(super) fn verdict(before: Before<'_>) -> Verdict {
    if before.word.is_empty() {
        // A stop that stands alone (" .5", ". ."): there is no sentence before it.
        return Verdict::Never;
    }
    let word = trim_openers(before.word);
    if word.is_empty() {
        return Verdict::End;
    }
    if word.chars().all(|c| c.is_numeric() || c == '.') {
        return number(word, before);
    }
    if matches!(word, "a.m" | "p.m" | "A.M" | "P.M") {
        return Verdict::BeforeCapital;
    }
    if single_letters(word) || roman_marker(word, before.position) {
        return Verdict::Never;
    }
    if listed(BEFORE_CAPITAL, word) {
        Verdict::BeforeCapital
    } else if listed(NEVER, word) {
        Verdict::Never
    } else if listed(UNLESS_DIGIT, word) {
        Verdict::UnlessDigit
    } else {
        Verdict::End
    }
}

fn listed(list: &[&str], word: &str) -> bool {
    if list.contains(&word) {
        return true;
    }
    let mut chars = word.chars();
    let Some(first) = chars.next().filter(|c| c.is_uppercase()) else { return false };
    let small: String = first.to_lowercase().chain(chars).collect();
    list.contains(&small.as_str())
}

/// A number ends a sentence where it can be neither a marker ("3."), a label ("Step 1.") nor a
/// German ordinal.
fn number(word: &str, before: Before<'_>) -> Verdict {
    let short = word.chars().count() <= 3;
    let labelled = before.position == 0 || (before.position == 1 && short);
    let previous = before.previous.to_lowercase();
    let ordinal = word.len() <= 2 && BEFORE_AN_ORDINAL.contains(&previous.as_str());
    if labelled || ordinal { Verdict::Never } else { Verdict::Ordinal }
}

/// "J", "z", "U.S", "i.d.R": initials, and abbreviations by first letters.
fn single_letters(word: &str) -> bool {
    word.split('.').all(|part| {
        let mut chars = part.chars();
        // Scripts without case have one-character words that end sentences.
        matches!((chars.next(), chars.next()), (Some(c), None) if c.is_lowercase() || c.is_uppercase())
    })
}

/// "iv." where a line begins is a marker, as "4." would be.
fn roman_marker(word: &str, position: usize) -> bool {
    position == 0
        && word.len() <= 6
        && (word.chars().all(|c| "ivxl".contains(c)) || word.chars().all(|c| "IVXL".contains(c)))
}

/// Takes off what stands before a word without being part of it: quotes, brackets, emphasis.
fn trim_openers(word: &str) -> &str {
    word.trim_start_matches(|c: char| {
        matches!(c, '(' | '[' | '{' | '*' | '_' | '~' | '"' | '\'' | '¿' | '¡')
            || matches!(c, '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '‹' | '（' | '「' | '『')
    })
}
