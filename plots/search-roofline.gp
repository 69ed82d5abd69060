# Gigabytes per second of every engine and peer, under the newline scan and the memory's bandwidth.
load ARG0[1:strstrt(ARG0, "search-roofline.gp") - 1]."style.gp"
file = ARG1."/roofline.tsv"
set terminal svg noenhanced size 1000,560 font "Helvetica,12" background "white"
set output ARG2."/roofline.svg"

# A ceiling is a line over the whole width and no bar.
is(kind, value) = strcol("kind") eq kind ? value : NaN
barred(value) = strcol("kind") eq "ceiling" ? NaN : value
low(value) = column("gigabytes_per_s_low") == column("gigabytes_per_s_low") ? \
    column("gigabytes_per_s_low") : value
high(value) = column("gigabytes_per_s_high") == column("gigabytes_per_s_high") ? \
    column("gigabytes_per_s_high") : value
label(row) = strcol("program")." ".strcol("read")

# What reads by itself and what maps stand side by side under the program's name.
set title "Speed of a whole search (".time_scale("roofline").")"
set ylabel "GB/s"
set yrange [0:*]
set xrange [-0.7:*]
set xtics rotate by 35 right noenhanced scale 0
set bmargin 9
set lmargin 12
set rmargin 3
set boxwidth 0.7
set style fill solid 0.85
unset key
speed = "gigabytes_per_s"
plot file using 0:(barred(column(speed))):(colour(strcol("program"))):xtic(label(0)) \
        with boxes lc rgb variable, \
    file using 0:(barred(column(speed))):(low(column(speed))):(high(column(speed))) \
        with yerrorbars pt -1 lw 1.2 lc rgb "#222222", \
    file using (is("ceiling", -0.7)):(column(speed)):(1000):(0) \
        with vectors nohead dt 2 lw 1.5 lc rgb "#444444", \
    file using (is("ceiling", -0.6)):(column(speed)):(label(0)) \
        with labels left offset 0,0.5 noenhanced textcolor rgb "#444444"
