//! A `GenerateContent` body from the parts of the usual case.

use serde_json::{Map, Value, json};

/// The usual case of a request. Anything else is a raw body of the caller's own.
#[derive(Debug, Clone, Default)]
pub struct RequestBody<'a> {
    /// What the user says.
    pub prompt: Option<&'a str>,
    /// The system instruction.
    pub system: Option<&'a str>,
    /// Earlier contents, each a JSON object.
    pub history: &'a [String],
    /// Functions that the model may call.
    pub tools: Vec<ToolDeclaration<'a>>,
    /// A JSON schema for the answer.
    pub schema: Option<&'a str>,
    /// A `generationConfig` object.
    pub generation_config: Option<&'a str>,
}

/// A function that the model may call.
#[derive(Debug, Clone)]
pub struct ToolDeclaration<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does, for the model.
    pub description: &'a str,
    /// The JSON schema of its arguments.
    pub parameters: Option<&'a str>,
}

/// A part of a request that is not the JSON it has to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Neither a prompt nor a history.
    #[error(
        "there is nothing to answer: give `prompt`, or a `history` that ends with the user's word"
    )]
    NothingAsked,
    /// A field that is not a JSON object.
    #[error("`{field}` has to be a JSON object: {problem}")]
    NotAnObject {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl RequestBody<'_> {
    /// The body as JSON.
    ///
    /// # Errors
    /// [`BodyError`] where something is missing or no JSON object.
    pub fn to_json(&self) -> Result<String, BodyError> {
        let mut contents = Vec::with_capacity(self.history.len() + 1);
        for content in self.history {
            contents.push(Value::Object(object("history", content)?));
        }
        if let Some(prompt) = self.prompt {
            contents.push(json!({"role": "user", "parts": [{"text": prompt}]}));
        }
        if contents.is_empty() {
            return Err(BodyError::NothingAsked);
        }
        let mut body = Map::new();
        body.insert("contents".to_owned(), contents.into());
        if let Some(system) = self.system {
            body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": system}]}));
        }
        if !self.tools.is_empty() {
            let declarations = self.tools.iter().map(ToolDeclaration::to_value);
            let declarations = declarations.collect::<Result<Vec<_>, _>>()?;
            body.insert("tools".to_owned(), json!([{"functionDeclarations": declarations}]));
        }
        let mut config = match self.generation_config {
            Some(config) => object("generation_config", config)?,
            None => Map::new(),
        };
        if let Some(schema) = self.schema {
            let schema = object("schema", schema)?;
            config.insert("responseMimeType".to_owned(), "application/json".into());
            config.insert("responseJsonSchema".to_owned(), schema.into());
        }
        if !config.is_empty() {
            body.insert("generationConfig".to_owned(), config.into());
        }
        Ok(Value::Object(body).to_string())
    }
}

impl ToolDeclaration<'_> {
    fn to_value(&self) -> Result<Value, BodyError> {
        let mut declaration = Map::new();
        declaration.insert("name".to_owned(), self.name.into());
        if !self.description.is_empty() {
            declaration.insert("description".to_owned(), self.description.into());
        }
        if let Some(parameters) = self.parameters {
            let parameters = object("parameters", parameters)?;
            declaration.insert("parametersJsonSchema".to_owned(), parameters.into());
        }
        Ok(declaration.into())
    }
}

fn object(field: &'static str, json: &str) -> Result<Map<String, Value>, BodyError> {
    serde_json::from_str(json)
        .map_err(|error| BodyError::NotAnObject { field, problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_case_is_one_body() {
        let body = RequestBody {
            prompt: Some("Hi"),
            system: Some("Be brief."),
            history: &[
                r#"{"role":"model","parts":[{"text":"b","thoughtSignature":"s"}]}"#.to_owned()
            ],
            tools: vec![ToolDeclaration {
                name: "refund",
                description: "Pays back",
                parameters: Some(r#"{"type":"object"}"#),
            }],
            schema: Some(r#"{"type":"array"}"#),
            generation_config: Some(r#"{"temperature":0.1}"#),
        };
        let json: Value = serde_json::from_str(&body.to_json().unwrap()).unwrap();
        let expected = json!({
            "contents": [
                {"role": "model", "parts": [{"text": "b", "thoughtSignature": "s"}]},
                {"role": "user", "parts": [{"text": "Hi"}]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{
                "name": "refund",
                "description": "Pays back",
                "parametersJsonSchema": {"type": "object"},
            }]}],
            "generationConfig": {
                "temperature": 0.1,
                "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "array"},
            },
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn a_bare_prompt_sends_nothing_else_and_nothing_at_all_is_refused() {
        let bare = RequestBody { prompt: Some("Hi"), ..RequestBody::default() };
        let expected = r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#;
        let json: Value = serde_json::from_str(&bare.to_json().unwrap()).unwrap();
        assert_eq!(json, serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(RequestBody::default().to_json(), Err(BodyError::NothingAsked));
        let list = RequestBody { generation_config: Some("[]"), ..bare };
        assert!(matches!(list.to_json(), Err(BodyError::NotAnObject { .. })));
    }
}
