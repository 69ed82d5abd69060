# Parallel efficiency of every concurrent run, as published and against solo runs.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "efficiency.gp") - 1]."style.gp"
file = ARG1."/efficiency.tsv"
# Without runs alone there is no true efficiency, and no panel for it.
numbers = 0
count_number(text) = (numbers = numbers + (strlen(text) > 0 && text ne "nan"), 0)
stats file using (count_number(strcol("efficiency_true"))) nooutput
panels = numbers > 0 ? 2 : 1
set terminal svg noenhanced size width_of(1000), 90 + 335 * panels font letters(13) \
    background "white"
set output ARG2."/efficiency.svg"

# The configurations of a variant stand side by side, in the order of their index.
stats file using (collect($0, strcol(1))) nooutput
variants = names
variant_letters = longest
stats file using (collect($0, strcol(3))) nooutput
configs = words(names)
x(variant, config) = variant + 0.7 * (config - (configs - 1) / 2.0) / configs

set xrange [-0.6:words(variants) - 0.4]
set yrange [0:105]
set format y "%g %%"
set lmargin margin_for(narrow ? 7 : 9, strlen(word(variants, 1)))
set rmargin 2
unset key
set multiplot title titled("Parallel efficiency of every concurrent run", "efficiency")
set title "as published: durations together ÷ (N × wall)"
if (panels == 2) {
    set size 1, 0.42
    set origin 0, 0.53
    unset xtics
} else {
    set size 1, 0.9
    set origin 0, 0
    set xtics rotate by turned(25) right noenhanced scale 0 ()
    set for [i=1:words(variants)] xtics add (word(variants, i) i - 1)
    set bmargin below(variant_letters)
}
plot file using (x($2, $4)):(100 * column("efficiency_as_published")):(colour(strcol("variant"))) \
    with points pt 7 ps 0.45 lc rgb variable
if (panels == 2) {
    set size 1, 0.53
    set origin 0, 0
    set xtics rotate by turned(25) right noenhanced scale 0 ()
    set for [i=1:words(variants)] xtics add (word(variants, i) i - 1)
    set bmargin below(variant_letters)
    set title "true: durations alone ÷ (N × wall)"
    plot file using (x($2, $4)):(100 * column("efficiency_true")):(colour(strcol("variant"))) \
        with points pt 7 ps 0.45 lc rgb variable
}
unset multiplot
