# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 12: sequential writes of ones on ones.
# gnuplot -c sun_zhang_12.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "1-to-1"; what = "ones on ones"; merge = 120
load plots_folder."/sun_zhang_merges.gp"
