# Where the efficiency went: three parts that sum to the loss, mean over runs.
tables = ARG1; narrow = ARGC > 2
load ARG0[1:strstrt(ARG0, "loss.gp") - 1]."style.gp"
file = ARG1."/loss.tsv"
stats file using (collect($0, strcol(1))) nooutput
set terminal svg noenhanced size width_of(900), 520 font letters(13) background "white"
set output ARG2."/loss.svg"

against = narrow ? "" : " against solo runs"
set title titled("Loss of parallel efficiency".against.", mean over runs", "loss")
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 noborder
set boxwidth 0.65
set xtics rotate by turned(25) right noenhanced scale 0
set format y "%g %%"
set bmargin below(longest)
set lmargin margin_for(narrow ? 7 : 9, strlen(word(names, 1)))
set key outside top center horizontal height 0
set xzeroaxis lt -1
array part[3] = ["imbalance", "server contention", "client remainder"]
plot for [i=1:3] file using (100 * column(3 + i)):xtic(1) title part[i] \
    lc rgb word(part_colours, i)
