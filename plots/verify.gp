# SPDX-License-Identifier: GPL-3.0-or-later
# What was written to the whole drive and did not come back, with the speeds.
# gnuplot -c verify.gp SAMPLES.csv OUTPUT [FINDINGS]
probe = "verify"
call system(sprintf("dirname '%s'", ARG0))."/scan.gp" ARG1 ARG2 ARG3
