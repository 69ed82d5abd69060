# Makespan over the client's polling interval: a panel per shape, a line per variant.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "workflow-polling.gp") - 1]."style.gp"
file = ARG1."/polling.tsv"
# Shapes that were run with one interval only say nothing here.
names = ""
stats file using (column("poll_ms") > 0 ? add(strcol("shape")) : 0) nooutput
shapes = names
count = words(shapes)
stats file using (collect($0, strcol("variant"))) nooutput
variants = names
laid = legend_of(1)
laid = lay(count, count, 420, 324, 36, 36)
set terminal svg noenhanced size width, height font letters(12) background "white"
set output ARG2."/polling.svg"

# A logarithmic axis has no zero: 0.1 ms stands for push notification.
place_of(poll) = poll == 0 ? 0.1 : poll
here(name, shape, value) = \
    strcol("variant") eq name && strcol("shape") eq shape ? value : NaN
set logscale xy
set xrange [0.07:80]
set xtics ("push" 0.1, "1" 1, "10" 10, "50" 50)
set format y "%g"
set xlabel "polling interval in ms"
set ylabel "makespan in ms"
set lmargin 9
set rmargin 1
set tmargin 2.2
set bmargin 3.2
set key at screen key_x(0.995), screen key_y(0.85) maxrows rows
set multiplot title titled("Makespan over the polling interval", "polling")
set size panel_wide, panel_high
do for [i = 1:count] {
    shape = word(shapes, i)
    set origin panel_x(i - 1), panel_y(i - 1)
    set title shape font ",11" noenhanced
    plot [0.07:80] x >= 1 ? x : NaN with lines lw 1.5 dt 2 lc rgb "#999999" title "the interval", \
        for [name in variants] file using \
            (here(name, shape, place_of(column("poll_ms")))):(column("makespan_ns") / 1e6) \
            with lines lw 1.3 lc rgb colour(name) title name, \
        for [name in variants] file using \
            (here(name, shape, place_of(column("poll_ms")))):(column("makespan_ns") / 1e6): \
            (column("makespan_ns_low") / 1e6):(column("makespan_ns_high") / 1e6) \
            with yerrorbars pt 7 ps 0.4 lw 1 lc rgb colour(name) notitle, \
        for [name in variants] file using \
            (here(name, shape, place_of(column("poll_ms")))):(column("makespan_ns") / 1e6) \
            with points pt 7 ps 0.4 lc rgb colour(name) notitle
    unset key
}
unset multiplot
