# The picture of `lab compare --plot`: the confidence sequence over time, and the differences of the
# pairs. No statistic is made here: every number is read from TSV files.
#
# Called as: gnuplot -c plot.gp TABLES PICTURES TERMINAL NUMBERS CONTROL CANDIDATES METRIC TITLE OUTSIDE
# TABLES holds looks.tsv and histogram.tsv; the columns of the middles are headed by the names. The
# picture is PICTURES/picture.TERMINAL.
# NUMBERS are the margin and the ends of the axis, in one word each. CONTROL is 1 where the first
# series is the control. OUTSIDE counts the pairs that no bar has.

set encoding utf8
set datafile separator "\t"
set datafile missing "nan"
set datafile columnheaders
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd" lw 0.5
set key noenhanced

looks = ARG1."/looks.tsv"
bars = ARG1."/histogram.tsv"
margin = real(word(ARG4, 1))
low = real(word(ARG4, 2))
high = real(word(ARG4, 3))
control = int(ARG5)
candidates = int(ARG6)

# The reference against itself is grey; candidates have the colours of the repository's pictures.
colours = "0x0072B2 0xD55E00 0x009E73 0xCC79A7 0xE69F00 0x56B4E9"
colour(i) = int(word(colours, 1 + (i - 1) % words(colours)))
grey = 0x777777
# Of the candidate i, from 1: its place among the series, and its columns in looks.tsv.
series(i) = i - 1 + control
middle(i) = 2 + 3 * series(i)

if (ARG3 eq "png") {
    set terminal pngcairo noenhanced size 1000,760 font "Helvetica,12" background "white"
} else {
    set terminal svg noenhanced size 1000,760 font "Helvetica,13" background "white"
}
set output ARG2."/picture.".ARG3

set lmargin 11
set rmargin 3
set multiplot
# Above: what was known when.
set origin 0, 0.38
set size 1, 0.62
set title ARG8
set xlabel "time since the first round (s)"
set ylabel ARG7.": difference (%)"
set format y "%+g"
set ytics add ("0" 0)

set yrange [low:high]
set xrange [0:*]
set object 1 rectangle from graph 0, first -margin to graph 1, first margin \
    fc rgb "#F3EBD0" fillstyle solid noborder behind
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead lc rgb "#333333" lw 1 back
set key outside center top horizontal samplen 2
plot \
    keyentry with boxes fc rgb "#F3EBD0" fs solid noborder title sprintf("margin, ±%g %%", margin), \
    for [i=1:control] looks using 1:3:4 with filledcurves fc rgb grey fs transparent solid 0.18 notitle, \
    for [i=1:candidates] looks using 1:(column(middle(i) + 1)):(column(middle(i) + 2)) \
        with filledcurves fc rgb colour(i) fs transparent solid 0.25 notitle, \
    for [i=1:control] looks using 1:2 with lines lw 1.5 dt 2 lc rgb grey \
        title "control: the reference against a copy", \
    for [i=1:candidates] looks using 1:(column(middle(i))) with lines lw 2 lc rgb colour(i) \
        title columnheader(middle(i))

# Below: the pairs that it is made of.
set origin 0, 0
set size 1, 0.38
unset title
unset object 1
unset arrow 1
set xlabel "difference of a pair (%)".(ARG9 eq "0" ? "" : "; ".ARG9." lie outside")
set ylabel "pairs"
set format x "%+g"
set xtics add ("0" 0)
set format y "%g"
set ytics autofreq
set xrange [*:*]
set yrange [0:*]
set object 2 rectangle from first -margin, graph 0 to first margin, graph 1 \
    fc rgb "#F3EBD0" fillstyle solid noborder behind clip
set arrow 2 from first 0, graph 0 to first 0, graph 1 nohead lc rgb "#333333" lw 1 back
unset key
set boxwidth 1 relative
plot \
    for [i=1:candidates] bars using 1:(column(2 + series(i))) with boxes \
        fc rgb colour(i) fs transparent solid 0.35 noborder notitle, \
    for [i=1:control] bars using 1:2 with histeps lw 1.5 dt 2 lc rgb grey notitle
unset multiplot
