# Tokens per second in every cell: of one stream, and of all agents over the wall time.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "tokens.gp") - 1]."style.gp"
file = ARG1."/tokens.tsv"
# The variants of a configuration stand side by side, in the order of their index.
stats file using (collect($0, strcol(1))) nooutput
variants = names
variant_letters = longest
laid = legend_of(0)
stats file using (collect($0, strcol(3))) nooutput
configs = names
config_letters = longest
panels = 760 + (narrow && config_letters > 20 ? 12 * (config_letters - 20) : 0)
height = panels + head
set terminal svg noenhanced size width_of(1100), height font letters(13) background "white"
set output ARG2."/tokens.svg"

x(config, variant) = config + 0.8 * (variant - (words(variants) - 1) / 2.0) / words(variants)
here(name, value) = strcol("variant") eq name ? value : NaN

set xrange [-0.6:words(configs) - 0.4]
set xtics noenhanced scale 0 font ",10" rotate by turned(12) right ()
set for [i=1:words(configs)] xtics add (word(configs, i) i - 1)
set format y "%g"
set bmargin below(config_letters)
set lmargin margin_for(11, 0.8 * config_letters)
set rmargin (narrow ? 2 : 12 + variant_letters)

# An axis is logarithmic where it spans a decade: below, the labels of a logarithm would touch.
spans_decade(least, most) = most > 10 * least
stats file using (column("stream")) nooutput
one_is_log = spans_decade(STATS_min, STATS_max)
stats file using (column("pooled")) nooutput
all_is_log = spans_decade(STATS_min, STATS_max)
set multiplot title titled("Tokens per second by cell, medians over runs", "tokens")
body = 1.0 * panels / height
set size 1, 0.47 * body
set origin 0, 0.48 * body
set key at screen key_x(0.99), screen key_y(0.86) maxrows rows
set title "one stream while it streams"
set ylabel one_is_log ? "tokens/s (logarithmic)" : "tokens/s"
if (one_is_log) { set logscale y }
plot for [name in variants] file using (here(name, x($4, $2))):(column("stream")) \
    with points pt 7 ps 0.6 lc rgb colour(name) title name
set origin 0, 0
unset key
unset logscale y
set title "all agents over the wall time"
set ylabel all_is_log ? "tokens/s (logarithmic)" : "tokens/s"
if (all_is_log) { set logscale y }
plot for [name in variants] file using (here(name, x($4, $2))):(column("pooled")) \
    with points pt 7 ps 0.6 lc rgb colour(name)
unset multiplot
