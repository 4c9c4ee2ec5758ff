# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 10: sequential writes of ones on zeros.
# gnuplot -c sun_zhang_10.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "1-to-0"; what = "ones on zeros"; merge = 120
load plots_folder."/sun_zhang_merges.gp"
