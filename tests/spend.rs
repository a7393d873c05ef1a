//! What a turn and a client may cost, over real sockets: what is paid is told, a cap holds.

#[path = "support/turns.rs"]
mod turns;

use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::testkit::FlakyServer;
use rejoin::turn::{Budget, ErrorKind, EventKind, Policy, Signal, Spend};
use serde_json::json;
use turns::{completed, failed, responses};

/// Two attempts: 100 in and 40 + 10 out, broken; 100 in, 60 of them cached, and 30 out, whole.
fn two_attempts() -> serde_json::Value {
    json!([
        {"send": ["Half"], "usage": [100, 40, 10], "end": "reset"},
        {"send": [{"json": {"candidates": [{"content": {"parts": [{"text": "Whole."}],
            "role": "model"}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60,
            "candidatesTokenCount": 30, "totalTokenCount": 130}}}]}
    ])
}

fn priced() -> Policy {
    Policy {
        input_price: Some(1.0),
        cached_price: Some(0.25),
        output_price: Some(4.0),
        ..turns::policy()
    }
}

fn client(url: &str, policy: Policy, budget: Budget) -> Client {
    Client::builder().base_url(url).policy(policy).budget(budget).build().unwrap()
}

fn close(one: Option<f64>, other: f64) {
    assert!(one.is_some_and(|one| (one - other).abs() < 1e-12), "{one:?} is not {other}");
}

#[tokio::test]
async fn what_a_turn_cost_is_the_sum_of_its_attempts_and_says_how_sure_it_is() {
    let server = responses(two_attempts()).await;
    let client = client(&server.url(), priced(), Budget::default());
    let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = turn.last_event().await.unwrap();
    let spend = completed(&last).spend;
    let counts = (spend.input_tokens, spend.cached_tokens, spend.output_tokens);
    assert_eq!(counts, (200, 60, 80));
    close(spend.money, (140.0 + 60.0 * 0.25 + 80.0 * 4.0) / 1e6);
    assert!(spend.lower_bound, "the broken attempt may have gone on");
    assert_eq!(client.spent(), spend);
    let json = serde_json::to_value(&last).unwrap();
    assert_eq!(json["spend"]["output_tokens"], 80);
    assert_eq!(json["spend"]["lower_bound"], true);
}

#[tokio::test]
async fn without_prices_there_is_no_money_and_a_whole_attempt_is_no_lower_bound() {
    let server = responses(json!([
        {"send": ["All.", {"finish": "STOP"}], "usage": [7, 3, 0]}
    ]))
    .await;
    let client = client(&server.url(), turns::policy(), Budget::default());
    let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = turn.last_event().await.unwrap();
    let expected = Spend { input_tokens: 7, output_tokens: 3, ..Spend::default() };
    assert_eq!(completed(&last).spend, expected);
    assert!(serde_json::to_value(&last).unwrap()["spend"].get("money").is_none());
}

#[tokio::test]
async fn money_that_is_used_up_fails_the_turn_with_what_it_has() {
    // The first attempt costs 100 + 50 x 4 = 300 millionths.
    for (cap, enough) in [(0.000_300, false), (0.000_301, true)] {
        let server = responses(two_attempts()).await;
        let policy = Policy { max_spend: Some(cap), ..priced() };
        let client = client(&server.url(), policy, Budget::default());
        let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
        let last = turn.last_event().await.unwrap();
        if enough {
            assert!(matches!(last.kind, EventKind::Completed(_)), "{last:?}");
            break;
        }
        let failed = failed(&last);
        assert_eq!(failed.error.kind, ErrorKind::SpendUsedUp);
        assert_eq!(failed.partial_text, "Half");
        assert_eq!(failed.attempts.len(), 1);
        close(failed.spend.money, 0.000_300);
    }
}

#[tokio::test]
async fn a_budget_holds_over_the_turns_of_a_client() {
    let server = responses(json!([
        {"send": ["One.", {"finish": "STOP"}], "usage": [5, 60, 0]},
        {"send": ["Tw"], "usage": [5, 40, 0], "end": "reset"},
        {"send": ["never asked for", {"finish": "STOP"}]}
    ]))
    .await;
    let budget = Budget { output_tokens: Some(100), ..Budget::default() };
    let client = client(&server.url(), turns::policy(), budget);
    let first = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = first.last_event().await.unwrap();
    assert_eq!(completed(&last).text, "One.");
    // 60 + 40: the drop finds nothing left.
    let second = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = second.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::SpendUsedUp);
    assert_eq!(failed(&last).partial_text, "Tw");
    // A new turn sends nothing at all.
    let third = client.start(TurnRequest::prompt("m", "x")).unwrap();
    let last = third.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::SpendUsedUp);
    assert_eq!(failed(&last).attempts, []);
    assert_eq!(third.events_so_far(0, 9).events.len(), 1);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(client.spent().output_tokens, 100);
}

/// A turn that has begun to speak, in a client that may spend 100 tokens, and its server: a second
/// turn costs 95.
async fn one_that_speaks(policy: Policy) -> (FlakyServer, Client, TurnHandle) {
    let server = responses(json!([
        {"send": ["A"], "usage": [5, 10, 0], "end": "hang"},
        {"send": ["B.", {"finish": "STOP"}], "usage": [5, 95, 0]},
        {"send": ["never asked for", {"finish": "STOP"}]}
    ]))
    .await;
    let budget = Budget { output_tokens: Some(100), ..Budget::default() };
    let client = client(&server.url(), policy, budget);
    let turn = client.start(TurnRequest::prompt("m", "x")).unwrap();
    turns::wait_for(&turn, |event| matches!(event.kind, EventKind::Text { .. })).await;
    (server, client, turn)
}

async fn spend_the_rest(client: &Client) {
    let quick = client.start(TurnRequest::prompt("m", "x")).unwrap();
    assert_eq!(completed(&quick.last_event().await.unwrap()).text, "B.");
}

#[tokio::test]
async fn what_another_turn_spends_meanwhile_counts_before_the_next_attempt() {
    let patient = Policy { idle_timeout_ms: 60_000, ..turns::policy() };
    let (_server, client, slow) = one_that_speaks(patient).await;
    spend_the_rest(&client).await;
    slow.signal(Signal::NetworkChanged);
    let last = slow.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::SpendUsedUp);
    assert_eq!(client.spent().output_tokens, 105);
}

#[tokio::test]
async fn what_is_spent_while_a_turn_waits_counts_when_it_goes_on() {
    let (server, client, parked) = one_that_speaks(turns::policy()).await;
    parked.signal(Signal::NetworkLost);
    turns::wait_for(&parked, |event| matches!(event.kind, EventKind::Waiting { .. })).await;
    spend_the_rest(&client).await;
    parked.signal(Signal::NetworkAvailable);
    let last = parked.last_event().await.unwrap();
    assert_eq!(failed(&last).error.kind, ErrorKind::SpendUsedUp);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn money_without_prices_is_refused_when_it_is_set() {
    let policy = Policy { max_spend: Some(1.0), ..Policy::default() };
    let error = Client::builder().policy(policy).build().unwrap_err().to_string();
    assert!(error.contains("max_spend") && error.contains("input_price"), "{error}");
    let negative = Policy { output_price: Some(-1.0), ..Policy::default() };
    assert!(Client::builder().policy(negative).build().is_err());
}
