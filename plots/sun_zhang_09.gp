# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 9: sequential writes of zeros on zeros.
# gnuplot -c sun_zhang_09.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "0-to-0"; what = "zeros on zeros"; merge = 25
load plots_folder."/sun_zhang_merges.gp"
