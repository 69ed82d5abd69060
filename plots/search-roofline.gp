# Gigabytes per second of every engine and peer, under the memory's bandwidth.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "search-roofline.gp") - 1]."style.gp"
file = ARG1."/roofline.tsv"
set terminal svg noenhanced size width_of(1000), 560 font letters(12) background "white"
set output ARG2."/roofline.svg"

# A ceiling is a line over the whole width and no bar.
is(kind, value) = strcol("kind") eq kind ? value : NaN
barred(value) = strcol("kind") eq "ceiling" ? NaN : value
low(value) = column("gigabytes_per_s_low") == column("gigabytes_per_s_low") ? \
    column("gigabytes_per_s_low") : value
high(value) = column("gigabytes_per_s_high") == column("gigabytes_per_s_high") ? \
    column("gigabytes_per_s_high") : value
label(row) = strcol("program")." ".strcol("read")

speed = "gigabytes_per_s"
stats file using (barred(column(speed))) name "bars" nooutput
count = bars_records
stats file using (collect($0, strcol(1))) nooutput

# A ceiling stands last in the file, and its name on its line.
set title titled("Speed of a whole search", "roofline")
set ylabel "GB/s"
set yrange [0:*]
set xrange [-0.7:count - 0.3]
set offsets graph 0, 0, 0.08, 0
set xtics rotate by (narrow ? 90 : 35) right noenhanced scale 0 font (narrow ? ",10" : "")
set bmargin (narrow ? below(longest + strlen(" buffered")) : 9)
set lmargin margin_for(narrow ? 9 : 14, strlen(word(names, 1)) + strlen(" buffered"))
set rmargin 3
set boxwidth 0.7
set style fill solid 0.85
unset key
plot file using 0:(barred(column(speed))):(colour(strcol("program"))):xtic(label(0)) \
        with boxes lc rgb variable, \
    file using 0:(barred(low(column(speed)))):(0):(high(column(speed)) - low(column(speed))) \
        with vectors nohead lw 3 lc rgb "#222222", \
    file using (is("ceiling", -0.7)):(column(speed)):(count + 0.4):(0) \
        with vectors nohead dt 2 lw 1.5 lc rgb "#444444", \
    file using (is("ceiling", -0.6)):(column(speed)):(label(0)) \
        with labels left offset 0,0.6 noenhanced textcolor rgb "#444444"
