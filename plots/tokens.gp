# Tokens per second in every cell: of one stream, and of all agents over the wall time.
load ARG0[1:strstrt(ARG0, "tokens.gp") - 1]."style.gp"
file = ARG1."/tokens.tsv"
set terminal svg noenhanced size 1100,760 font "Helvetica,13" background "white"
set output ARG2."/tokens.svg"

# The variants of a configuration stand side by side, in the order of their index.
variants = names_in(file, 1)
configs = names_in(file, 3)
x(config, variant) = config + 0.8 * (variant - (words(variants) - 1) / 2.0) / words(variants)
here(name, value) = strcol("variant") eq name ? value : NaN

set xrange [-0.6:words(configs) - 0.4]
set xtics noenhanced scale 0 font ",10" rotate by 12 right ()
set for [i=1:words(configs)] xtics add (word(configs, i) i - 1)
set logscale y
set format y "%.0f"
set ylabel "tokens/s (logarithmic)"
set lmargin 11
set rmargin 12 + longest_in(file, 1)
set multiplot title "Tokens per second by cell, medians over runs (".time_scale("tokens").")"
set size 1, 0.47
set origin 0, 0.48
set key at screen 0.99, 0.86 right top
set title "one stream while it streams"
plot for [name in variants] file using (here(name, x($4, $2))):(column("stream")) \
    with points pt 7 ps 0.6 lc rgb colour(name) title name
set origin 0, 0
unset key
set title "all agents over the wall time"
plot for [name in variants] file using (here(name, x($4, $2))):(column("pooled")) \
    with points pt 7 ps 0.6 lc rgb colour(name)
unset multiplot
