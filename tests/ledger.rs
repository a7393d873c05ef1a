//! The effect ledger under `kill -9` at every step, and over files that are not what was written.

#[path = "support/kill.rs"]
mod kill;

use kill::{Stepping, folder, myself, stand_at};
use rejoin::effect::{EffectLedger, EffectState, LedgerError, StoreError};
use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const KEYS: [&str; 3] = ["refund", "mail", "order"];

/// What the outside world has seen.
fn effects(folder: &Path) -> HashMap<String, usize> {
    count(&folder.join("world"))
}

fn count(file: &Path) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn append(file: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn run(ledger: &EffectLedger, folder: &Path, key: &str, at: &dyn Fn(&str)) {
    at("before the effect");
    append(&folder.join("world"), key);
    at("after the effect");
    ledger.done(key, &format!("ran {key}")).unwrap();
    at("done");
}

/// An app with three calls to run, and a rule for what is unknown.
fn app(folder: &Path, rule: &str, at: &dyn Fn(&str)) {
    at("before open");
    let ledger = EffectLedger::open(folder).unwrap();
    for key in KEYS {
        at("before begin");
        match ledger.begin(key).unwrap() {
            EffectState::Fresh => run(&ledger, folder, key, at),
            EffectState::Done { result } => assert_eq!(result, format!("ran {key}")),
            EffectState::InFlight => panic!("nobody else is there"),
            EffectState::Unknown { .. } => {
                append(&folder.join("said"), key);
                match rule {
                    "never" => {}
                    "retry" => {
                        ledger.begin_again(key).unwrap();
                        at("begun again");
                        run(&ledger, folder, key, at);
                    }
                    // The app asks the outside world.
                    "ask" if effects(folder).contains_key(key) => {
                        ledger.done(key, &format!("ran {key}")).unwrap();
                    }
                    "ask" => {
                        ledger.begin_again(key).unwrap();
                        run(&ledger, folder, key, at);
                    }
                    other => panic!("no rule {other}"),
                }
            }
        }
    }
}

/// Not a test by itself: the process that is killed.
#[test]
fn the_app() {
    let Some(folder) = std::env::var_os("LEDGER_FOLDER") else { return };
    let rule = std::env::var("LEDGER_RULE").unwrap();
    if std::env::var_os("LEDGER_STEPS").is_some() {
        return app(Path::new(&folder), &rule, &stand_at);
    }
    app(Path::new(&folder), &rule, &|_| ());
}

fn child(folder: &Path, rule: &str, stepping: bool) -> std::process::Command {
    let folder = folder.to_str().unwrap();
    let mut command = myself("the_app", &[("LEDGER_FOLDER", folder), ("LEDGER_RULE", rule)]);
    if stepping {
        command.env("LEDGER_STEPS", "1");
    }
    command
}

/// After all the deaths: the app runs once more, undisturbed.
fn settle(folder: &Path, rule: &str) {
    let status = child(folder, rule, false).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    let (world, said) = (effects(folder), count(&folder.join("said")));
    for key in KEYS {
        let (ran, was_said) = (world.get(key).copied().unwrap_or(0), said.contains_key(key));
        match rule {
            "never" => {
                assert!(ran <= 1, "{key} ran {ran} times");
                assert!(ran == 1 || was_said, "{key} was lost, and nobody was told");
            }
            "ask" => assert_eq!(ran, 1, "{key}"),
            _ => assert!(ran == 1 || ran > 1 && was_said, "{key} ran {ran} times"),
        }
    }
}

#[test]
fn kill_9_at_every_step_runs_nothing_twice_and_loses_nothing_in_silence() {
    let (mut runs, mut at) = (0, HashMap::<String, usize>::new());
    for rule in ["never", "ask", "retry"] {
        for steps in 1.. {
            let folder = folder(&format!("ledger-{rule}-{steps}"));
            std::fs::create_dir_all(&folder).unwrap();
            let mut app = Stepping::start(child(&folder, rule, true));
            let mut last = app.step();
            for _ in 1..steps {
                app.go_on();
                last = app.step();
            }
            let Some(last) = last else {
                assert!(app.end());
                break;
            };
            app.kill();
            *at.entry(last).or_default() += 1;
            // And a second death in the next life, where something is unknown.
            let mut app = Stepping::start(child(&folder, rule, true));
            for _ in 0..steps {
                if app.step().is_none() {
                    break;
                }
                app.go_on();
            }
            app.kill();
            settle(&folder, rule);
            runs += 2;
        }
    }
    println!("kill -9 at steps: {runs} runs, {at:?}");
    assert!(runs >= 60 && at.len() == 5, "{at:?}");
}

#[test]
fn kill_9_at_any_moment_runs_nothing_twice_and_loses_nothing_in_silence() {
    const RUNS: u32 = 140;
    let whole = {
        let folder = folder("ledger-any");
        std::fs::create_dir_all(&folder).unwrap();
        let began = std::time::Instant::now();
        settle(&folder, "never");
        began.elapsed()
    };
    let mut died = 0;
    for run in 0..RUNS {
        let rule = if run % 2 == 0 { "never" } else { "ask" };
        let folder = folder("ledger-any");
        std::fs::create_dir_all(&folder).unwrap();
        let mut app = child(&folder, rule, false).stdout(Stdio::null()).spawn().unwrap();
        // From before the file is there to after the last effect.
        std::thread::sleep(whole * run / RUNS);
        died += u32::from(app.try_wait().unwrap().is_none());
        app.kill().unwrap();
        app.wait().unwrap();
        settle(&folder, rule);
    }
    println!("kill -9 at any moment: {RUNS} runs over {whole:?}, {died} of them in mid-run");
    assert!(died > RUNS / 4, "only {died} of {RUNS} died before their end");
}

#[test]
fn of_two_tasks_that_begin_at_once_one_runs() {
    let folder = folder("ledger-tasks");
    let ledger = EffectLedger::open(&folder).unwrap();
    let states: Vec<_> = std::thread::scope(|scope| {
        let tasks: Vec<_> =
            (0..8).map(|_| scope.spawn(|| ledger.begin("refund").unwrap())).collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    let fresh = states.iter().filter(|state| **state == EffectState::Fresh).count();
    let others = states.iter().filter(|state| **state == EffectState::InFlight).count();
    assert_eq!((fresh, others), (1, 7));
    ledger.give_up("refund");
    assert!(matches!(ledger.begin("refund").unwrap(), EffectState::Unknown { .. }));
    assert_eq!(ledger.unknown().unwrap(), ["refund"]);
    ledger.never_happened("refund").unwrap();
    assert_eq!(ledger.begin("refund").unwrap(), EffectState::Fresh);
    let running = ledger.begin_again("refund");
    assert_eq!(running, Err(LedgerError::NotUnknown("refund".to_owned())));
    ledger.done("refund", "1").unwrap();
    assert_eq!(ledger.begin("refund").unwrap(), EffectState::Done { result: "1".to_owned() });
    assert_eq!(ledger.done("mail", "1"), Err(LedgerError::NotBegun("mail".to_owned())));
    assert_eq!(ledger.forget_done(Duration::from_mins(1)).unwrap(), 0);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(ledger.forget_done(Duration::ZERO).unwrap(), 1);
}

#[test]
fn a_ledger_is_open_once_and_for_its_owner_alone() {
    let folder = folder("ledger-once");
    let ledger = EffectLedger::open(&folder).unwrap();
    let locked = LedgerError::Store(StoreError::Locked(folder.join("effects.redb")));
    assert_eq!(EffectLedger::open(&folder).unwrap_err(), locked);
    assert_eq!(EffectLedger::set_aside(&folder).unwrap_err(), locked);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(ledger);
    EffectLedger::open(&folder).unwrap();
}

#[test]
fn a_ledger_that_a_living_process_holds_is_locked_and_a_dead_ones_is_not() {
    let folder = folder("ledger-alive");
    let mut app = Stepping::start(child(&folder, "never", true));
    // Before open, before begin: the file is held.
    app.step();
    app.go_on();
    app.step();
    let error = EffectLedger::open(&folder).unwrap_err();
    assert!(matches!(error, LedgerError::Store(StoreError::Locked(_))), "{error:?}");
    app.kill();
    EffectLedger::open(&folder).unwrap();
}

/// A ledger with something in it, not open.
fn written(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    let ledger = EffectLedger::open(&folder).unwrap();
    ledger.begin("done").unwrap();
    ledger.done("done", &"a long result ".repeat(400)).unwrap();
    ledger.begin("begun").unwrap();
    folder
}

/// All that was written is still known.
fn is_whole(ledger: &EffectLedger) -> bool {
    matches!(ledger.begin("done"), Ok(EffectState::Done { result }) if result == "a long result ".repeat(400))
        && matches!(ledger.begin("begun"), Ok(EffectState::Unknown { .. }))
}

#[test]
fn a_damaged_ledger_says_so_and_is_set_aside_and_never_deleted() {
    let folder = written("ledger-damaged");
    let file = folder.join("effects.redb");
    let good = std::fs::read(&file).unwrap();
    let mut opened = 0;
    let mut try_with = |what: String, bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        match EffectLedger::open(&folder) {
            Ok(ledger) => {
                opened += 1;
                assert!(is_whole(&ledger), "{what}: a record was lost in silence");
            }
            Err(LedgerError::Store(StoreError::Damaged(_) | StoreError::Version { .. })) => {
                assert_eq!(std::fs::read(&file).unwrap().len(), bytes.len(), "{what}: touched");
            }
            Err(error) => panic!("{what}: {error:?}"),
        }
    };
    for len in
        [0, 1, 9, 64, 319, 320, 4095, 4096, 8192, good.len() / 2, good.len() - 4096, good.len() - 1]
    {
        try_with(format!("cut to {len}"), &good[..len]);
    }
    try_with("garbage".to_owned(), &b"no such thing".repeat(2000));
    // A seed, so that a failure can be seen again.
    let mut random = 1_u64;
    for _ in 0..300 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = (random >> 33) as usize % good.len().min(200_000);
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (random % 8);
        try_with(format!("bit at {at}"), &bytes);
    }
    println!("damaged ledgers: 313 files, {opened} opened with every record, none lost one");

    std::fs::write(&file, &good[..5000]).unwrap();
    let aside = EffectLedger::set_aside(&folder).unwrap().expect("there was a file");
    assert_eq!(std::fs::read(&aside).unwrap(), good[..5000]);
    let ledger = EffectLedger::open(&folder).unwrap();
    assert_eq!(ledger.begin("done").unwrap(), EffectState::Fresh);
    drop(ledger);
    let second = EffectLedger::set_aside(&folder).unwrap().expect("there was a file");
    assert_ne!(aside, second);
    assert_eq!(EffectLedger::set_aside(&folder).unwrap(), None);
}

#[test]
fn a_ledger_of_another_version_is_left_alone() {
    let folder = folder("ledger-version");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("effects.redb");
    let db = redb::Database::create(&file).unwrap();
    let write = db.begin_write().unwrap();
    let meta = redb::TableDefinition::<&str, &[u8]>::new("meta");
    write.open_table(meta).unwrap().insert("version", &7_u32.to_le_bytes()[..]).unwrap();
    write.commit().unwrap();
    drop(db);
    let error = EffectLedger::open(&folder).unwrap_err();
    let LedgerError::Store(StoreError::Version { found, .. }) = error else { panic!("{error:?}") };
    assert_eq!(found, "format 7");
    assert!(file.exists());
}

/// Not a test by itself: writes until the disk is full.
#[test]
fn the_writer() {
    let Some(folder) = std::env::var_os("LEDGER_FULL") else { return };
    let ledger = EffectLedger::open(&folder).unwrap();
    let large = "x".repeat(60_000);
    for n in 0..400 {
        let key = format!("effect-{n}");
        match ledger.begin(&key) {
            Ok(EffectState::Fresh) => {}
            Ok(state) => panic!("{state:?}"),
            Err(LedgerError::Store(StoreError::Full(_))) => {
                println!("STEP full at {n}");
                // Not run, and not silently usable: whoever asks again is refused again.
                assert!(ledger.begin(&key).is_err());
                return;
            }
            Err(error) => panic!("{error:?}"),
        }
        append(&Path::new(&folder).join("world"), &key);
        match ledger.done(&key, &large) {
            Ok(()) | Err(LedgerError::Store(StoreError::Full(_))) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the disk was never full");
}

#[test]
fn on_a_full_disk_no_effect_is_begun_and_none_is_forgotten() {
    let folder = folder("ledger-full");
    std::fs::create_dir_all(&folder).unwrap();
    // A limit on a file's size is a full disk that needs no root: the same error, in the same place.
    // 512-byte blocks: 3 MB.
    let myself = myself("the_writer", &[]);
    let exe = myself.get_program().to_str().unwrap().to_owned();
    let args: Vec<_> = myself.get_args().map(|arg| arg.to_str().unwrap().to_owned()).collect();
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 6000; exec \"$0\" \"$@\"", &exe])
        .args(&args)
        .env("LEDGER_FULL", &folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("full at"), "{said}");
    // With room again, everything that ran is known to have begun.
    let ledger = EffectLedger::open(&folder).unwrap();
    let ran = effects(&folder);
    assert!(ran.len() > 5, "{ran:?}");
    for key in ran.keys() {
        let state = ledger.begin(key).unwrap();
        assert!(
            matches!(state, EffectState::Done { .. } | EffectState::Unknown { .. }),
            "{state:?}"
        );
    }
}
