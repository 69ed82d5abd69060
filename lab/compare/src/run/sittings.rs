//! Sessions of a comparison: when each ends, what begins it, and what is said over all of them.

use lab_console::{Failure, seconds_text};
use lab_stats::{
    by_session::{ENOUGH_SESSIONS, LEAST_PAIRS, OverSessions, over_sessions},
    sessions::Sessions,
};
use serde_json::{Value, json};

use super::{
    iteration::Iteration,
    options::Options,
    progress::announcement,
    record::Round,
    runner::{Runner, Stopped, Stopwatch},
    session::Session,
    text::interval,
};
use crate::{
    Estimate, Layout, Next, RoundPlan, Schedule, Settings, State, estimate_over, log_ratio,
    over_state,
};

/// Of the number of a session, so that its first order is drawn from another seed than the rounds'.
const SESSION_SEEDS: u64 = 1 << 32;

/// Where a comparison is in its sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Sittings {
    /// The one that runs, from 0 on.
    pub(super) now: usize,
    /// Of each session before its first run, in seconds.
    copying_s: f64,
    /// Why commands keep their program in all of them.
    kept: Vec<String>,
}

impl Sittings {
    /// In the session of the last round so far.
    pub(super) fn at(now: usize) -> Self {
        Self { now, ..Self::default() }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Round,
    Session,
    End,
}

/// Refuses rounds that are too few for so many sessions.
pub(super) fn check(options: &Options) -> Result<(), Failure> {
    let (sessions, least) =
        (options.runs.sessions, usize::from(options.runs.sessions) * LEAST_PAIRS);
    match options.limits.most_rounds {
        Some(rounds) if sessions > 1 && rounds < least => Err(Failure::input(format!(
            "--runs {rounds} is less than two rounds for each of {sessions} sessions; give at \
             least {least}, or fewer sessions"
        ))),
        _ => Ok(()),
    }
}

/// The pairs of the session that the last rounds are of: of the candidate with the fewest.
fn pairs_of(rounds: &[Round], session: usize, candidates: usize) -> usize {
    let of_session = || rounds.iter().rev().take_while(|round| round.session == session);
    let with = |candidate: usize| of_session().filter(move |round| is_pair(round, candidate));
    (1..=candidates).map(|candidate| with(candidate).count()).min().unwrap_or_default()
}

fn is_pair(round: &Round, candidate: usize) -> bool {
    !round.runs[0].is_empty() && !round.runs[candidate].is_empty()
}

/// Each session gets an equal part of the time that is left when it begins, of the rounds that it
/// may take, and two pairs in any case.
fn step(settings: &Settings, sessions: usize, now: usize, rounds: &[Round]) -> Step {
    let before = rounds.iter().rev().find(|round| round.session < now);
    let began_s = before.map_or(0.0, |round| round.elapsed_s);
    let elapsed_s = rounds.last().map_or(0.0, |round| round.elapsed_s);
    let ends_s = began_s + (settings.budget_s - began_s) / (sessions - now) as f64;
    let pairs = pairs_of(rounds, now, settings.candidates);
    let share = |most: usize| (now + 1) * most / sessions - now * most / sessions;
    let full = settings.most_rounds.is_some_and(|most| pairs >= share(most));
    if pairs < LEAST_PAIRS || !full && elapsed_s < ends_s {
        Step::Round
    } else if now + 1 < sessions {
        Step::Session
    } else {
        Step::End
    }
}

impl Session<'_> {
    /// What the comparison may take, before its first round.
    pub(super) fn announcement(&self) -> String {
        let settings = self.comparison.settings();
        match self.sessions() {
            1 => announcement(settings),
            sessions => {
                let part_s = settings.budget_s / sessions as f64;
                let most = settings.most_rounds.map(|most| format!("; at most {most} rounds"));
                let most = most.unwrap_or_default();
                format!("{sessions} sessions of {} each{most}", seconds_text(part_s))
            }
        }
    }

    pub(super) fn sessions(&self) -> usize {
        usize::from(self.options.runs.sessions)
    }

    /// Whether another round is run, which may be the first of a session.
    pub(super) fn goes_on(
        &mut self,
        runner: &Runner<'_>,
        plans: &mut Schedule,
    ) -> Result<bool, Stopped> {
        if self.sessions() == 1 {
            return Ok(self.comparison.next_step() == Next::Round);
        }
        let (now, settings) = (self.sittings.now, self.comparison.settings());
        let step = step(settings, self.sessions(), now, &self.rounds);
        if self.rounds.len() == 1 {
            self.refuse_too_little()?;
        }
        if step == Step::Session {
            self.sittings.now += 1;
            self.begin(runner)?;
            self.warm(runner)?;
            plans.interrupt();
        }
        Ok(step != Step::End)
    }

    /// Begins a session, with what it draws anew.
    pub(super) fn begin(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        if self.sessions() == 1 {
            return Ok(());
        }
        let watch = Stopwatch::after(0.0);
        let kept = runner.copy_anew(self.commands.len())?;
        self.sittings.copying_s = watch.seconds();
        for sentence in &kept {
            if !self.sittings.kept.contains(sentence) {
                self.note(sentence.clone());
            }
        }
        self.sittings.kept = kept;
        Ok(())
    }

    /// A round that does not count brings the new files into the page cache, all commands alike.
    pub(super) fn warm(&self, runner: &Runner<'_>) -> Result<(), Stopped> {
        if self.sessions() == 1 {
            return Ok(());
        }
        let seed = self.seed.wrapping_add(SESSION_SEEDS * (1 + self.sittings.now as u64));
        let plan = Schedule::new(seed, runner.commands.len()).next();
        let plan = plan.expect("a schedule has no end");
        runner.iteration.set(Iteration::Warmup(self.sittings.now));
        runner.round(RoundPlan { wash: Vec::new(), layout: Layout::default(), ..plan }).map(drop)
    }

    /// After the first round its time is known: refuses a budget in which the sessions have no two
    /// pairs each.
    fn refuse_too_little(&self) -> Result<(), Failure> {
        let settings = self.comparison.settings();
        let design = settings.design();
        // One in three rounds is the control's; each candidate may have rounds of its own.
        let control = if settings.control { 1.5 } else { 1.0 };
        let for_a_pair = control * design.questions.len() as f64;
        // The first counted round came after one that did not count.
        let round_s = self.rounds[0].elapsed_s / 2.0;
        let rounds = 1.0 + LEAST_PAIRS as f64 * for_a_pair;
        let sessions = self.sessions();
        let needed_s = sessions as f64 * (self.sittings.copying_s + rounds * round_s);
        let budget_s = settings.budget_s;
        if needed_s <= budget_s {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{sessions} sessions of two pairs each take about {needed_s:.1} s, as the first round \
             shows, and --budget is {budget_s} s; give --budget {:.0}, or fewer sessions",
            (1.2 * needed_s).ceil()
        )))
    }

    /// What its program's new place may have to do with the failure of a check.
    pub(super) fn with_hint(&self, stopped: Stopped) -> Stopped {
        match stopped {
            Stopped::Failed(mut failure) if self.sessions() > 1 => {
                // Before the last words of the command, where these are lines of their own.
                let end = failure.sentence.find(":\n").unwrap_or(failure.sentence.len());
                failure.sentence.insert_str(
                    end,
                    "; --sessions ran a copy of its program, and a command that begins with `: &&` \
                     keeps its own",
                );
                Stopped::Failed(failure)
            }
            other => other,
        }
    }

    /// How far it is; `None` of one session.
    pub(super) fn place(&self) -> Option<String> {
        let (now, all, rounds) = (self.sittings.now + 1, self.sessions(), self.rounds.len());
        (all > 1).then(|| format!("session {now} of {all}, {rounds} rounds"))
    }

    /// What may be said now: over sessions, where a verdict is about them.
    pub(super) fn state(&self) -> State {
        let mut state = self.comparison.state();
        let over = self.over_sessions();
        if !over.is_empty() {
            over_state(&mut state, &over, self.comparison.settings().log_margin());
            let all = state.candidates.iter_mut().enumerate();
            for (number, candidate) in all.filter(|(_, candidate)| candidate.endings.is_none()) {
                for (metric, found) in candidate.metrics.iter_mut().enumerate().skip(1) {
                    let over = estimate_over(&self.over_metric(number + 1, metric));
                    found.estimate = over.or(found.estimate.take());
                }
            }
            // The number of sessions was fixed beforehand.
            state.next = Next::OutOfBudget;
        }
        state
    }

    /// One for each candidate, and the control's; none of one session.
    fn over_sessions(&self) -> Vec<OverSessions> {
        match self.sessions() {
            1 => Vec::new(),
            _ => (1..self.comparison.settings().commands())
                .map(|command| self.over_metric(command, 0))
                .collect(),
        }
    }

    /// One metric of a command against the reference.
    fn over_metric(&self, command: usize, metric: usize) -> OverSessions {
        let settings = self.comparison.settings();
        let is_control = command > settings.candidates;
        let alpha = if is_control { settings.alpha } else { settings.alpha_each() };
        let pair = |round: &Round| {
            let value = |command: usize| round.runs[command].get(metric).copied();
            Some((round.session, log_ratio(value(0)?, value(command)?)))
        };
        let pairs: Vec<(usize, f64)> = self.rounds.iter().filter_map(pair).collect();
        over_sessions(&pairs, self.sessions(), alpha)
    }

    /// What a person reads of the sessions.
    pub(super) fn session_lines(&self) -> Vec<String> {
        let over = self.over_sessions();
        let state = self.comparison.state();
        let candidates = over.iter().zip(&self.commands[1..]).zip(&state.candidates);
        let told = candidates.filter(|(_, candidate)| candidate.endings.is_none());
        let line = |(over, command): (&OverSessions, &super::commands::Command)| {
            over.over.as_ref().map(|over| format!("{} {}", command.name, said(over)))
        };
        let mut lines: Vec<String> = told.filter_map(|(both, _)| line(both)).collect();
        lines.extend(self.no_verdict(&over));
        if !over.is_empty() {
            lines.push(
                "each session ran new copies of programs and --data; host, kernel, and files that \
                 are not named were the same in all"
                    .to_owned(),
            );
        }
        lines
    }

    /// Why no verdict is about sessions.
    fn no_verdict(&self, over: &[OverSessions]) -> Option<String> {
        let (asked, of) = (self.sessions(), &over[..over.len().min(self.commands.len() - 1)]);
        let run = of.iter().map(|over| over.each.len()).min()?;
        if asked < ENOUGH_SESSIONS {
            return Some(format!(
                "{asked} sessions: too few for a verdict about sessions, {ENOUGH_SESSIONS} are \
                 needed"
            ));
        }
        (run < asked).then(|| {
            format!("{run} of {asked} sessions have two pairs: no verdict is about sessions")
        })
    }

    /// Adds the sessions to the result for other programs.
    pub(super) fn add_sessions_to(&self, result: &mut Value) {
        let mut over = self.over_sessions();
        if over.is_empty() {
            return;
        }
        let candidates = self.commands.len() - 1;
        let control = over.drain(candidates..).next();
        let no_verdict = self.no_verdict(&over);
        let within = self.comparison.state().candidates.into_iter();
        let within: Vec<_> = within.map(|mut found| found.metrics.remove(0).estimate).collect();
        result["sessions"] = json!({
            "asked": self.sessions(), "each": over, "control": control, "no_verdict": no_verdict,
            "within": within,
        });
    }
}

/// "over 6 sessions: +1.02 % (+0.21 … +1.83); …".
fn said(over: &Sessions) -> String {
    let percent = |shift: f64| 100.0 * shift.exp_m1();
    let estimate =
        Estimate { shift: over.estimate, interval: Some(over.interval), pairs: over.count };
    let [low, high] = over.tau_interval.map(percent);
    let chance = if over.differ() { "differs by session" } else { "no more than chance" };
    let [from, to] = over.prediction.map(percent);
    format!(
        "over {} sessions: {}; between sessions τ = {:.2} % ({low:.2} … {high:.2}): {chance}; the \
         next session will find {from:+.2} … {to:+.2} %",
        over.count,
        interval(&estimate),
        percent(over.tau),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(budget_s: f64, most_rounds: Option<usize>) -> Settings {
        Settings { budget_s, most_rounds, ..Settings::default() }
    }

    /// Rounds of one candidate, a second each, of these sessions.
    fn rounds(sessions: &[usize]) -> Vec<Round> {
        let round = |(at, session): (usize, &usize)| Round {
            elapsed_s: at as f64 + 1.0,
            wash: Vec::new(),
            order: vec![0, 1],
            session: *session,
            layout: Layout::default(),
            runs: vec![vec![1.0]; 2],
            statuses: vec![0; 2],
            in_a_row: Vec::new(),
        };
        sessions.iter().enumerate().map(round).collect()
    }

    #[test]
    fn each_session_has_its_part_of_the_time_and_of_the_rounds() {
        let next = |settings: &Settings, now, of: &[usize]| step(settings, 3, now, &rounds(of));
        let seconds = limits(9.0, None);
        assert_eq!(next(&seconds, 0, &[]), Step::Round);
        assert_eq!(next(&seconds, 0, &[0, 0]), Step::Round);
        assert_eq!(next(&seconds, 0, &[0, 0, 0]), Step::Session);
        assert_eq!(next(&seconds, 1, &[0, 0, 0]), Step::Round);
        assert_eq!(next(&seconds, 1, &[0, 0, 0, 1, 1]), Step::Round);
        assert_eq!(next(&seconds, 1, &[0, 0, 0, 1, 1, 1]), Step::Session);
        assert_eq!(next(&seconds, 2, &[0, 0, 0, 1, 1, 1, 2, 2, 2]), Step::End);
        // What the first took too long is taken from the others alike.
        assert_eq!(next(&seconds, 1, &[0, 0, 0, 0, 0, 1]), Step::Round);
        assert_eq!(next(&seconds, 1, &[0, 0, 0, 0, 0, 1, 1]), Step::Session);
        let runs = limits(1e9, Some(7));
        assert_eq!(next(&runs, 0, &[0]), Step::Round);
        assert_eq!(next(&runs, 0, &[0, 0]), Step::Session);
        assert_eq!(next(&runs, 2, &[0, 0, 1, 1, 2, 2]), Step::Round);
        assert_eq!(next(&runs, 2, &[0, 0, 1, 1, 2, 2, 2]), Step::End);
    }

    #[test]
    fn a_session_has_two_pairs_of_each_candidate_whatever_the_time() {
        let mut of = rounds(&[0, 0, 1, 1]);
        let little = limits(0.0, None);
        assert_eq!(step(&little, 2, 0, &of[..1]), Step::Round);
        assert_eq!(step(&little, 2, 0, &of[..2]), Step::Session);
        assert_eq!(step(&little, 2, 1, &of), Step::End);
        of[3].runs[1] = Vec::new();
        assert_eq!(step(&little, 2, 1, &of), Step::Round);
    }
}
