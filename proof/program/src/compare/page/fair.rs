//! The chapter about the rules of others: beside each share of errors its power on the same noise.

use super::Table;

/// The first words of a row of two programs that are alike, and of one that takes 5 % more.
const KINDS: [&str; 2] = ["A/A: ", "+5.0 %: "];

/// How often a rule calls A and B different, of one recording.
struct Rule<'t> {
    name: &'t str,
    /// Where they are alike, and where B takes 5 % more.
    shares: [f64; 2],
}

/// The rules of one recording, in the table's order.
fn rules<'t>(replays: &'t Table, noise: &str) -> Vec<Rule<'t>> {
    let of = |kind: &str, name: &str| {
        let row = replays.rows.iter().find(|row| {
            replays.cell(row, "noise") == noise
                && replays.cell(row, "what").strip_prefix(kind) == Some(name)
        })?;
        replays.cell(row, "measured").parse().ok()
    };
    let named = replays.rows.iter().filter(|row| replays.cell(row, "noise") == noise);
    named
        .filter_map(|row| {
            let name = replays.cell(row, "what").strip_prefix(KINDS[0])?;
            let [alike, more] = KINDS.map(|kind| of(kind, name));
            Some(Rule { name, shares: [alike?, more?] })
        })
        .collect()
}

fn noises(replays: &Table) -> Vec<&str> {
    let mut noises: Vec<&str> = replays.rows.iter().map(|row| replays.cell(row, "noise")).collect();
    noises.dedup();
    noises
}

/// One table: a row for each rule, a column for each recording.
pub(super) fn chapter(replays: &Table) -> String {
    let noises = noises(replays);
    let mut text = format!(
        "# Errors and power of other rules on the same noise\n\n[Report](../report.md)\n\nReplays \
         of stored noise: how often (%) each rule calls A and B different, first where they are \
         one program, which is wrong, then where B takes 5 % more, which is right. Each is asked \
         at its own level and at ours. [replays.tsv](../replays.tsv)\n\n| rule | {} |\n|---|{}\n",
        noises.join(" | "),
        "---:|".repeat(noises.len())
    );
    let by_noise: Vec<Vec<Rule<'_>>> = noises.iter().map(|noise| rules(replays, noise)).collect();
    for Rule { name, .. } in by_noise.first().into_iter().flatten() {
        let cell = |rules: &Vec<Rule<'_>>| {
            let rule = rules.iter().find(|rule| rule.name == *name);
            rule.map_or("-".to_owned(), |rule| {
                let [alike, more] = rule.shares.map(|share| 100.0 * share);
                format!("{alike:.1}, {more:.1}")
            })
        };
        let cells: Vec<String> = by_noise.iter().map(cell).collect();
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

/// The same in the few words of a first screen: the recording on which two runs after another
/// mislead the most.
pub(super) fn short(replays: &Table) -> Option<String> {
    let blocked = |rule: &&Rule<'_>| rule.name.starts_with("Welch") && rule.name.contains("then");
    let worst = |noise: &&str| -> Option<f64> {
        Some(rules(replays, noise).iter().find(blocked)?.shares[0])
    };
    let noise = noises(replays)
        .into_iter()
        .max_by(|a, b| worst(a).unwrap_or_default().total_cmp(&worst(b).unwrap_or_default()))?;
    let rules = rules(replays, noise);
    let of = |named: &str| rules.iter().find(|rule| rule.name == named).map(|rule| rule.shares);
    let welch = rules.iter().find(blocked)?;
    let ours = of("this sequence at 1 %, at any of 100 looks")?;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    Some(format!(
        "\nOn noise \"{noise}\" 100 runs of A and then 100 of the same A: {} calls {} different, \
         and finds 5 % more in {}; 100 rounds here {}, and {}. [All rules at their level and at \
         ours](details/fair.md).\n",
        welch.name.split(',').next().unwrap_or_default(),
        percent(welch.shares[0]),
        percent(welch.shares[1]),
        percent(ours[0]),
        percent(ours[1])
    ))
}
