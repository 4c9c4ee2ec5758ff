# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 14: sequential writes of one half of each block set, on zeros.
# gnuplot -c sun_zhang_14.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "half-block-to-0"; what = "one half of each block set, on zeros"; merge = 60
load plots_folder."/sun_zhang_merges.gp"
