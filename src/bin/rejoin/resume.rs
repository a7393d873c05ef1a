//! `rejoin resume`: a turn of a process that is gone, from its journal.

use crate::args::ResumeArgs;
use crate::exit::{Exit, Stop};
use crate::stream::{builder, follow, only_one_reads_standard_input, open_journal, request};

pub async fn run(args: ResumeArgs) -> Result<Exit, Stop> {
    only_one_reads_standard_input(args.view.control, &[args.request.as_deref()])?;
    if !args.journal.is_dir() {
        return Err(Stop::Usage(format!("there is no journal in {}", args.journal.display())));
    }
    let again = args.prompt.is_some() || args.request.is_some();
    // A turn that was begun without its text goes on without it.
    let journal = open_journal(&args.journal, !again)?;
    let client = builder(&args.server)?.journal(journal).build();
    let client = client.map_err(|error| error.to_string())?;
    let again = again.then(|| {
        request("", args.request.as_deref(), args.prompt.as_deref(), args.system.as_deref())
    });
    let again = again.transpose()?;
    follow(&args.view, None, || {
        let turn = match &again {
            Some(request) => client.restore_with_request(&args.turn_id, request),
            None => client.restore(&args.turn_id),
        };
        turn.map_err(|error| error.to_string())
    })
    .await
}
