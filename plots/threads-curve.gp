# Time of one transaction over the number of workers: a panel per load, a line per variant.
tables = ARG1
load ARG0[1:strstrt(ARG0, "threads-curve.gp") - 1]."style.gp"
file = ARG1."/curve.tsv"
panels = ARG1."/panels.tsv"
stats panels using (append($0, strcol("title"))) nooutput
titles = names
count = words(titles)
across = count < 2 ? 1 : count < 5 ? 2 : 3
down = (count + across - 1) / across
stats file using (collect($0, strcol(1))) nooutput
variants = names
legend = legend_width(longest)
stats file using "workers" nooutput
most = STATS_max
set terminal svg noenhanced size 380 * across + legend, 300 * down + 90 \
    font "Helvetica,12" background "white"
set output ARG2."/curve.svg"

here(name, panel, value) = \
    strcol("variant") eq name && column("panel") == panel ? value : NaN

set logscale x 2
set logscale y
set format y "%g"
set xlabel "workers"
set ylabel "ns per transaction"
set xrange [0.8:1.25 * most]
set xtics 1, 2, most
set lmargin 11
set rmargin 1
set tmargin 2.2
set bmargin 3.2
right = 1.0 * legend / (380 * across + legend)
top = 50.0 / (300 * down + 90)
set multiplot title "Time per transaction over workers (".time_scale("curve").")"
set size (1 - right) / across, (1 - top) / down
do for [panel = 0:count - 1] {
    set origin (panel % across) * (1 - right) / across, \
        (1 - top) * (1 - (panel / across + 1) / (1.0 * down))
    if (panel == 0) {
        set key at screen 0.995, screen 1 - top right top
    } else {
        unset key
    }
    set title word(titles, panel + 1) font ",11" noenhanced
    plot for [name in variants] file using \
            (here(name, panel, column("workers"))):(column("ns_per_transaction")) \
            with lines lw 1.3 lc rgb colour(name) title name, \
        for [name in variants] file using \
            (here(name, panel, column("workers"))):(column("ns_per_transaction")): \
            (column("ns_per_transaction_low")):(column("ns_per_transaction_high")) \
            with yerrorbars pt 7 ps 0.4 lw 1 lc rgb colour(name) notitle, \
        for [name in variants] file using \
            (here(name, panel, column("workers"))):(column("ns_per_transaction")) \
            with points pt 7 ps 0.4 lc rgb colour(name) notitle, \
        panels using (column("panel") == panel ? 0.8 : NaN): \
            (column("sync_ns_per_transaction")):(1.25 * most - 0.8):(0) \
            with vectors nohead lw 1.5 dt 2 lc rgb "#666666" title "sync"
}
unset multiplot
