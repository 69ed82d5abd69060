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

# One variant, one colour, everywhere. What the published code did is the dark shade of its runtime.
colour(name) = \
    name eq "floor"                        ? 0x444444 : \
    name eq "tokio_default"                ? 0x0072B2 : \
    name eq "tokio_localset"               ? 0x56B4E9 : \
    name eq "tokio_localset_as_published"  ? 0x1B4F72 : \
    name eq "async_std"                    ? 0xE69F00 : \
    name eq "async_std_as_published"       ? 0x8C4A00 : \
    name eq "smol"                         ? 0x009E73 : \
    name eq "smol_1kb"                     ? 0xD66BA8 : \
    name eq "smol_1kb_as_published"        ? 0x7A2E5D : \
    name eq "dashmap"                      ? 0x0072B2 : \
    name eq "sharded_mutex"                ? 0xE69F00 : \
    name eq "owned"                        ? 0xD55E00 : \
    name eq "rayon"                        ? 0xCC79A7 : \
    name eq "sync"                         ? 0x444444 : \
    name eq "always_inline"                ? 0x444444 : \
    name eq "always_offload"               ? 0x56B4E9 : \
    name eq "threshold"                    ? 0xE69F00 : \
    name eq "ewma"                         ? 0x009E73 : \
    name eq "thompson"                     ? 0xD55E00 : \
    name eq "loom_rs"                      ? 0x0072B2 : \
    name eq "oracle"                       ? 0xCC79A7 : \
    name eq "sequential"                   ? 0x666633 : \
    name eq "tokio"                        ? 0x0072B2 : \
    name eq "tokio_async"                  ? 0x56B4E9 : \
    name eq "smol_multi"                   ? 0x117733 : \
    name eq "smolscale"                    ? 0x999933 : \
    name eq "threads"                      ? 0xD55E00 : \
    name eq "io_uring"                     ? 0xE69F00 : \
    name eq "rayon_jemalloc"               ? 0x882255 : \
    name eq "rayon_mimalloc"               ? 0xAA4499 : \
    name eq "ripgrep"                      ? 0x332288 : \
    name eq "grep"                         ? 0x8888CC : \
    name eq "ugrep"                        ? 0x5D3A9B : \
    name eq "jq"                           ? 0xA0522D : \
    name eq "duckdb"                       ? 0xCC3311 : \
    name eq "newline_scan"                 ? 0x000000 : \
    name eq "memory"                       ? 0x444444 : \
    name eq "journal"                      ? 0xE69F00 : \
    name eq "postgres"                     ? 0x0072B2 : \
    name eq "postgres_rabbitmq"            ? 0x56B4E9 : \
    name eq "dbos"                         ? 0x009E73 : \
    name eq "restate"                      ? 0xCC79A7 : \
    name eq "tasker"                       ? 0xD55E00 : \
    strstrt(name, "twin") > 0              ? 0xAAAAAA : \
    fallback(name)

# A stranger's colour depends on its name alone, so that it is the same in every picture.
fallback_colours = "0xCC3311 0x33BBEE 0xEE7733 0x117733 0x882255 0x999933 0x6699CC 0xAA4499"
letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
place(name, i) = strstrt(letters, name[i:i])
fallback(name) = int(word(fallback_colours, \
    1 + (place(name, 1) + 3 * place(name, strlen(name)) + strlen(name)) % words(fallback_colours)))

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

# Stretches of a workflow's task.
segment_colour(name) = \
    name eq "wait"         ? 0xBBBBBB : \
    name eq "queue"        ? 0xE69F00 : \
    name eq "start"        ? 0xF0E442 : \
    name eq "work"         ? 0x009E73 : \
    name eq "recording"    ? 0x0072B2 : \
    name eq "notification" ? 0xCC79A7 : \
    0x000000
