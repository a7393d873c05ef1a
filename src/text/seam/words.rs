//! Why this file exists: the words models use to talk about the task, apart from the rules that
//! read them.
//!
//! All in lower case with straight apostrophes. A list per role, every language in it:
//! a German preface does not become content because the committed text is English.

/// "Sure," and the like: nothing but an assistant's nod.
#[rustfmt::skip]
pub(super) const NODS: &[&str] = &[
    "sure thing", "sure", "certainly", "of course", "absolutely", "definitely", "okay", "ok",
    "alright", "all right", "great", "understood", "got it", "no problem", "yes", "right",
    "my apologies", "apologies", "thank you", "thanks", "gerne", "sehr gerne", "natürlich", "klar",
    "na klar", "selbstverständlich", "sicher", "verstanden", "alles klar", "entschuldigung",
    "claro que sí", "claro", "por supuesto", "desde luego", "seguro", "entendido", "de acuerdo",
    "con gusto", "vale", "perdón", "disculpa", "bien sûr", "certainement", "avec plaisir",
    "d'accord", "entendu", "désolé", "volontiers", "très bien", "certo", "certamente", "va bene",
    "claro que sim", "com certeza", "natuurlijk", "zeker", "конечно", "хорошо", "네", "물론입니다",
    "물론이죠", "물론", "알겠습니다", "はい", "もちろんです", "もちろん", "承知しました",
    "承知いたしました", "かしこまりました", "わかりました", "分かりました", "了解しました",
    "了解です", "好的", "好", "当然可以", "当然", "没问题", "明白了", "明白", "可以", "当然，",
    "好吧",
];

/// Ways to point at what comes.
#[rustfmt::skip]
pub(super) const POINTERS: &[&str] = &[
    "here is", "here's", "here are", "here comes", "here you go", "below is", "below are",
    "this is the", "as requested", "the following is", "now, here", "and here", "hier ist",
    "hier sind", "hier kommt", "hier folgt", "hier die", "hier der", "hier das", "im folgenden",
    "nachfolgend", "es folgt", "nun folgt", "aquí está", "aquí tienes", "aquí tiene", "aquí va",
    "aquí sigue", "este es el", "esta es la", "a continuación", "voici", "voilà", "ci-dessous",
    "ecco", "di seguito", "aqui está", "aqui vai", "segue", "hier is", "hier volgt", "вот",
    "다음은", "여기", "以下", "それでは", "では", "こちらが", "下面", "这是", "这里是", "接下来",
];

/// Ways to say that one goes on: the word of going on is in them already.
#[rustfmt::skip]
pub(super) const GOINGS_ON: &[&str] = &[
    "continuing", "continued", "continuation", "the continuation", "to continue", "to pick up",
    "picking up", "resuming", "let me continue", "let me pick", "let me resume", "let me go on",
    "let me carry on", "let me finish", "let's continue", "let's pick", "let's resume",
    "let us continue", "i'll continue", "i'll pick", "i'll resume", "i'll carry on",
    "i will continue", "i will pick", "i will resume", "i am continuing", "i'm continuing",
    "i shall continue", "we continue", "i'm going to continue", "i am going to continue",
    "now continuing", "the text continues", "the answer continues", "the story continues",
    "the list continues", "the code continues", "here we go", "the rest of the answer",
    "the rest of the text", "the rest of the response", "the remaining text",
    "the remaining part of", "going on", "carrying on", "following on", "next number", "next part",
    "the next part", "next item", "cont.", "cont'd", "hier geht es weiter", "hier geht's weiter",
    "weiter geht", "es geht weiter", "so geht es weiter", "fortsetzung", "die fortsetzung",
    "ich setze", "ich fahre", "ich mache weiter", "und weiter", "weiter mit", "weiter im text",
    "continuación", "la continuación", "continuando", "continúo", "continuemos", "continuamos",
    "continúa", "sigo con", "seguimos", "sigamos", "siguiendo con", "para continuar", "retomando",
    "retomo", "suite", "la suite", "je continue", "je poursuis", "je reprends", "continuons",
    "poursuivons", "reprenons", "en continuant", "pour continuer", "pour poursuivre", "continuo",
    "proseguo", "proseguiamo", "la continuazione", "continuazione", "a continuação",
    "vou continuar", "het vervolg", "ik ga verder", "продолж", "계속", "이어서", "続き", "続けます",
    "引き続き", "前回の続き", "以下、続き", "以下が続き", "以下は続き", "途中から", "继续", "接着",
    "接上文", "续写", "续上文", "我继续", "我将继续", "我会继续", "我们继续", "让我继续",
    "下面继续", "以下继续",
];

/// What makes a pointer a preface: it points at the rest of this very answer.
#[rustfmt::skip]
pub(super) const RESTS: &[&str] = &[
    "continu", "the rest", "remaining", "remainder", "left off", "next number", "next item",
    "next part", "following part", "second part", "cut off", "here we go", "resum", "pick up",
    "picking up", "picks up", "carry", "go on", "going on", "finish", "fortsetz", "fortgesetzt",
    "weiter", "der rest", "den rest", "restlich", "übrig", "nächste nummer", "sigue", "sigo",
    "seguimos", "resto", "restante", "siguiente parte", "siguiente número", "suite", "reste",
    "poursui", "reprend", "prochain numéro", "seguito", "rimanen", "prosegu", "vervolg", "продолж",
    "остал", "계속", "이어", "나머지", "続き", "続け", "続ける", "残り", "继续", "接着", "续写",
    "后续", "续上", "接下来的", "剩下", "剩余", "其余", "余下", "下一个",
];

/// Only an assistant speaks of these.
#[rustfmt::skip]
pub(super) const TALK: &[&str] = &[
    "i left off", "we left off", "you left off", "it left off", "text left off", "i stopped",
    "we stopped", "it stopped", "text stopped", "text ends", "text ended", "text above",
    "previous response", "previous answer", "previous message", "last response", "last message",
    "response was", "answer was cut",  
    "the rest of the answer", "the rest of the response", "the rest of your",
    "the rest of the text", "continuation of", "without repeating", "without restating",
    "aufgehört", "stehen geblieben", "stehengeblieben", "vorherigen antwort",
    "rest der antwort", "rest des textes", "donde lo dej", "donde me qued", "donde nos qued",
    "respuesta anterior", "resto de la respuesta", "je me suis arrêté",
    "nous nous sommes arrêtés", "là où nous", "là où je", "réponse précédente",
    "mi ero fermato", "eravamo rimasti", "onde parei", "onde paramos", "gebleven", "остановил",
    "中断した", "先ほどの", "前回の", "途中から", "上文", "刚才", "中断的", "之前的回答",
    "前面的内容", "上次",
];

/// What an assistant excuses itself for.
#[rustfmt::skip]
pub(super) const INTERRUPTIONS: &[&str] = &[
    "interruption", "cutoff", "cut-off", "cut off", "interrupted", "unterbrechung", "interrupción", "interruzione",
    "interrupção", "onderbreking", "途切れ", "中断",
];

/// Nods that only an assistant gives: alone on a line they are no part of an answer.
#[rustfmt::skip]
pub(super) const SERVILE: &[&str] = &[
    "sure thing", "certainly", "absolutely", "of course", "understood", "got it", "no problem", "gerne", "sehr gerne",
    "selbstverständlich", "natürlich", "por supuesto", "con gusto", "entendido", "¡por supuesto", "certainement",
    "avec plaisir", "bien sûr", "entendu", "certamente", "承知しました", "承知いたしました", "かしこまりました", "了解しました",
    "もちろんです", "好的", "当然可以", "没问题", "明白了", "알겠습니다", "물론입니다",
];

/// An assistant's excuse.
#[rustfmt::skip]
pub(super) const EXCUSES: &[&str] = &[
    "i apologize", "i apologise", "i'm sorry", "i am sorry", "sorry", "my apologies", "apologies",
    "it looks like my", "it seems my", "it looks like the", "it seems the", "you're right",
    "my previous", "the previous response", "entschuldig", "es tut mir leid", "tut mir leid",
    "perdón", "lo siento", "disculp", "me disculpo", "désolé", "je m'excuse", "excusez",
    "toutes mes excuses", "mi scuso", "desculpe", "excuses", "извините", "죄송합니다", "申し訳",
    "すみません", "失礼しました", "抱歉", "对不起", "不好意思",
];

/// A whole line of one of these, marked up or in brackets, is a label a model puts over its reply.
#[rustfmt::skip]
pub(super) const LABELS: &[&str] = &[
    "continuation", "continued", "continuing", "continue", "cont", "cont.", "cont'd", "contd",
    "continued from above", "continuation of the answer", "continued from previous", "fortsetzung",
    "fortgesetzt", "fortsetzung der antwort", "continuación", "continúa", "suite", "la suite",
    "suite de la réponse", "continuazione", "continuação", "continua", "vervolg", "продолжение",
    "계속", "続き", "つづき", "续", "继续", "接上文", "续上文", "待续",
];

/// What an answer can be called: "continuing the list" talks about it, "continuing the tradition"
/// does not.
#[rustfmt::skip]
pub(super) const TEXTS: &[&str] = &[
    "answer", "response", "text", "story", "list", "code", "function", "essay", "letter", "article",
    "explanation", "recipe", "table", "conversation", "dialogue", "poem", "guide", "description",
    "sentence", "sequence", "numbering", "paragraph", "discussion", "script", "speech", "previous",
    "last",
];

/// Every phrase of these lists.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    [NODS, POINTERS, GOINGS_ON, RESTS, TALK, INTERRUPTIONS, SERVILE, EXCUSES, LABELS, TEXTS]
        .into_iter()
        .flatten()
        .copied()
}
