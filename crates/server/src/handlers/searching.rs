//! `session/search`: words in what was said. It reads the log from its end, and only events that say something; there is
//! no index to keep, and one call reads a bounded part.

use roost_log::{Entry, StreamId};
use roost_model::content::{AssistantContentBlock, TranscriptContentBlock, TranscriptMessage};
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType as Type};
use roost_rpc::{Fault, SearchHit, SearchHitKind, SessionSearchParams, SessionSearchResult};

use super::history::listed_sessions;
use crate::fault;
use crate::host::Sessions;
use crate::inline_artifacts::inline_texts;

const HITS: u32 = 20;
const MAX_HITS: u32 = 100;
/// Hits of one session, so that a long one does not hide the others.
const PER_SESSION: usize = 3;
/// Sessions and bytes that one call reads; the next call goes on.
const MAX_SESSIONS: usize = 500;
const MAX_BYTES: usize = 32 << 20;
/// Events of one read of the log.
const PAGE: usize = 500;
/// Characters and words of a query.
const MAX_QUERY: usize = 200;
const MAX_WORDS: usize = 8;
/// Characters of an excerpt before the first word, and in all.
const BEFORE: usize = 40;
const EXCERPT: usize = 160;

const SPEAKING: [Type; 4] = [Type::TaskStarted, Type::TaskSteered, Type::ModelOutputCompleted, Type::ToolCallRequested];

pub(crate) async fn search(sessions: &Sessions, params: SessionSearchParams) -> Result<SessionSearchResult, Fault> {
    let words = Words::parse(&params.query)?;
    let limit = params.limit.unwrap_or(HITS).clamp(1, MAX_HITS) as usize;
    let offset = params.offset.unwrap_or(0) as usize;
    let all = listed_sessions(sessions).await?;
    let (mut hits, mut bytes, mut searched) = (Vec::new(), 0, 0);
    for record in all.iter().skip(offset).take(MAX_SESSIONS) {
        if hits.len() >= limit || bytes >= MAX_BYTES {
            break;
        }
        let most = PER_SESSION.min(limit - hits.len());
        let found = search_session(sessions, record.session_id.as_str(), &words, most).await?;
        hits.extend(found.hits);
        bytes += found.bytes;
        searched += 1;
    }
    let end = offset + searched;
    let next_offset = (end < all.len()).then(|| u32::try_from(end).unwrap_or(u32::MAX));
    Ok(SessionSearchResult { hits, searched: searched as u64, next_offset })
}

struct Found {
    hits: Vec<SearchHit>,
    /// How much was read, of the log and beside it.
    bytes: usize,
}

/// The latest hits in a session. A session that is bigger than what one call reads is searched from its end to there.
async fn search_session(sessions: &Sessions, id: &str, words: &Words, most: usize) -> Result<Found, Fault> {
    let (stream, mut before) = (StreamId::from(id), u64::MAX);
    let mut found = Found { hits: Vec::new(), bytes: 0 };
    loop {
        let page = sessions.log.read_back(&stream, before, &SPEAKING, PAGE).await.map_err(fault::log)?;
        for entry in page.batch.iter().collect::<Vec<_>>().into_iter().rev() {
            before = entry.seq();
            search_event(sessions, id, &entry, words, &mut found).await?;
            if found.hits.len() >= most || found.bytes >= MAX_BYTES {
                return Ok(found);
            }
        }
        if !page.has_more || page.batch.is_empty() {
            return Ok(found);
        }
    }
}

async fn search_event(
    sessions: &Sessions,
    id: &str,
    entry: &Entry<'_>,
    words: &Words,
    found: &mut Found,
) -> Result<(), Fault> {
    found.bytes += entry.json().len();
    if !words.may_be_in(entry.json()) {
        return Ok(());
    }
    let event = inline_texts(sessions.engine.artifacts(), entry.event().map_err(fault::log)?).await.into_owned();
    let Some((kind, text)) = said(&event) else { return Ok(()) };
    // A big text lies beside the log, and was read as well.
    found.bytes += text.len();
    found.hits.extend(words.excerpt(&text).map(|excerpt| SearchHit {
        session_id: id.to_owned(),
        seq: entry.seq(),
        time: event.time,
        kind,
        excerpt,
    }));
    Ok(())
}

/// What an event says, as text.
fn said(event: &NormalizedEvent) -> Option<(SearchHitKind, String)> {
    match &event.body {
        EventBody::TaskStarted(started) => Some((SearchHitKind::Prompt, prompt_text(&started.messages))),
        EventBody::TaskSteered(steered) => {
            Some((SearchHitKind::Prompt, prompt_text(std::slice::from_ref(&steered.message))))
        }
        EventBody::ModelOutputCompleted(output) => {
            let text = output.content.iter().filter_map(|block| match block {
                AssistantContentBlock::Text { text } => Some(text.as_str()),
                AssistantContentBlock::Code { code, .. } => Some(code.as_str()),
                _ => None,
            });
            Some((SearchHitKind::Answer, text.collect::<Vec<_>>().join(" ")))
        }
        EventBody::ToolCallRequested(call) => Some((SearchHitKind::ToolCall, format!("{} {}", call.name, call.input))),
        _ => None,
    }
}

fn prompt_text(messages: &[TranscriptMessage]) -> String {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(|block| match block {
        TranscriptContentBlock::Text { text } => Some(text.as_str()),
        TranscriptContentBlock::Code { code, .. } => Some(code.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The words of a query, in lower case.
struct Words(Vec<String>);

impl Words {
    fn parse(query: &str) -> Result<Self, Fault> {
        let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
        match words.len() {
            0 => Err(Fault::params("query has no word to look for")),
            1..=MAX_WORDS if query.chars().count() <= MAX_QUERY => Ok(Self(words)),
            _ => Err(Fault::params(format_args!("query has {MAX_WORDS} words and {MAX_QUERY} characters at most"))),
        }
    }

    /// Whether it is worth reading an event, by its JSON. A text that lies beside its event is not in there, and JSON
    /// writes some characters in other ways.
    fn may_be_in(&self, json: &str) -> bool {
        let low = json.to_lowercase();
        let is_escaped = |word: &str| word.contains(['"', '\\']) || word.chars().any(char::is_control);
        low.contains("artifact_ref") || self.0.iter().all(|word| is_escaped(word) || low.contains(word.as_str()))
    }

    /// The text around the first word, if all of them occur.
    fn excerpt(&self, text: &str) -> Option<String> {
        let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
        // One character becomes one character, so that places in both are the same.
        let low: Vec<char> =
            line.iter().map(|character| character.to_lowercase().next().unwrap_or(*character)).collect();
        let low_text: String = low.iter().collect();
        if !self.0.iter().all(|word| low_text.contains(word.as_str())) {
            return None;
        }
        let at = self.0.first().and_then(|word| low_text.find(word.as_str()))?;
        let first = low_text[..at].chars().count();
        let begin = first.saturating_sub(BEFORE);
        let end = line.len().min(begin + EXCERPT);
        let cut = |is_cut| if is_cut { "…" } else { "" };
        Some(format!("{}{}{}", cut(begin > 0), line[begin..end].iter().collect::<String>(), cut(end < line.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(query: &str, text: &str) -> Option<String> {
        Words::parse(query).unwrap().excerpt(text)
    }

    #[test]
    fn every_word_must_occur_whatever_its_case() {
        assert_eq!(excerpt("PARSER test", "A test\n of the Parser").as_deref(), Some("A test of the Parser"));
        assert_eq!(excerpt("parser tests", "a test of the parser"), None);
        assert_eq!(excerpt("ÄPFEL", "zwei äpfel").as_deref(), Some("zwei äpfel"));
    }

    #[test]
    fn an_excerpt_is_short_and_shows_the_first_word() {
        let long = format!("{} needle {}", "é".repeat(500), "z ".repeat(500));
        let shown = excerpt("needle", &long).unwrap();
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
        assert_eq!(shown.chars().count(), EXCERPT + 2);
    }

    #[test]
    fn a_query_is_one_to_eight_words() {
        for refused in ["", "  ", "a b c d e f g h i", &"a".repeat(MAX_QUERY + 1)] {
            assert!(Words::parse(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_word_that_json_escapes_is_still_looked_for() {
        let words = Words::parse(r#"say"hello"#).unwrap();
        assert!(words.may_be_in(r#"{"text":"say\"hello\""}"#));
        assert!(!Words::parse("other").unwrap().may_be_in(r#"{"text":"hello"}"#));
    }
}
