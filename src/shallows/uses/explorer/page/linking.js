// The landscape, the plot of index against loss and the table show the same points; pointing at one marks the others.
let pictured = null, linked = null;

function showLandscape(picture) {
  const place = document.getElementById("landscape");
  if (!place || !picture) return;
  if (pictured) { pictured.update(picture); return; }
  pictured = shallowsLandscape(place, picture);
  pictured.onhover((number) => link(number, pictured));
  recallLandscape();
  pictured.roll();
  if (steps.length) tell();
}

// Point `number` is marked everywhere but where it was pointed at.
function link(number, from) {
  linked = number;
  if (pictured && from !== pictured) pictured.highlight(number);
  const listed = scene.landscape.listed !== false; // the rows are the points
  document.querySelectorAll("#table tbody tr").forEach((row, i) => {
    if (!listed) return;
    row.classList.toggle("linked", i + 1 === number);
    if (i + 1 === number && from === pictured) keepInSight(row);
  });
  ringPlots();
}

function keepInSight(row) {
  const box = document.getElementById("table"), top = row.offsetTop - box.firstElementChild.tHead.offsetHeight;
  if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight - 30) box.scrollTop = top;
}

// A ring around the point in every plot that has it, by the numbers that its traces carry.
function ringPlots() {
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    let ring = plot.querySelector(".ring");
    const place = linked === null ? null : placeIn(plot, linked);
    if (!place) { if (ring) ring.remove(); continue; }
    if (!ring) { ring = make("div", { className: "ring" }); plot.append(ring); }
    ring.style.transform = `translate(${place[0]}px, ${place[1]}px)`;
  }
}

function placeIn(plot, number) {
  const { xaxis, yaxis } = plot._fullLayout;
  for (const { customdata, x, y, type } of plot.data) {
    const at = type === "scatter" && Array.isArray(customdata) ? customdata.findIndex((given) => given[0] === number) : -1;
    if (at >= 0) return [xaxis._offset + xaxis.d2p(numbers(x)[at]), yaxis._offset + yaxis.d2p(numbers(y)[at])];
  }
  return null;
}

// Called once a plot is drawn, and once the table is there.
function linkPlot(plot) {
  if (plot.dataset.linked || !plot.on) return;
  plot.dataset.linked = "true";
  plot.on("plotly_hover", ({ points: [point] }) => { if (pictured && point.customdata) link(point.customdata[0], plot); });
  plot.on("plotly_unhover", () => { if (pictured) link(null, plot); });
}
function linkTable(table) {
  if (table.dataset.linked) return;
  table.dataset.linked = "true";
  const point = (event) => {
    const row = event.target.closest("tbody tr");
    if (pictured && scene.landscape.listed !== false) link(row ? row.sectionRowIndex + 1 : null, table);
  };
  for (const kind of ["pointerover", "focusin"]) table.addEventListener(kind, point);
  for (const kind of ["pointerleave", "focusout"]) table.addEventListener(kind, () => { if (pictured) link(null, table); });
}
