# The look that all pictures share. No statistic is made in a script: every number is read from a
# TSV file that the report wrote.
#
# Called as: gnuplot -c plots/NAME.gp TSV_FOLDER OUT_FOLDER [narrow]. Before a script loads this
# one it names its TSV_FOLDER in `tables`, and says in `narrow` whether there is a third argument.

set encoding utf8
set datafile separator "\t"
set datafile missing "nan"
set datafile columnheaders
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd" lw 0.5
set key noenhanced

# A narrow picture is for windows as wide as a telephone's: its panels stand below each other, and
# the legend above them. There it has its caption, and so its time scale, below it. A legend has no
# more rows than go into its panel: `height` lends it some, and lifts it by half of them.
lent = 20
if (narrow) { set key left Left reverse samplen 1.5 height -lent }
width_of(wide) = narrow ? 360 : wide
letters(points) = "Helvetica,".(narrow ? 11 : points)
turned(degrees) = narrow ? 65 : degrees
titled(text, name) = narrow ? text : text." (".time_scale(name).")"

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

# What a legend needs, of the names that were collected last and of `others`: pixels at the right of
# the panels or, in a narrow picture, rows, and their pixels above the panels.
rows = 0
head = 0
legend = 0
in_columns(count, columns) = (count + columns - 1) / (columns > 0 ? columns : 1)
legend_of(others) = narrow \
    ? (rows = in_columns(words(names) + others, int(352 / (35 + 7.7 * longest))), \
        head = 17 * rows) \
    : (legend = 75 + 7 * longest)

# Where panels stand: `most` of them beside each other, each so `wide` and `high`, on a picture with
# so many `more` pixels of height, below a title that has `over` of them.
lay(count, most, wide, high, more, over) = ( \
    across = narrow ? 1 : most, down = (count + across - 1) / across, \
    width = width_of(wide * across + legend), height = high * down + more + head, \
    right = 1.0 * legend / width, top = 1.0 * (over + head) / height, \
    panel_wide = (1 - right) / across, panel_high = (1 - top) / down)
panel_x(i) = (i % across) * (1 - right) / across
panel_y(i) = (1 - top) * (1 - (i / across + 1) / (1.0 * down))
key_x(wide) = narrow ? 0.01 : wide
key_y(wide) = narrow ? 1 - (24 + 8.25 * lent) / height : wide

# A left margin that holds the first label of an axis whose labels are turned, and one below them:
# gnuplot itself leaves more than steep labels need.
aside(letters) = (narrow ? 0.38 : 0.9) * letters
margin_for(least, letters) = aside(letters) > least ? aside(letters) : least
below(letters) = narrow ? 1.4 + 0.33 * letters : -1

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
