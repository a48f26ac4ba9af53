//! Text that a client sent, cut short where a message quotes it: statuses travel in headers, which are small.

/// At most `max` characters of `text`, with a mark where some were left out.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max).and_then(|(end, _)| text.get(..end)) {
        Some(head) => format!("{head}…"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn only_long_text_is_cut_and_never_inside_a_character() {
        for (text, expect) in [("", ""), ("éé", "éé"), ("ééé", "ééé"), ("éééé", "ééé…")] {
            assert_eq!(clip(text, 3), expect);
        }
    }
}
