#!/usr/bin/env Rscript
# Adds R's answers to the cases of golden.py for lab/stats/tests/golden.rs:
#   Rscript golden.R scipy.json > r.tsv
# Base R alone; the samples are read from the lines that golden.py writes.

cases <- function(path) {
  text <- paste(readLines(path), collapse = " ")
  numbers <- function(key) {
    found <- regmatches(text, gregexpr(paste0('"', key, '": \\[[^]]*\\]'), text))[[1]]
    lapply(found, function(one) as.numeric(strsplit(gsub('.*\\[|\\]|\\s', "", one), ",")[[1]]))
  }
  Map(list, numbers("a"), numbers("b"))
}

row <- function(index, one) {
  x <- one[[1]]
  # Exact intervals need values without ties and zeros; the others are left out.
  if (any(duplicated(abs(x))) || any(x == 0)) return(NULL)
  rank <- wilcox.test(x, conf.int = TRUE, conf.level = 0.9, exact = TRUE)
  margin <- 2 * max(abs(x)) / 3
  tost <- max(
    wilcox.test(x, mu = margin, alternative = "less", exact = TRUE)$p.value,
    wilcox.test(x, mu = -margin, alternative = "greater", exact = TRUE)$p.value
  )
  holm <- p.adjust(pmin(1, abs(x) / max(abs(x)) / 4), "holm")
  values <- c(rank$estimate, rank$conf.int, margin, tost, max(holm), min(holm))
  cat(index - 1, format(values, digits = 12, trim = TRUE, scientific = TRUE), sep = "\t")
  cat("\n")
}

path <- commandArgs(trailingOnly = TRUE)[1]
cat("# ", R.version.string, "\n", sep = "")
cat("case", "hodges_lehmann", "low_90", "high_90", "margin", "tost_p", "holm_max", "holm_min",
    sep = "\t")
cat("\n")
all <- cases(path)
for (index in seq_along(all)) row(index, all[[index]])
