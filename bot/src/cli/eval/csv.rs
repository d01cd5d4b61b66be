//! Comma- or tab-separated values with the line on which each row begins: quotes doubled, line breaks inside quotes.

/// A row: the line of the file on which it begins, counted from 1, and its fields.
pub(super) type Row = (usize, Vec<String>);

/// All rows, empty lines left out. The error is a sentence with its line.
pub(super) fn rows(text: &str, separator: char) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut fields = vec![String::new()];
    let (mut line, mut began, mut quoted, mut was_quoted) = (1, 1, None, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let field = match fields.last_mut() {
            Some(field) => field,
            None => return Err(format!("line {line}: the row cannot be read")),
        };
        match c {
            '"' if quoted.is_some() && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted.is_some() => quoted = None,
            // A quote inside an unquoted field is a letter like others: inches, for one.
            '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (Some(line), true),
            '\n' => {
                line += 1;
                if quoted.is_some() {
                    field.push('\n');
                } else {
                    close(&mut rows, began, std::mem::replace(&mut fields, vec![String::new()]));
                    (began, was_quoted) = (line, false);
                }
            }
            '\r' if quoted.is_none() && chars.peek() == Some(&'\n') => {}
            c if c == separator && quoted.is_none() => {
                fields.push(String::new());
                was_quoted = false;
            }
            c => field.push(c),
        }
    }
    if let Some(line) = quoted {
        return Err(format!("line {line}: a quotation mark is opened and never closed"));
    }
    close(&mut rows, began, fields);
    Ok(rows)
}

fn close(rows: &mut Vec<Row>, began: usize, fields: Vec<String>) {
    if fields.iter().any(|field| !field.trim().is_empty()) {
        rows.push((began, fields));
    }
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn quotes_hold_commas_and_lines() {
        let read = rows("text,category\n\"a, \"\"b\"\"\nc\",x\r\n\nd 5\" pipe,y", ',').expect("it is whole");
        let read: Vec<(usize, Vec<&str>)> = read
            .iter()
            .map(|(line, fields)| (*line, fields.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            read,
            [
                (1, vec!["text", "category"]),
                (2, vec!["a, \"b\"\nc", "x"]),
                (5, vec!["d 5\" pipe", "y"])
            ]
        );
    }

    #[test]
    fn an_open_quote_is_named_by_its_line() {
        assert_eq!(
            rows("a,b\n\"open,x\ny,z", ','),
            Err("line 2: a quotation mark is opened and never closed".into())
        );
    }
}
