# Time of one transaction over the number of workers: a panel per load, a line per variant.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "threads-curve.gp") - 1]."style.gp"
file = ARG1."/curve.tsv"
panels = ARG1."/panels.tsv"
stats panels using (append($0, strcol("title"))) nooutput
titles = names
count = words(titles)
stats file using (collect($0, strcol(1))) nooutput
variants = names
laid = legend_of(1)
laid = lay(count, count < 2 ? 1 : count < 5 ? 2 : 3, 380, 300, 90, 50)
stats file using "workers" nooutput
most = STATS_max
set terminal svg noenhanced size width, height font letters(12) background "white"
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
set key at screen key_x(0.995), screen key_y(1 - top) maxrows rows
set multiplot title titled("Time per transaction over workers", "curve")
set size panel_wide, panel_high
do for [panel = 0:count - 1] {
    set origin panel_x(panel), panel_y(panel)
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
    unset key
}
unset multiplot
