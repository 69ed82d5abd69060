# Which share of decisions offload, over the steps around a change of the costs.
tables = ARG1
load ARG0[1:strstrt(ARG0, "offload-trajectory.gp") - 1]."style.gp"
file = ARG1."/trajectory.tsv"
# No panel for a change that no replay had.
stats file using (collect($0, strcol(1))) nooutput
changes = names
stats file using (collect($0, strcol(2))) nooutput
policies = names
width = 400 * words(changes) + legend_width(longest)
set terminal svg noenhanced size width, 380 font "Helvetica,12" background "white"
set output ARG2."/trajectory.svg"

here(change, policy, value) = \
    strcol("change") eq change && strcol("policy") eq policy ? value : NaN

set xrange [-50:200]
set yrange [-3:103]
set xlabel "steps since the change"
set ylabel "% of decisions that offload"
set lmargin 8
set rmargin 1
set arrow from 0, -3 to 0, 103 nohead dt 2 lc rgb "#888888"
set multiplot title "Decisions around a change (".time_scale("trajectory").")"
panel = 400.0 / width
set size panel, 0.92
do for [i = 0:words(changes) - 1] {
    change = word(changes, i + 1)
    set origin panel * i, 0
    if (i == 0) {
        set key at screen 0.995, screen 0.88 right top
    } else {
        unset key
    }
    set title "now it is better ".change font ",11" noenhanced
    plot for [policy in policies] file using \
        (here(change, policy, column("step"))):(100 * column("offload_share")) \
        with lines lw 1.5 lc rgb colour(policy) title policy
}
unset multiplot
