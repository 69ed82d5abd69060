-- The orchestrator: state and transitions of tasks. One call of a function is one statement, one
-- transaction and one commit, for as many transitions as were there at once.
--
-- Nothing here notifies. A transaction with a notification holds a lock of the whole database until
-- its commit is on the disk, so that such commits wait for each other one by one; whoever calls
-- tells others when the commit has returned.

-- Whose tasks these are.
create table workload (identity bigint not null);

-- The shape: what a step waits for, who waits for it, and who decides about it.
create table shape (
  step int primary key,
  inputs_from int[] not null,
  waits int not null,
  followers int[] not null,
  when_step int,
  when_low bigint,
  when_high bigint,
  parts_of int
);

-- A task: by step (from 1, as arrays are) how many others it still waits for and how many of its
-- parts have no value yet; and how many steps are neither done nor left out.
create table tasks (
  task bigint primary key,
  input bigint not null,
  submitted_ns bigint not null,
  waits int[] not null,
  parts_left int[] not null,
  steps_left int not null
);

-- A step that may be done or was: the queue and its history. Nobody's while claimed_by is null.
create table steps (
  task bigint not null,
  step int not null,
  part int not null,
  claimed_by int,
  claims int not null default 0,
  value bigint,
  claimed_ns bigint,
  started_ns bigint,
  finished_ns bigint,
  primary key (task, step, part)
);
create index open_steps on steps (task, step, part) where value is null;
create index free_steps on steps (task, step, part) where value is null and claimed_by is null;

-- A session that works holds the advisory lock (1, its number) as long as it lives.
create sequence workers as int;

-- For what a commit costs by itself.
create table bare (commits bigint not null);
insert into bare values (0);

-- Steps that a worker has. What a step takes is a text of numbers, for the arrays of an array must
-- be of one length.
create type work as (tasks bigint[], steps int[], parts int[], inputs text[]);

-- All functions are in PL/pgSQL, which keeps their plans for the session; one in SQL is planned at
-- every call. They go through their arrays one by one: a statement with a key is as fast as its
-- share of one with a join, and its plan for an empty table is right for a large one.

-- Takes tasks over, in their order: of two callers with the same tasks one waits for the other. One
-- that is known already stays as it is; the answer is about that one.
create function accept(
  _tasks bigint[], _inputs bigint[], _submitted_ns bigint[],
  out is_new boolean[], out submitted_ns bigint[], out complete boolean[])
language plpgsql as $$
declare
  waits int[];
  parts_left int[];
  first int[];
  known tasks;
begin
  select array_agg(s.waits order by step), array_agg(1 order by step),
         array_agg(step) filter (where s.waits = 0)
  into waits, parts_left, first from shape s;
  for i in 1 .. cardinality(_tasks) loop
    insert into tasks
    values (_tasks[i], _inputs[i], _submitted_ns[i], waits, parts_left, cardinality(waits))
    on conflict (task) do nothing;
    is_new[i] := found;
    if found then
      insert into steps (task, step, part) select _tasks[i], f.step, 0 from unnest(first) f (step);
      submitted_ns[i] := _submitted_ns[i];
      complete[i] := false;
    else
      select * into known from tasks where task = _tasks[i];
      submitted_ns[i] := known.submitted_ns;
      complete[i] := known.steps_left = 0;
    end if;
  end loop;
end
$$;

-- What a step takes from these, in order.
create function inputs(_task bigint, _sources int[]) returns text language plpgsql as $$
begin
  if cardinality(_sources) = 0 then
    return (select input from tasks where task = _task);
  elsif cardinality(_sources) = 1 then
    return (
      select coalesce(string_agg(value::text, ' ' order by part), '') from steps
      where task = _task and step = _sources[1]);
  end if;
  return (
    select coalesce(string_agg(s.value::text, ' ' order by f.place, s.part), '')
    from unnest(_sources) with ordinality f (step, place)
    join steps s on s.task = _task and s.step = f.step);
end
$$;

-- How many steps are made of one whose deciders are done.
create function parts(_task bigint, _shape shape) returns bigint language plpgsql as $$
declare
  decided bigint;
begin
  if _shape.when_step is not null then
    select value into decided from steps
    where task = _task and step = _shape.when_step and part = 0;
    if not coalesce(decided >= _shape.when_low and decided < _shape.when_high, false) then
      return 0;
    end if;
  end if;
  if _shape.parts_of is null then
    return 1;
  end if;
  select value into decided from steps
  where task = _task and step = _shape.parts_of and part = 0;
  return coalesce(decided, 0);
end
$$;

-- Adds to the steps that a worker has the first that are nobody's, so many at most. Steps that
-- others are about to take are passed over.
create function take(_worker int, _most int, inout work work) language plpgsql as $$
declare
  free record;
begin
  for free in
    select task, step, part from steps where value is null and claimed_by is null
    order by task, step, part limit _most for update skip locked
  loop
    update steps set claimed_by = _worker, claims = claims + 1
    where task = free.task and step = free.step and part = free.part;
    work.tasks := work.tasks || free.task;
    work.steps := work.steps || free.step;
    work.parts := work.parts || free.part;
  end loop;
end
$$;

-- Says what each of the steps takes that a worker has.
create function with_inputs(_shapes shape[], inout work work) language plpgsql as $$
declare
  given text[];
begin
  for i in 1 .. coalesce(cardinality(work.tasks), 0) loop
    given[i] := inputs(work.tasks[i], _shapes[work.steps[i] + 1].inputs_from);
  end loop;
  work.inputs := given;
end
$$;

-- For a worker that has nothing to do. Steps whose worker's session is gone are nobody's again.
--
-- This commit alone is not waited for: a claim that a crash takes back is a step that is free
-- again, and every session that could have worked on it has ended with the crash.
create function claim(_worker int, _most int, _of_dead boolean) returns work language plpgsql as $$
declare
  work work;
  other int;
begin
  perform set_config('synchronous_commit', 'off', true);
  if _of_dead then
    for other in
      select distinct claimed_by from steps where value is null and claimed_by <> _worker
    loop
      if pg_try_advisory_xact_lock(1, other) then
        update steps set claimed_by = null where value is null and claimed_by = other;
      end if;
    end loop;
  end if;
  return with_inputs(
    (select array_agg(s order by s.step) from shape s), take(_worker, _most, work));
end
$$;

-- For whoever knows that these workers' process has ended. The lock is waited for: the server lets
-- it go when it has noticed the end too and has done what it was asked before, and from then on
-- nobody records as this worker. Their steps are nobody's again.
create function bury(_workers int[]) returns void language plpgsql as $$
declare
  other int;
begin
  foreach other in array _workers loop
    perform pg_advisory_xact_lock(1, other);
    update steps set claimed_by = null where value is null and claimed_by = other;
  end loop;
end
$$;

-- Records values of steps, makes whatever may be done now, and gives the worker its next steps: all
-- or nothing. A worker whose step was given to another records nothing of it. The lock on a task
-- lets one transition of it happen at a time, so that of two last parts one sees the other; the
-- steps come in the order of their tasks, so that of two workers one waits for the other.
--
-- Of the steps that are made the worker has the first, _most at most, and half of them where others
-- may wait for work, which they do not while there is a step that is nobody's; the rest are
-- nobody's, and `free` says how many these are. Where nobody waits it also takes what is nobody's.
create function record_steps(
  _worker int, _most int, _others_wait boolean,
  _tasks bigint[], _steps int[], _parts int[], _values bigint[],
  _claimed_ns bigint[], _started_ns bigint[], _finished_ns bigint[], _parts_most bigint,
  out recorded int[], out complete bigint[], out free bigint, out work work)
language plpgsql as $$
declare
  shapes shape[];
  state tasks;
  done int[];
  next int;
  made bigint;
  made_tasks bigint[] := '{}';
  made_steps int[] := '{}';
  made_parts bigint[] := '{}';
  made_all bigint := 0;
  own bigint;
begin
  select array_agg(s order by s.step) into shapes from shape s;
  recorded := '{}';
  complete := '{}';
  for i in 1 .. cardinality(_tasks) loop
    if i = 1 or _tasks[i] <> state.task then
      select * into state from tasks where task = _tasks[i] for update;
    end if;
    update steps
    set value = _values[i], claimed_ns = _claimed_ns[i], started_ns = _started_ns[i],
        finished_ns = _finished_ns[i]
    where task = _tasks[i] and step = _steps[i] and part = _parts[i]
      and claimed_by = _worker and value is null;
    if found then
      recorded := recorded || i;
      state.parts_left[_steps[i] + 1] := state.parts_left[_steps[i] + 1] - 1;
      done := case when state.parts_left[_steps[i] + 1] = 0 then _steps[i:i] else '{}' end;
      while cardinality(done) > 0 loop
        state.steps_left := state.steps_left - 1;
        foreach next in array shapes[done[1] + 1].followers loop
          state.waits[next + 1] := state.waits[next + 1] - 1;
          if state.waits[next + 1] = 0 then
            made := 1;
            if shapes[next + 1].when_step is not null or shapes[next + 1].parts_of is not null then
              made := parts(state.task, shapes[next + 1]);
            end if;
            if made = 0 then
              done := done || next;
              continue;
            elsif made > _parts_most then
              raise exception 'a fan-out of % steps: at most % are made', made, _parts_most;
            end if;
            state.parts_left[next + 1] := made;
            made_tasks := made_tasks || state.task;
            made_steps := made_steps || next;
            made_parts := made_parts || made;
            made_all := made_all + made;
          end if;
        end loop;
        done := done[2:];
      end loop;
      if state.steps_left = 0 then
        complete := complete || state.task;
      end if;
    end if;
    if i = cardinality(_tasks) or _tasks[i + 1] <> state.task then
      update tasks
      set waits = state.waits, parts_left = state.parts_left, steps_left = state.steps_left
      where task = state.task;
    end if;
  end loop;
  if made_all > 1 and _others_wait then
    _others_wait := not exists (select from steps where value is null and claimed_by is null);
  end if;
  own := least(_most, case when _others_wait then (made_all + 1) / 2 else made_all end);
  free := made_all - own;
  for i in 1 .. cardinality(made_tasks) loop
    insert into steps (task, step, part, claimed_by, claims)
    select made_tasks[i], made_steps[i], part, case when part < own then _worker end,
           (part < own)::int
    from generate_series(0, made_parts[i] - 1) part;
    for part in 0 .. least(own, made_parts[i]) - 1 loop
      work.tasks := work.tasks || made_tasks[i];
      work.steps := work.steps || made_steps[i];
      work.parts := work.parts || part;
    end loop;
    own := greatest(own - made_parts[i], 0);
  end loop;
  if work.tasks is null or not _others_wait then
    work := take(_worker, _most - coalesce(cardinality(work.tasks), 0), work);
  end if;
  work := with_inputs(shapes, work);
end
$$;
