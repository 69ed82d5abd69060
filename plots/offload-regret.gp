# Cumulative regret against the oracle: a panel per costs, a line per policy with its interval.
tables = ARG1
load ARG0[1:strstrt(ARG0, "offload-regret.gp") - 1]."style.gp"
file = ARG1."/regret.tsv"
stats file using (collect($0, strcol(1))) nooutput
panels = names
stats file using (collect($0, strcol(2))) nooutput
policies = names
count = words(panels)
across = count < 2 ? 1 : count < 5 ? 2 : 3
down = (count + across - 1) / across
legend = legend_width(longest)
set terminal svg noenhanced size 380 * across + legend, 280 * down + 60 \
    font "Helvetica,12" background "white"
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
set rmargin 1
set tmargin 2.2
set bmargin 3.2
right = 1.0 * legend / (380 * across + legend)
top = 36.0 / (280 * down + 60)
set multiplot title "Cumulative regret (".time_scale("regret").")"
set size (1 - right) / across, (1 - top) / down
do for [i = 1:count] {
    costs = word(panels, i)
    set origin ((i - 1) % across) * (1 - right) / across, \
        (1 - top) * (1 - ((i - 1) / across + 1) / (1.0 * down))
    if (i == 1) {
        set key at screen 0.995, screen 1 - top right top
    } else {
        unset key
    }
    set title costs font ",11" noenhanced
    # Every fourth of a curve's hundred points, the last among them.
    plot for [policy in policies] file every 4::3 using \
            (here(costs, policy, column("step"))): \
            (ms(column("regret_low_ns"))):(ms(column("regret_high_ns"))) \
            with filledcurves fillstyle transparent solid 0.2 lc rgb colour(policy) notitle, \
        for [policy in policies] file every 4::3 using \
            (here(costs, policy, column("step"))):(ms(column("regret_ns"))) \
            with lines lw 1.5 lc rgb colour(policy) title policy
}
unset multiplot
