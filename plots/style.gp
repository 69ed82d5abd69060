# The look that all pictures share. No statistic is made in a script: every number is read from a
# TSV file that the report wrote.
#
# Called as: gnuplot -c plots/NAME.gp TSV_FOLDER OUT_FOLDER. A script names its TSV_FOLDER in
# `tables` before it loads this one.

set encoding utf8
set datafile separator "\t"
set datafile missing "nan"
set datafile columnheaders
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd" lw 0.5
set key noenhanced

# Parts of the efficiency loss.
part_colours = "#88CCEE #CC6677 #DDCC77"

# What `stats` reads of a table stays in variables: an expression may set some, and no other program
# is asked. `stats file using (collect($0, strcol(1))) nooutput` leaves in `names` the names of a
# column, each once, in the order of the file, and in `longest` the letters of the longest one. In
# quotes, so that a name with a space is one gnuplot word.
names = ""
longest = 0
index_in(list, name) = sum [i = 1:words(list)] (word(list, i) eq name ? i : 0)
append(row, text) = (names = (row == 0 ? "" : names." ")."'".text."'", 0)
add(name) = (longest = strlen(name) > longest ? strlen(name) : longest, \
    index_in(names, name) > 0 ? 0 : append(strlen(names), name))
collect(row, name) = (row == 0 ? (names = "", longest = 0) : 0, add(name))

# Pixels that a legend beside the panels needs, at 12 points.
legend_width(letters) = 75 + 7 * letters

# A left margin that holds the first label of an axis whose labels are turned.
margin_for(least, letters) = 0.9 * letters > least ? 0.9 * letters : least

# The time scale of a picture's cells, as the report labelled it.
stats tables."/figures.tsv" using (append(2 * $0, strcol(1)), append(1, strcol(2))) nooutput
time_scales = names
time_scale(name) = word(time_scales, 1 + index_in(time_scales, name))

# One variant, one colour, in every picture of a page: as the report dealt them.
# Between tabs, which no name has; quotes, which some have, would part words elsewhere.
colours = "\t"
stats tables."/colours.tsv" \
    using (colours = colours.strcol(1)."\t".strcol(2)."\t", 0) nooutput
after(place, name) = int(colours[place + strlen(name) + 2 : place + strlen(name) + 9])
found(place, name) = place > 0 ? after(place, name) : 0x666666
colour(name) = found(strstrt(colours, "\t".name."\t"), name)

# Stretches of a workflow's task.
segment_colour(name) = \
    name eq "wait"         ? 0xBBBBBB : \
    name eq "queue"        ? 0xE69F00 : \
    name eq "start"        ? 0xF0E442 : \
    name eq "work"         ? 0x009E73 : \
    name eq "recording"    ? 0x0072B2 : \
    name eq "notification" ? 0xCC79A7 : \
    0x000000
