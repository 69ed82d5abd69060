# Which share of decisions offload, over the steps around a change of the costs.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "offload-trajectory.gp") - 1]."style.gp"
file = ARG1."/trajectory.tsv"
# No panel for a change that no replay had.
stats file using (collect($0, strcol(1))) nooutput
changes = names
stats file using (collect($0, strcol(2))) nooutput
policies = names
laid = legend_of(0)
laid = lay(words(changes), words(changes), 400, 350, 30, 30.4)
set terminal svg noenhanced size width, height font letters(12) background "white"
set output ARG2."/trajectory.svg"

here(change, policy, value) = \
    strcol("change") eq change && strcol("policy") eq policy ? value : NaN

set xrange [-50:200]
set yrange [-3:103]
set xlabel "steps since the change"
set ylabel "% of decisions that offload"
set lmargin 8
set rmargin (narrow ? 3 : 1)
set arrow from 0, -3 to 0, 103 nohead dt 2 lc rgb "#888888"
set key at screen key_x(0.995), screen key_y(0.88) maxrows rows
set multiplot title titled("Decisions around a change", "trajectory")
set size panel_wide, panel_high
do for [i = 0:words(changes) - 1] {
    change = word(changes, i + 1)
    set origin panel_x(i), panel_y(i)
    set title "now it is better ".change font ",11" noenhanced
    plot for [policy in policies] file using \
        (here(change, policy, column("step"))):(100 * column("offload_share")) \
        with lines lw 1.5 lc rgb colour(policy) title policy
    unset key
}
unset multiplot
