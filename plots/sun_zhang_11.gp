# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 11: sequential writes of zeros on ones.
# gnuplot -c sun_zhang_11.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "0-to-1"; what = "zeros on ones"; merge = 25
load plots_folder."/sun_zhang_merges.gp"
