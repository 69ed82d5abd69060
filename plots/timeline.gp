# Agents over time: a lane for each agent of one run of each variant.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "timeline.gp") - 1]."style.gp"
file = ARG1."/timeline.tsv"
stats file using "lane" nooutput
lanes = int(STATS_max) + 1
set terminal svg noenhanced size width_of(1000), (narrow ? 34 : 24) * lanes + 165 \
    font letters(12) background "white"
set output ARG2."/timeline.svg"

set title titled("Agents over time, one run of each variant", "timeline")
unset grid
set grid x
set border 1
set ytics scale 0 noenhanced
set xlabel "ms since the first agent started"
set yrange [lanes - 0.5:-0.5]
set lmargin (narrow ? 2 : 34)
# A lane's name stands beside it or, in a narrow picture, above it.
bar_from = narrow ? 0 : -0.38
if (narrow) { set ytics left offset 1.5, 0.8 }
set rmargin 4
set bmargin 7
set key outside center bottom horizontal height 0
waiting = 0xE4E4E4
streaming = narrow ? "streaming (coloured), and its thread" : "streaming (coloured)"
# Records since variants tell it have, last, the thread that was given a call's last bytes.
has_threads = STATS_columns > 8
thread_of(segment, number) = \
    segment eq "streaming" ? sprintf(narrow ? "%d" : "thread %d", number) : ""
# Streaming has the variant's own colour.
shade(segment, variant) = segment eq "waiting" ? waiting : colour(variant)
plot keyentry with boxes fillstyle solid noborder lc rgb waiting title "waiting for a first token", \
    keyentry with boxes fillstyle solid noborder lc rgb colour("floor") title streaming, \
    file using (column("from_ms")):(column("lane")): \
        (column("from_ms")):(column("to_ms")): \
        (column("lane") + bar_from):(column("lane") + 0.38): \
        (shade(strcol("segment"), strcol("variant"))):ytic(strcol("name")) \
        with boxxyerror fillstyle solid noborder lc rgb variable notitle, \
    for [i = 1:has_threads] file using (0.5 * (column("from_ms") + column("to_ms"))): \
        (column("lane") + 0.5 * (bar_from + 0.38)):(thread_of(strcol("segment"), column(9))) \
        with labels font ",9" tc rgb "white" notitle
