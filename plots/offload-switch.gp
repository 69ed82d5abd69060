# Which share of changes a policy has followed, over the steps since the change.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "offload-switch.gp") - 1]."style.gp"
file = ARG1."/switch-times.tsv"
# No panel for a change that no replay had.
stats file using (collect($0, strcol(1))) nooutput
changes = names
stats file using (collect($0, strcol(2))) nooutput
policies = names
laid = legend_of(0)
laid = lay(words(changes), words(changes), 400, 350, 30, 30.4)
set terminal svg noenhanced size width, height font letters(12) background "white"
set output ARG2."/switch-times.svg"

here(change, policy, value) = \
    strcol("change") eq change && strcol("policy") eq policy ? value : NaN

# Step 0 has its place on a logarithmic axis.
set logscale x
set xrange [1:201]
set xtics ("0" 1, "1" 2, "4" 5, "9" 10, "19" 20, "49" 50, "99" 100, "199" 200)
set yrange [0:105]
set xlabel "steps since the change"
set ylabel "% of changes followed"
set lmargin 8
set rmargin (narrow ? 3 : 1)
set key at screen key_x(0.995), screen key_y(0.88) maxrows rows
set multiplot title titled("How soon a change is followed", "switch-times")
set size panel_wide, panel_high
do for [i = 0:words(changes) - 1] {
    change = word(changes, i + 1)
    set origin panel_x(i), panel_y(i)
    set title "now it is better ".change font ",11" noenhanced
    plot for [policy in policies] file using \
        (here(change, policy, 1 + column("steps"))):(100 * column("share")) \
        with steps lw 1.8 lc rgb colour(policy) title policy
    unset key
}
unset multiplot
