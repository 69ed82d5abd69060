# Distribution of the delivery lag: the share of tokens that were handed over within a time.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "lag.gp") - 1]."style.gp"
file = ARG1."/lag.tsv"
# The first line as a row: the names of the columns.
unset datafile columnheaders
stats file every ::0::0 using (0) nooutput
do for [i = 1:STATS_columns] {
    stats file every ::0::0 using (collect(i - 1, strcol(i))) nooutput
}
set datafile columnheaders
laid = legend_of(-1)
height = 520 + head
set terminal svg noenhanced size width_of(1000), height font letters(13) background "white"
set output ARG2."/lag.svg"

set title titled("Delivery lag of every token: received minus sent", "lag")
set logscale x
set format x "%.0f"
set xlabel "delivery lag (µs, logarithmic)"
set ylabel "share of tokens"
set yrange [0:100]
set format y "%g %%"
set grid x y
if (narrow) {
    set key at screen key_x(0), screen key_y(1) + 16.0 / height maxrows rows
    set tmargin at screen 1 - (36.0 + head) / height
    set rmargin 3
    set format x "%.0s%c"
} else {
    set key outside right top
}
plot for [i=2:words(names)] file using (column(i) / 1e3):(100 * $1) \
    with lines lw 2 lc rgb colour(word(names, i)) title word(names, i)
