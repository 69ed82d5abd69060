# The look that all pictures share. No statistic is made in a script: every number is read from a
# TSV file that the report wrote.
#
# Called as: gnuplot -c plots/NAME.gp TSV_FOLDER OUT_FOLDER

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

# Names of a TSV file's columns, as gnuplot words (the report's names hold no space).
columns_of(file) = system(sprintf("head -n 1 '%s'", file))

# The names in a column, each once, in the order of the file. In quotes, so that a name with a space
# is one gnuplot word.
names_in(file, column) = system(sprintf( \
    "awk -F '\t' -v q=\"'\" 'NR > 1 && !seen[$%d]++ { print q $%d q }' '%s'", column, column, file))

# The number of a column by its name, and how many of its entries are numbers.
column_of(file, name) = int(system(sprintf( \
    "awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"%s\") print i }' '%s'", name, file)))
numbers_in(file, column) = int(system(sprintf( \
    "awk -F '\t' 'NR > 1 && $%d != \"\" && $%d != \"nan\" { n++ } END { print n + 0 }' '%s'", \
    column, column, file)))

# Letters of the longest entry of a column.
longest_in(file, column) = int(system(sprintf( \
    "awk -F '\t' 'NR > 1 && length($%d) > n { n = length($%d) } END { print n + 0 }' '%s'", \
    column, column, file)))

# Pixels that a legend beside the panels needs, at 12 points.
legend_width(letters) = 75 + 7 * letters

# A left margin that holds the first label of an axis whose labels are turned.
margin_for(least, letters) = 0.9 * letters > least ? 0.9 * letters : least

# The time scale of a picture's cells, as the report labelled it.
time_scale(name) = system(sprintf( \
    "awk -F '\t' '$1 == \"%s\" { printf \"%%s\", $2 }' '%s/figures.tsv'", name, ARG1))

# Stretches of a workflow's task.
segment_colour(name) = \
    name eq "wait"         ? 0xBBBBBB : \
    name eq "queue"        ? 0xE69F00 : \
    name eq "start"        ? 0xF0E442 : \
    name eq "work"         ? 0x009E73 : \
    name eq "recording"    ? 0x0072B2 : \
    name eq "notification" ? 0xCC79A7 : \
    0x000000
