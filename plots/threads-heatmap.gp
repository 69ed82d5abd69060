# The fastest number of workers by streams and busy work: a panel per variant, a field per cell.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "threads-heatmap.gp") - 1]."style.gp"
file = ARG1."/heatmap.tsv"
stats file using (collect($0, strcol(1))) nooutput
variants = names
count = words(variants)
most = count < 4 ? count : 3
laid = lay(count, most, 520 + 110 / most, 300, 70, 40)
set terminal svg noenhanced size width, height font letters(12) background "white"
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
set lmargin (narrow ? 9 : -1)
set rmargin (narrow ? 1 : -1)
set multiplot title titled("Fastest number of workers: the darker, the more", "heatmap") \
    font ",11"
set size panel_wide, panel_high
do for [i = 1:count] {
    name = word(variants, i)
    set origin panel_x(i - 1), panel_y(i - 1)
    set title name noenhanced
    plot file using (is(name, column("work_index"))):(column("streams_index")): \
            (half(column("work_index"), -1)):(half(column("work_index"), 1)): \
            (half(column("streams_index"), -1)):(half(column("streams_index"), 1)): \
            (log(column("best")) / log(2)):xtic(strcol("work_ns")):ytic(strcol("streams")) \
            with boxxyerror fillstyle solid border lc "white" lc palette, \
        file using (is(name, column("work_index"))):(column("streams_index")):(strcol("label")) \
            with labels noenhanced font (narrow ? ",9" : ",10")
}
unset multiplot
