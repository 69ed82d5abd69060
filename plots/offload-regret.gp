# Cumulative regret against the oracle: a panel per costs, a line per policy with its interval.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "offload-regret.gp") - 1]."style.gp"
file = ARG1."/regret.tsv"
stats file using (collect($0, strcol(1))) nooutput
panels = names
count = words(panels)
stats file using (collect($0, strcol(2))) nooutput
policies = names
laid = legend_of(0)
laid = lay(count, count < 2 ? 1 : count < 5 ? 2 : 3, 380, 280, 60, 36)
set terminal svg noenhanced size width, height font letters(12) background "white"
set output ARG2."/regret.svg"

here(costs, policy, value) = \
    strcol("costs") eq costs && strcol("policy") eq policy ? value : NaN
# Of what loses nothing there is no logarithm: below a microsecond it lies on the lower edge.
least = 1e-3
ms(value) = value > 1e6 * least ? value / 1e6 : least

set logscale y
set format y "%g"
set yrange [least:*]
set xlabel "steps"
set ylabel "ms lost"
set lmargin 10
set rmargin (narrow ? 3 : 1)
set tmargin 2.2
set bmargin 3.2
set key at screen key_x(0.995), screen key_y(1 - top) maxrows rows
set multiplot title titled("Cumulative regret", "regret")
set size panel_wide, panel_high
do for [i = 1:count] {
    costs = word(panels, i)
    set origin panel_x(i - 1), panel_y(i - 1)
    set title costs font ",11" noenhanced
    # Every fourth of a curve's hundred points, the last among them.
    plot for [policy in policies] file every 4::3 using \
            (here(costs, policy, column("step"))): \
            (ms(column("regret_low_ns"))):(ms(column("regret_high_ns"))) \
            with filledcurves fillstyle transparent solid 0.2 lc rgb colour(policy) notitle, \
        for [policy in policies] file every 4::3 using \
            (here(costs, policy, column("step"))):(ms(column("regret_ns"))) \
            with lines lw 1.5 lc rgb colour(policy) title policy
    unset key
}
unset multiplot
