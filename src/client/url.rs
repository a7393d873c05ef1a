//! Where requests go.

use crate::turn::Endpoint;
use url::Url;

/// A base URL that requests can be sent to.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl(String);

impl BaseUrl {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err("give an http or https URL with a host".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("it must have no query: keys belong into headers, where no log shows them"
                .to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it must have no user name or password".to_owned());
        }
        let mut base = url.as_str().trim_end_matches('/').to_owned();
        if !url.path_segments().is_some_and(|mut segments| segments.any(is_version)) {
            base.push_str("/v1beta");
        }
        Ok(Self(base))
    }

    pub(super) fn of_method(&self, model: &str, endpoint: Endpoint) -> String {
        let base = &self.0;
        let collection = if model.contains('/') { "" } else { "models/" };
        match endpoint {
            Endpoint::Stream => format!("{base}/{collection}{model}:streamGenerateContent?alt=sse"),
            Endpoint::Unary => format!("{base}/{collection}{model}:generateContent"),
        }
    }
}

/// `v1`, `v1beta`, `v1beta1`, `v1alpha`
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < segment.len() - 1
            && (rest.is_empty() || rest.starts_with("beta") || rest.starts_with("alpha"))
    })
}

/// True for a model name that can stand in a path: `gemini-2.5-flash`, `tunedModels/x`.
pub(super) fn is_model_name(model: &str) -> bool {
    let segment = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@'))
    };
    model.split('/').all(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(base: &str, model: &str) -> String {
        BaseUrl::parse(base).unwrap().of_method(model, Endpoint::Stream)
    }

    #[test]
    fn a_version_in_the_base_url_is_kept_and_added_where_there_is_none() {
        let end = ":streamGenerateContent?alt=sse";
        assert_eq!(stream("http://h:1/", "m"), format!("http://h:1/v1beta/models/m{end}"));
        assert_eq!(stream("https://h/v1", "models/m"), format!("https://h/v1/models/m{end}"));
        assert_eq!(
            stream("https://h/v1beta1/projects/p/locations/l/publishers/google", "m"),
            format!("https://h/v1beta1/projects/p/locations/l/publishers/google/models/m{end}")
        );
        assert_eq!(
            stream("https://h/proxy", "tunedModels/x"),
            format!("https://h/proxy/v1beta/tunedModels/x{end}")
        );
        let unary = BaseUrl::parse("https://h").unwrap().of_method("m", Endpoint::Unary);
        assert_eq!(unary, "https://h/v1beta/models/m:generateContent");
    }

    #[test]
    fn urls_that_would_leak_or_lead_nowhere_are_refused() {
        for base in
            ["", "h", "ftp://h", "https://", "https://h?key=K", "https://u:p@h", "file:///x"]
        {
            assert!(BaseUrl::parse(base).is_err(), "{base}");
        }
        for model in ["", "a b", "../x", "m?x", "m#x", "models/", "m\n"] {
            assert!(!is_model_name(model), "{model}");
        }
    }
}
