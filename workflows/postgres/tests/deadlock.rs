//! Two sessions whose statements wait for each other.

use std::thread;
use std::time::Duration;

use postgres::Client;
use proof_kit::workflows::skipped;
use workflows_database::{Server, ask};
use workflows_kit::RunError;

const TABLES: &str = "
    create table pair (place int primary key, changes int not null);
    insert into pair values (1, 0), (2, 0);
    create function change(_first int, _second int) returns int language plpgsql as $$
    begin
      update pair set changes = changes + 1 where place = _first;
      perform pg_sleep(0.5);
      update pair set changes = changes + 1 where place = _second;
      return _first;
    end
    $$;";

#[test]
fn of_two_statements_that_wait_for_each_other_both_are_done_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = match Server::start(folder.path()) {
        Ok(server) => server,
        Err(RunError::Unsupported(reason)) => return skipped(&reason),
        Err(error) => panic!("{error}"),
    };
    let mut session = server.handle().connect().unwrap();
    session.batch_execute(TABLES).unwrap();
    let change = |mut session: Client, first: i32, second: i32| {
        let statement = session.prepare("select change($1, $2)").unwrap();
        ask(&mut session, &statement, &[&first, &second]).unwrap().get::<_, i32>(0)
    };
    let (one, other) = (server.handle().connect().unwrap(), server.handle().connect().unwrap());
    let changed = thread::scope(|scope| {
        let one = scope.spawn(move || change(one, 1, 2));
        let other = scope.spawn(move || change(other, 2, 1));
        [one.join().unwrap(), other.join().unwrap()]
    });
    assert_eq!(changed, [1, 2]);
    let row = session.query_one("select array_agg(changes) from pair", &[]).unwrap();
    assert_eq!(row.get::<_, Vec<i32>>(0), [2, 2]);
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    for _ in 0..100 {
        // What sessions did is counted when they have ended, a moment later.
        if session.query_one(deadlocks, &[]).unwrap().get::<_, i64>(0) > 0 {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("they did not wait for each other");
}
