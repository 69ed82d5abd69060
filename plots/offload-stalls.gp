# The tail of wake-ups and the longest block of a worker: a row per load, a mark per policy.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "offload-stalls.gp") - 1]."style.gp"
file = ARG1."/stalls.tsv"
stats file using (collect($0, strcol("load").",".strcol("tokio_workers"))) nooutput
places = names
stats file using (collect($0, strcol("load"))) nooutput
load_letters = longest
stats file using (collect($0, strcol("policy"))) nooutput
policies = names
count = words(places)
# Characters of the longest label, which both panels have where they stand below each other.
labels = load_letters + (narrow ? 3 : 15)
laid = legend_of(0)
high = 32 * count + 150
laid = lay(2, 2, 350 + 3.5 * labels, high, 0, 0.06 * high)
set terminal svg noenhanced size width, height font letters(12) background "white"
set output ARG2."/stalls.svg"

# Counted from above, in the order of the table.
row(name, workers) = index_in(places, name.",".workers)
shift_of(policy) = 0.09 * (index_in(policies, policy) - 0.5 * (1 + words(policies)))
here(policy, value) = strcol("policy") eq policy ? value : NaN
y(policy) = -row(strcol("load"), strcol("tokio_workers")) - shift_of(policy)

set logscale x
set format x "%g"
if (narrow) {
    # Labels within a decade would touch: there are two of them.
    set xtics 10
    set xrange [* < 0.1 : 10 < *]
}
set xlabel "ms"
unset ylabel
set yrange [-count - 0.6:-0.4]
set grid x y
set rmargin 3
set key at screen key_x(0.995), screen key_y(0.9) maxrows rows
set multiplot title titled(narrow ? "Stalls by load and number of workers" : "Stalls", "stalls")
left = (350.0 + 7 * labels) / width
do for [i = 0:1] {
    has_labels = narrow || i == 0
    set origin (narrow ? 0 : left * i), panel_y(i)
    set size (narrow ? 1 : i == 0 ? left : 350.0 / width), panel_high
    set lmargin (has_labels ? labels : 2)
    set ytics ()
    do for [n = 1:count] {
        place = word(places, n)
        at = strstrt(place, ",")
        label = place[1:at - 1].", ".place[at + 1:*].(narrow ? "" : " worker(s)")
        set ytics add ((has_labels ? label : "") -n)
    }
    if (i == 0) {
        set title "P99.9 of ticks" font ",11"
        plot for [policy in policies] file using \
                (here(policy, column("tick_p999_ns") / 1e6)):(y(policy)): \
                (column("tick_p999_low_ns") / 1e6):(column("tick_p999_high_ns") / 1e6) \
                with xerrorbars pt 7 ps 0.01 lw 1 lc rgb colour(policy) notitle, \
            for [policy in policies] file using \
                (here(policy, column("tick_p999_ns") / 1e6)):(y(policy)) \
                with points pt 7 ps 0.6 lc rgb colour(policy) title policy
    } else {
        unset key
        set title "longest block of a worker, all runs" font ",11"
        plot for [policy in policies] file using \
            (here(policy, column("block_longest_worst_ns") / 1e6)):(y(policy)) \
            with points pt 5 ps 0.6 lc rgb colour(policy) notitle
    }
}
unset multiplot
