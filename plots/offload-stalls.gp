# The tail of wake-ups and the longest block of a worker: a row per load, a mark per policy.
tables = ARG1
load ARG0[1:strstrt(ARG0, "offload-stalls.gp") - 1]."style.gp"
file = ARG1."/stalls.tsv"
stats file using (collect($0, strcol("load").",".strcol("tokio_workers"))) nooutput
places = names
stats file using (collect($0, strcol("load"))) nooutput
load_letters = longest
stats file using (collect($0, strcol("policy"))) nooutput
policies = names
count = words(places)
# Characters of the longest label, and pixels of both panels beside the labels.
labels = load_letters + 15
width = 700 + 7 * labels + legend_width(longest)
set terminal svg noenhanced size width, 32 * count + 150 font "Helvetica,12" background "white"
set output ARG2."/stalls.svg"

# Counted from above, in the order of the table.
row(name, workers) = index_in(places, name.",".workers)
shift_of(policy) = 0.09 * (index_in(policies, policy) - 0.5 * (1 + words(policies)))
here(policy, value) = strcol("policy") eq policy ? value : NaN
y(policy) = -row(strcol("load"), strcol("tokio_workers")) - shift_of(policy)

set logscale x
set format x "%g"
set xlabel "ms"
unset ylabel
set yrange [-count - 0.6:-0.4]
set grid x y
set rmargin 3
set key at screen 0.995, screen 0.9 right top
set multiplot title "Stalls (".time_scale("stalls").")"
left = (350.0 + 7 * labels) / width
do for [i = 0:1] {
    set origin left * i, 0
    set size (i == 0 ? left : 350.0 / width), 0.94
    set lmargin (i == 0 ? labels : 2)
    set ytics ()
    do for [n = 1:count] {
        place = word(places, n)
        at = strstrt(place, ",")
        label = place[1:at - 1].", ".place[at + 1:*]." worker(s)"
        set ytics add ((i == 0 ? label : "") -n)
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
