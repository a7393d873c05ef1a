//! Where requests go.

use crate::turn::Endpoint;
use url::{Host, Url};

/// A base URL that requests can be sent to.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl(String);

impl BaseUrl {
    pub(super) fn parse(text: &str, plain_http: PlainHttp) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err("give an http or https URL with a host".to_owned());
        }
        if url.scheme() == "http" && plain_http == PlainHttp::Loopback && !is_loopback(&url) {
            return Err("over plain http anybody on the way reads the key: use https, or allow \
                        plain http for a server of your own"
                .to_owned());
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

/// Where requests may go without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PlainHttp {
    /// To this machine alone.
    #[default]
    Loopback,
    /// To wherever the app says.
    Anywhere,
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
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
        BaseUrl::parse(base, PlainHttp::Anywhere).unwrap().of_method(model, Endpoint::Stream)
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
        let unary = BaseUrl::parse("https://h", PlainHttp::Loopback)
            .unwrap()
            .of_method("m", Endpoint::Unary);
        assert_eq!(unary, "https://h/v1beta/models/m:generateContent");
    }

    #[test]
    fn urls_that_would_leak_or_lead_nowhere_are_refused() {
        for base in
            ["", "h", "ftp://h", "https://", "https://h?key=K", "https://u:p@h", "file:///x"]
        {
            assert!(BaseUrl::parse(base, PlainHttp::Anywhere).is_err(), "{base}");
        }
        for model in ["", "a b", "../x", "m?x", "m#x", "models/", "m\n"] {
            assert!(!is_model_name(model), "{model}");
        }
    }

    #[test]
    fn without_tls_only_this_machine_is_asked_unless_the_app_says_so() {
        for here in
            ["http://127.0.0.1:8080", "http://[::1]", "http://localhost", "http://a.localhost"]
        {
            assert!(BaseUrl::parse(here, PlainHttp::Loopback).is_ok(), "{here}");
        }
        for away in ["http://10.0.2.2:8080", "http://h", "http://127.0.0.1.example.com"] {
            assert!(BaseUrl::parse(away, PlainHttp::Loopback).is_err(), "{away}");
            assert!(BaseUrl::parse(away, PlainHttp::Anywhere).is_ok(), "{away}");
        }
    }
}
