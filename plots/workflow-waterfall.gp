# One task of each shape as bars in time: a panel per shape and variant, a lane per step.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "workflow-waterfall.gp") - 1]."style.gp"
file = ARG1."/waterfall.tsv"
panels = ARG1."/waterfall-panels.tsv"
stats panels using (append($0, strcol("shape").", ".strcol("variant"))) nooutput
titles = names
stats panels using (append($0, strcol("lanes"))) nooutput
lane_counts = names
stats panels using (append($0, strcol("makespan_us"))) nooutput
makespans = names
count = words(titles)
# The rows of one panel alone are drawn, which stand together: a label is drawn for a row that is
# not a number, too.
array first[count]
array last[count]
do for [panel = 0:count - 1] {
    stats file using (column("panel") == panel ? $0 : NaN) nooutput
    first[panel + 1] = int(STATS_min)
    last[panel + 1] = int(STATS_max)
}
laid = lay(count, count < 2 ? 1 : 2, 560, 250, 90, 80)
set terminal svg noenhanced size width, height font letters(11) background "white"
set output ARG2."/waterfall.svg"

segments = "wait queue start work recording notification"
# At most five labels stand below a narrow panel.
few(end) = 10 ** floor(log10(end)) * (end < 2 * 10 ** floor(log10(end)) ? 0.5 : \
    end < 5 * 10 ** floor(log10(end)) ? 1 : 2)
# A step off the critical path is pale.
pale(colour) = 0xCC000000 + colour
shade(name, critical) = critical > 0 ? segment_colour(name) : pale(segment_colour(name))

unset grid
set border 1
set ytics scale 0
set xlabel "µs since submission" offset 0, 0.5
set tmargin 2
set bmargin 3
set lmargin (narrow ? 15 : 19)
set rmargin 2
set key at screen key_x(0.99), screen key_y(1 - 0.3 * top) maxrows 3
if (!narrow) { set key horizontal }
set multiplot title titled("One task of each shape", "waterfall")
set size panel_wide, panel_high
do for [panel = 0:count - 1] {
    set origin panel_x(panel), panel_y(panel)
    lanes = int(word(lane_counts, panel + 1))
    end = real(word(makespans, panel + 1))
    set title word(titles, panel + 1) font ",11" noenhanced
    set xrange [0:1.02 * end]
    if (narrow) { set xtics few(end) }
    set yrange [lanes - 0.5:-0.5]
    plot for [i = 1:words(segments)] keyentry with boxes fillstyle solid noborder \
            lc rgb segment_colour(word(segments, i)) title word(segments, i), \
        file every ::first[panel + 1]::last[panel + 1] using (column("from_us")):(column("lane")): \
            (column("from_us")):(column("to_us")): \
            (column("lane") - 0.38):(column("lane") + 0.38): \
            (shade(strcol("segment"), column("critical"))):ytic(strcol("step")) \
            with boxxyerror fillstyle solid noborder lc rgb variable notitle
    unset key
}
unset multiplot
