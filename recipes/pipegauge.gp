# Draws the CSV export of a run with gnuplot (5.2 or later): throughput, signature and saturation graph, with 95% intervals
# as bands.
#
#     pipegauge export RUN --format csv -o run.csv
#     gnuplot -c pipegauge.gp run.csv run.pdf [signature]
#
# The picture's name says what it becomes: .pdf, .svg or .png. Without a graph's name it holds all three.

if (ARGC < 2) { print "usage: gnuplot -c pipegauge.gp RUN.csv PICTURE.(pdf|svg|png) [throughput|signature|saturation]"; exit status 2 }
input = ARG1
graphs = (ARGC > 2) ? ARG3 : "throughput signature saturation"
if (!strstrt(" throughput signature saturation throughput signature saturation ", " ".graphs." ")) {
  print "pipegauge.gp: there is no graph '".graphs."': throughput, signature or saturation"; exit status 2
}

# Asks the shell about the input; a quote in its name is taken out of the quotes.
quoted = "'"
do for [i = 1:strlen(input)] { quoted = quoted.(input[i:i] eq "'" ? "'\\''" : input[i:i]) }
quoted = quoted."'"
header = system("head -n 1 ".quoted." 2>/dev/null | tr -d '\\r'")
if (header eq "") { print "pipegauge.gp: ".input." can't be read or is empty"; exit status 1 }
missing = ""
do for [column in "path transport size_bytes time median_s low_s high_s throughput_bits_per_s"] {
  if (!strstrt(",".header.",", ",".column.",")) { missing = missing." ".column }
}
if (missing ne "") {
  print "pipegauge.gp: ".input." has no column".missing.": it must be what 'pipegauge export RUN --format csv' writes"
  exit status 1
}
# Numbers and names of the paths, in their order, by the names of the columns.
field(name) = "awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { sub(/\\r/, \"\", $i); at[$i] = i } next } !seen[$at[\"path\"]]++ { print $at[\"".name."\"] }' ".quoted
numbers = system(field("path"))
names = system(field("transport"))
time = word(system(field("time")), 1)
if (words(numbers) == 0) { print "pipegauge.gp: ".input." holds no point: was anything measured?"; exit status 1 }
time = (time eq "half-round-trip") ? "RTT/2" : time

ending = ARG2[strlen(ARG2)-3:]
wide = 3.5 * words(graphs)
if (ending eq ".pdf") { set terminal pdfcairo size wide, 2.8 font "sans,8" linewidth 0.7 } else {
if (ending eq ".svg") { set terminal svg size 96*wide, 270 dynamic font "sans,11" background "white" } else {
if (ending eq ".png") { set terminal pngcairo size 300*wide, 840 font "sans,9" fontscale 3 linewidth 3 background "white" } else {
  print "pipegauge.gp: ".ARG2.": the name's ending says what to draw: .pdf, .svg or .png"; exit status 2 } } }
set output ARG2

set datafile separator comma
set datafile columnheaders
set datafile missing ""
array colours[8] = ["#0072b2", "#d55e00", "#008060", "#b0479a", "#7a5c00", "#3a3a3a", "#4f9fd6", "#e08a00"]
colour(i) = colours[(i - 1) % 8 + 1]
# Values of one path; nothing of the others. The bits that a transfer moves stay the same over its interval.
mine(i, value) = (strcol("path") eq word(numbers, i)) ? value : NaN
median(i) = mine(i, column("median_s") > 0 ? column("median_s") : NaN)
# An interval of few blocks may reach over the whole picture: it is cut at ten times, so that the axes are those of the curves.
low(i) = mine(i, column("low_s") > column("median_s") / 10 ? column("low_s") : column("median_s") / 10)
above(i) = strcol("high_s") ne "" ? column("high_s") : column("median_s")
high(i) = mine(i, above(i) < 10 * column("median_s") ? above(i) : 10 * column("median_s"))
bits = 'column("throughput_bits_per_s") * column("median_s")'
size = 'column("size_bytes")'

set border 3 lc "#5a5f66"
set tics nomirror out scale 0.6, 0.3
set grid xtics ytics lc "#e3e6ea" lt 1
set style fill transparent solid 0.25 noborder
set logscale xy
set key samplen 1.5 noautotitle
if (words(graphs) > 1) { set multiplot layout 1, words(graphs) }
do for [graph in graphs] {
  set title (graph eq "throughput" ? "Throughput graph" : graph eq "signature" ? "Signature graph" : "Saturation graph")
  set format y (graph eq "saturation" ? "%.0s %cs" : "%.0s %cbit/s")
  set ylabel (graph eq "saturation" ? "Transfer time (".time.")" : "Throughput") offset (graph eq "saturation" ? 1 : 2)
  set xlabel (graph eq "signature" ? "Transfer time (".time.")" : "Block size")
  if (graph eq "saturation") { set key top left Left reverse } else { set key bottom right Left reverse }
  if (graph eq "signature") {
    set format x "%.0s %cs"
    set xtics 100
    # An interval moves a point along both axes at once: a slanted stroke.
    plot for [i = 1:words(numbers)] input using (low(i)):(@bits / low(i)):(high(i) - low(i)):(@bits / high(i) - @bits / low(i)) \
           with vectors nohead lw 4 lc rgb "#bf".colour(i)[2:], \
         for [i = 1:words(numbers)] input using (median(i)):(@bits / median(i)) with lines lw 1.5 lc rgb colour(i) title word(names, i)
  } else {
    set xtics ("1 B" 1, "32 B" 32, "1 KiB" 1024, "32 KiB" 32768, "1 MiB" 2**20, "32 MiB" 2**25, "1 GiB" 2**30)
    if (graph eq "throughput") {
      plot for [i = 1:words(numbers)] input using (mine(i, @size)):(@bits / high(i)):(@bits / low(i)) with filledcurves lc rgb colour(i), \
           for [i = 1:words(numbers)] input using (mine(i, @size)):(@bits / median(i)) with lines lw 1.5 lc rgb colour(i) title word(names, i)
    } else {
      plot for [i = 1:words(numbers)] input using (mine(i, @size)):(low(i)):(high(i)) with filledcurves lc rgb colour(i), \
           for [i = 1:words(numbers)] input using (mine(i, @size)):(median(i)) with lines lw 1.5 lc rgb colour(i) title word(names, i)
    }
  }
}
if (words(graphs) > 1) { unset multiplot }
unset output
