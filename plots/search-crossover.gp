# The fastest engine by corpus and query: a panel per number of threads, a field per cell.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "search-crossover.gp") - 1]."style.gp"
file = ARG1."/crossover.tsv"
stats file using (collect($0, strcol(1))) nooutput
threads = names
count = words(threads)
most = count < 3 ? count : 2

is(name, value) = strcol("threads") eq name ? value : NaN
half(index, side) = index + 0.5 * side
# A tie is pale: nobody's colour says that somebody won.
shade(name, tie) = tie > 0 ? 0xEEEEEE : colour(name)

broken(name, at) = has_long && at > 1 ? name[1:at]."\n".name[at + 1:*] : name
stats file using "query_index" name "query" nooutput
stats file using "corpus_index" name "corpus" nooutput
# A field is as wide as the longest name in it.
stats file using (collect($0, strcol("label"))) nooutput
label_letters = longest
# In a narrow picture it has its own width, and a long name two lines of small letters.
has_long = narrow && label_letters > 11
wide = 130 + 40 / most + (query_max + 1) * (7 * label_letters > 55 ? 7 * label_letters : 55)
laid = lay(count, most, wide, 300, 60, 36)
set terminal svg noenhanced size width, height font letters(11) background "white"
set output ARG2."/crossover.svg"
set xrange [-0.5:query_max + 0.5]
set yrange [-0.5:corpus_max + 0.5]
unset grid
unset key
set border 0
set tics scale 0
set xlabel "query, what finds most first"
set ylabel "corpus"
set tmargin 2.5
set bmargin 3.5
set lmargin (narrow ? 10 : 12)
set multiplot title titled("Fastest engine", "crossover") font ",11"
set size panel_wide, panel_high
do for [i = 1:count] {
    name = word(threads, i)
    set origin panel_x(i - 1), panel_y(i - 1)
    set title "threads: ".name noenhanced
    # All panels have all names, so that a field's place means the same in each.
    plot file using (column("query_index")):(column("corpus_index")): \
            xtic(strcol("query")):ytic(strcol("corpus")) with dots lc rgb "white", \
        file using (is(name, column("query_index"))):(column("corpus_index")): \
            (half(column("query_index"), -1)):(half(column("query_index"), 1)): \
            (half(column("corpus_index"), -1)):(half(column("corpus_index"), 1)): \
            (shade(strcol("engine"), column("tie"))) \
            with boxxyerror fillstyle transparent solid 0.55 border lc "white" lc rgb variable, \
        file using (is(name, column("query_index"))):(column("corpus_index")): \
            (broken(strcol("label"), strstrt(strcol("label"), "_"))) \
            with labels offset 0,(has_long ? 0.8 : 0.5) noenhanced font (has_long ? ",9" : ""), \
        file using (is(name, column("query_index"))):(column("corpus_index")): \
            (strcol("advantage")) \
            with labels offset 0,-0.7 font ",9" textcolor rgb "#333333" noenhanced
}
unset multiplot
