# SPDX-License-Identifier: GPL-3.0-or-later
# Sun & Zhang figure 13: sequential writes of half of the bits set, on zeros.
# gnuplot -c sun_zhang_13.gp SAMPLES.csv OUTPUT
samples = ARG1; output_file = ARG2
plots_folder = system(sprintf("dirname '%s'", ARG0))
phase = "half-bits-to-0"; what = "half of the bits set, on zeros"; merge = 120
load plots_folder."/sun_zhang_merges.gp"
