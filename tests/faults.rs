//! Every fault script, played by the flaky server against the real client.

#[path = "support/folders.rs"]
mod folders;
#[path = "support/play.rs"]
mod play;

use play::{Played, play};
use rejoin::recorder::{Keep, Recording, replay};
use rejoin::testkit::{Script, check};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Scripts played at once: they mostly wait, and a loaded machine would blur their times.
const AT_ONCE: usize = 6;

#[test]
fn the_projects_own_scripts_pass() {
    score(&folders::own("faults"));
}

#[test]
fn the_shared_scripts_pass() {
    if let Some(folder) = folders::shared("faults") {
        score(&folder);
    }
}

fn score(folder: &Path) {
    let scripts = load(folder);
    assert!(!scripts.is_empty(), "no scripts in {}", folder.display());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let played = runtime.block_on(play_all(&scripts));
    let keys: BTreeMap<&str, &[String]> = played
        .iter()
        .filter_map(|(name, played)| Some((name.as_str(), &*played.as_ref().ok()?.keys)))
        .collect();
    let mut wrong = Vec::new();
    for (name, played) in &played {
        match played {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(Played { violations, keys: own, recording }) => {
                if let Some(no) = replayed_otherwise(recording) {
                    wrong.push(format!("{name}: its recording replays otherwise: event {no}"));
                }
                wrong.extend(violations.iter().map(|violation| format!("{name}: {violation}")));
                let script = scripts.iter().find(|script| script.name == *name).expect("played");
                let others = check::effect_key_violations(script, own, |name| {
                    keys.get(name).map(|keys| keys.to_vec())
                });
                wrong.extend(others.iter().map(|violation| format!("{name}: {violation}")));
            }
        }
    }
    let failed: std::collections::BTreeSet<_> =
        wrong.iter().filter_map(|line| line.split(':').next()).collect();
    println!(
        "{}: {} of {} scripts pass",
        folder.display(),
        scripts.len() - failed.len(),
        scripts.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whatever happened, its recording must play again to the same events.
fn replayed_otherwise(recording: &str) -> Option<usize> {
    let recording = Recording::parse(recording).expect("a recording");
    replay(&recording).differs_at
}

fn load(folder: &Path) -> Vec<Arc<Script>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| path.file_name().is_some_and(|name| name != "boundaries.json"))
        .collect();
    paths.sort();
    let only = std::env::var("REJOIN_SCRIPT").unwrap_or_default();
    paths
        .iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .map(|path| Arc::new(Script::from_file(path).unwrap_or_else(|error| panic!("{error}"))))
        .collect()
}

async fn play_all(scripts: &[Arc<Script>]) -> Vec<(String, Result<Played, String>)> {
    let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let mut tasks = Vec::new();
    for script in scripts {
        let (script, places) = (script.clone(), places.clone());
        tasks.push(tokio::spawn(async move {
            let _place = places.acquire().await.expect("open");
            (script.name.clone(), play(&script, Keep::Text).await)
        }));
    }
    let mut played = Vec::new();
    for task in tasks {
        played.push(task.await.expect("a runner that does not panic"));
    }
    played
}
