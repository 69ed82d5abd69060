-- The orchestrator: state and transitions of tasks. One call of a function is one statement, one
-- transaction and one commit.

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

-- A session that works holds the advisory lock (1, its number) as long as it lives.
create sequence workers as int;

-- For what a commit costs by itself.
create table bare (commits bigint not null);
insert into bare values (0);

-- What a worker is told: whether its value was recorded, how many messages that sent, and what to
-- do next, where there is something.
create type told as (
  recorded boolean,
  messages int,
  task bigint,
  step int,
  part int,
  claims int,
  inputs bigint[]
);

-- Takes a task over. A task that is known already stays as it is; the answer is about that one.
create function accept(_task bigint, _input bigint, _submitted_ns bigint)
returns table (is_new boolean, submitted_ns bigint, complete boolean)
language plpgsql as $$
begin
  insert into tasks
  select _task, _input, _submitted_ns, array_agg(waits order by step),
         array_agg(1 order by step), count(*)
  from shape
  on conflict (task) do nothing;
  if found then
    insert into steps (task, step, part) select _task, s.step, 0 from shape s where s.waits = 0;
    perform pg_notify('work', '');
    return query select true, _submitted_ns, false;
  else
    return query select false, t.submitted_ns, t.steps_left = 0 from tasks t where t.task = _task;
  end if;
end
$$;

-- The values that a step takes, in order.
--
-- All functions are in PL/pgSQL, which keeps their plans for the session; one in SQL is planned at
-- every call.
create function inputs(_task bigint, _step int) returns bigint[] language plpgsql as $$
declare
  sources int[];
begin
  select inputs_from into sources from shape where step = _step;
  if cardinality(sources) = 0 then
    return (select array[input] from tasks where task = _task);
  elsif cardinality(sources) = 1 then
    return (
      select coalesce(array_agg(value order by part), '{}') from steps
      where task = _task and step = sources[1]);
  end if;
  return (
    select coalesce(array_agg(s.value order by f.place, s.part), '{}')
    from unnest(sources) with ordinality f (step, place)
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

-- Gives the first step that is nobody's to a worker. Steps that others are about to take are
-- passed over.
create function take(_worker int, inout told told) language plpgsql as $$
begin
  with free as (
    select s.task, s.step, s.part from steps s
    where s.value is null and s.claimed_by is null
    order by s.task, s.step, s.part limit 1
    for update skip locked)
  update steps s set claimed_by = _worker, claims = s.claims + 1 from free f
  where s.task = f.task and s.step = f.step and s.part = f.part
  returning s.task, s.step, s.part, s.claims
  into told.task, told.step, told.part, told.claims;
  if told.task is not null then
    told.inputs := inputs(told.task, told.step);
  end if;
end
$$;

-- For a worker that has nothing to do. Steps whose worker's session is gone are nobody's again.
--
-- This commit alone is not waited for: a claim that a crash takes back is a step that is free
-- again, and every session that could have worked on it has ended with the crash.
create function claim(_worker int, _of_dead boolean) returns told language plpgsql as $$
declare
  result told;
  other int;
begin
  perform set_config('synchronous_commit', 'off', true);
  result.recorded := false;
  result.messages := 0;
  if _of_dead then
    for other in
      select distinct claimed_by from steps where value is null and claimed_by <> _worker
    loop
      if pg_try_advisory_xact_lock(1, other) then
        update steps set claimed_by = null where value is null and claimed_by = other;
      end if;
    end loop;
  end if;
  return take(_worker, result);
end
$$;

-- For whoever knows that these workers' process has ended. The lock is waited for: the server lets
-- it go when it has noticed the end too and has done what it was asked before, and from then on
-- nobody records as this worker. Their steps are nobody's again, and others are told of them.
create function bury(_workers int[]) returns int language plpgsql as $$
declare
  other int;
  freed int := 0;
begin
  foreach other in array _workers loop
    perform pg_advisory_xact_lock(1, other);
    update steps set claimed_by = null where value is null and claimed_by = other;
    if found then
      freed := freed + 1;
    end if;
  end loop;
  if freed > 0 then
    perform pg_notify('work', '');
  end if;
  return freed;
end
$$;

-- Records a step's value, makes whatever may be done now, and gives the worker its next step: all
-- or nothing. A worker whose step was given to another records nothing. The lock on the task lets
-- one transition of a task happen at a time, so that of two last parts one sees the other.
create function record_step(
  _worker int, _task bigint, _step int, _part int, _value bigint,
  _claimed_ns bigint, _started_ns bigint, _finished_ns bigint, _parts_most bigint)
returns told language plpgsql as $$
declare
  result told;
  state tasks;
  done int[];
  follower shape;
  parts bigint;
  made bigint := 0;
begin
  result.messages := 0;
  select * into state from tasks where task = _task for update;
  update steps
  set value = _value, claimed_ns = _claimed_ns, started_ns = _started_ns,
      finished_ns = _finished_ns
  where task = _task and step = _step and part = _part
    and claimed_by = _worker and value is null;
  result.recorded := found;
  if result.recorded then
    state.parts_left[_step + 1] := state.parts_left[_step + 1] - 1;
    if state.parts_left[_step + 1] = 0 then
      done := array[_step];
    end if;
    while cardinality(done) > 0 loop
      state.steps_left := state.steps_left - 1;
      for follower in
        select f.* from shape d join shape f on f.step = any(d.followers)
        where d.step = done[1] order by f.step
      loop
        state.waits[follower.step + 1] := state.waits[follower.step + 1] - 1;
        if state.waits[follower.step + 1] = 0 then
          parts := parts(_task, follower);
          if parts = 0 then
            done := done || follower.step;
            continue;
          elsif parts > _parts_most then
            raise exception 'a fan-out of % steps: at most % are made', parts, _parts_most;
          end if;
          state.parts_left[follower.step + 1] := parts;
          -- The first of the new steps is this worker's own next one.
          insert into steps (task, step, part, claimed_by, claims)
          values (
            _task, follower.step, 0, case when made = 0 then _worker end, (made = 0)::int);
          if made = 0 then
            result.task := _task;
            result.step := follower.step;
            result.part := 0;
            result.claims := 1;
            result.inputs := inputs(_task, follower.step);
          end if;
          if parts > 1 then
            insert into steps (task, step, part)
            select _task, follower.step, part from generate_series(1, parts - 1) part;
          end if;
          made := made + parts;
        end if;
      end loop;
      done := done[2:];
    end loop;
    update tasks
    set waits = state.waits, parts_left = state.parts_left, steps_left = state.steps_left
    where task = _task;
    if state.steps_left = 0 then
      perform pg_notify('complete', _task::text);
      result.messages := result.messages + 1;
    end if;
  end if;
  if result.task is null then
    result := take(_worker, result);
  end if;
  if made > 1 then
    perform pg_notify('work', '');
    result.messages := result.messages + 1;
  end if;
  return result;
end
$$;
