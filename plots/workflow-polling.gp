# Makespan over the client's polling interval: a panel per shape, a line per variant.
tables = ARG1
load ARG0[1:strstrt(ARG0, "workflow-polling.gp") - 1]."style.gp"
file = ARG1."/polling.tsv"
# Shapes that were run with one interval only say nothing here.
names = ""
stats file using (column("poll_ms") > 0 ? add(strcol("shape")) : 0) nooutput
shapes = names
count = words(shapes)
stats file using (collect($0, strcol("variant"))) nooutput
variants = names
legend = legend_width(longest)
set terminal svg noenhanced size 420 * count + legend, 360 font "Helvetica,12" background "white"
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
right = 1.0 * legend / (420 * count + legend)
set multiplot title "Makespan over the polling interval (".time_scale("polling").")"
set size (1 - right) / count, 0.9
do for [i = 1:count] {
    shape = word(shapes, i)
    set origin (i - 1) * (1 - right) / count, 0
    if (i == 1) {
        set key at screen 0.995, screen 0.85 right top
    } else {
        unset key
    }
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
}
unset multiplot
