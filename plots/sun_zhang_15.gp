# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 15: sequential writes of both halves of each block set, on zeros.
# gnuplot -c sun_zhang_15.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "both-halves-to-0"; what = "both halves of each block set, on zeros"; merge = 120
load plots_folder."/sun_zhang_merges.gp"
