# The fastest number of workers by streams and busy work: a panel per variant, a field per cell.
tables = ARG1
load ARG0[1:strstrt(ARG0, "threads-heatmap.gp") - 1]."style.gp"
file = ARG1."/heatmap.tsv"
stats file using (collect($0, strcol(1))) nooutput
variants = names
count = words(variants)
across = count < 4 ? count : 3
down = (count + across - 1) / across
set terminal svg noenhanced size 520 * across + 110, 300 * down + 70 \
    font "Helvetica,12" background "white"
set output ARG2."/heatmap.svg"

is(name, value) = strcol("variant") eq name ? value : NaN
half(index, side) = index + 0.5 * side

set palette defined (0 "#f7fbff", 1 "#c6dbef", 2 "#9ecae1", 3 "#6baed6", 6 "#2171b5")
set cbrange [0:6]
unset colorbox
unset grid
unset key
set border 0
set tics scale 0
set xlabel "busy work per transaction, ns"
set ylabel "streams"
set tmargin 2.5
set bmargin 3.5
top = 40.0 / (300 * down + 70)
set multiplot title "Fastest number of workers: the darker, the more (".time_scale("heatmap").")" font ",11"
set size 1.0 / across, (1 - top) / down
do for [i = 1:count] {
    name = word(variants, i)
    set origin ((i - 1) % across) / (1.0 * across), \
        (1 - top) * (1 - ((i - 1) / across + 1) / (1.0 * down))
    set title name noenhanced
    plot file using (is(name, column("work_index"))):(column("streams_index")): \
            (half(column("work_index"), -1)):(half(column("work_index"), 1)): \
            (half(column("streams_index"), -1)):(half(column("streams_index"), 1)): \
            (log(column("best")) / log(2)):xtic(strcol("work_ns")):ytic(strcol("streams")) \
            with boxxyerror fillstyle solid border lc "white" lc palette, \
        file using (is(name, column("work_index"))):(column("streams_index")):(strcol("label")) \
            with labels noenhanced font ",10"
}
unset multiplot
