-- The orchestrator: state and transitions of tasks. One call of a function is one statement, one
-- transaction and one commit. What a commit lets workers do is given back as messages, which the
-- caller publishes; whoever is lost in between has left steps without a value, and those are
-- published again.

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

-- A step that may be done or was. Who does it is the broker's business: claims counts deliveries
-- that workers came back from, and those before them where the broker says that there were some.
create table steps (
  task bigint not null,
  step int not null,
  part int not null,
  claims int not null default 0,
  value bigint,
  claimed_ns bigint,
  started_ns bigint,
  finished_ns bigint,
  primary key (task, step, part)
);
create index open_steps on steps (task, step, part) where value is null;

-- For what a commit costs by itself.
create table bare (commits bigint not null);
insert into bare values (0);

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

-- What workers are told of the parts of a step from 0 to below _parts: the task, the step, the
-- part, and all inputs.
create function messages(_task bigint, _step int, _parts bigint) returns text[]
language plpgsql as $$
declare
  given text := array_to_string(inputs(_task, _step), ' ');
begin
  return array(
    select concat_ws(' ', _task, _step, part, given) from generate_series(0, _parts - 1) part);
end
$$;

-- The same of every step without a value: of one task, or of all where none is named.
create function open_messages(_task bigint) returns text[] language plpgsql as $$
begin
  return array(
    select concat_ws(' ', task, step, part, array_to_string(inputs(task, step), ' '))
    from steps where value is null and (_task is null or task = _task)
    order by task, step, part);
end
$$;

-- Takes a task over. A task that is known already stays as it is; the answer is about that one.
-- Its messages are given again where the caller does not know what became of its first call.
create function accept(_task bigint, _input bigint, _submitted_ns bigint, _again boolean)
returns table (is_new boolean, submitted_ns bigint, complete boolean, ready text[])
language plpgsql as $$
begin
  insert into tasks
  select _task, _input, _submitted_ns, array_agg(waits order by step),
         array_agg(1 order by step), count(*)
  from shape
  on conflict (task) do nothing;
  if found then
    insert into steps (task, step, part) select _task, s.step, 0 from shape s where s.waits = 0;
    return query select true, _submitted_ns, false, open_messages(_task);
  else
    return query
    select false, t.submitted_ns, t.steps_left = 0,
           case when _again then open_messages(_task) else '{}' end
    from tasks t where t.task = _task;
  end if;
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

-- Records a step's value and makes whatever may be done now: all or nothing. A step that has a
-- value keeps it; but if this delivery is not the first, or this call not, then whoever recorded it
-- may have been lost before it published, and the task's messages are given again. The lock on the
-- task lets one transition of a task happen at a time: of two last parts one sees the other.
create function record_step(
  _task bigint, _step int, _part int, _value bigint, _redelivered boolean, _again boolean,
  _claimed_ns bigint, _started_ns bigint, _finished_ns bigint, _parts_most bigint,
  out recorded boolean, out complete boolean, out ready text[])
language plpgsql as $$
declare
  state tasks;
  done int[];
  follower shape;
  made bigint;
begin
  ready := '{}';
  select * into state from tasks where task = _task for update;
  update steps
  set value = _value, claims = claims + 1 + _redelivered::int, claimed_ns = _claimed_ns,
      started_ns = _started_ns, finished_ns = _finished_ns
  where task = _task and step = _step and part = _part and value is null;
  recorded := found;
  if not recorded then
    if not _again then
      update steps set claims = claims + 1
      where task = _task and step = _step and part = _part;
    end if;
    complete := state.steps_left = 0 and (_redelivered or _again);
    if _redelivered or _again then
      ready := open_messages(_task);
    end if;
    return;
  end if;
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
        made := parts(_task, follower);
        if made = 0 then
          done := done || follower.step;
          continue;
        elsif made > _parts_most then
          raise exception 'a fan-out of % steps: at most % are made', made, _parts_most;
        end if;
        state.parts_left[follower.step + 1] := made;
        insert into steps (task, step, part)
        select _task, follower.step, part from generate_series(0, made - 1) part;
        ready := ready || messages(_task, follower.step, made);
      end if;
    end loop;
    done := done[2:];
  end loop;
  update tasks
  set waits = state.waits, parts_left = state.parts_left, steps_left = state.steps_left
  where task = _task;
  complete := state.steps_left = 0;
end
$$;
