// Figures are Plotly's. A full drawing costs tens of milliseconds, so while the hand moves only the traces that changed
// are drawn, on a canvas (live.js), in the axes that are there; the full drawing follows when the hand rests. What the
// canvas cannot show (surfaces, maps, points outside the axes) is drawn in full, as often as the machine can afford.
// A full drawing while moving waits for this many times what the last one took; surfaces have no other way to move.
const AFFORDABLE = { plane: 4, space: 1 };
const dark = window.matchMedia("(prefers-color-scheme: dark)"), narrow = window.matchMedia("(max-width: 40rem)");
const drawing = new Promise((done) => {
  const script = document.getElementById("plotly");
  if (window.Plotly) done();
  else script.addEventListener("load", () => done());
});

// Traces are named by their content; one that the page has comes as its name alone.
let kept = new Map();
let figures = []; // what is wanted: { names, layout } by place
const drawn = []; // what Plotly shows: { names, frame, cost, end } by place; `stale` when the canvas is newer

const plotAt = (place) => document.querySelectorAll(".plot")[place];

function receive(found) {
  for (const { data } of found) for (const [name, trace] of data) if (trace) kept.set(name, placed(trace));
  figures = found.map(({ data, layout }) => ({ names: data.map(([name]) => name), layout }));
  const shown = drawn.flatMap(({ names }) => names);
  const needed = new Set([...figures.flatMap(({ names }) => names), ...shown]);
  kept = new Map([...kept].filter(([name]) => needed.has(name)));
  if (window.Plotly) figures.forEach((_, place) => update(place));
}

function update(place) {
  const known = drawn[place];
  if (!known) { draw(place); return; }
  known.stale = !same(known.names, figures[place].names) || known.frame !== frameOf(figures[place].layout, true);
  if (!known.stale) endLive(plotAt(place), known.layout.meta);
  if (!known.stale || !visible(plotAt(place)) || showLive(plotAt(place), changes(place))) return;
  const patience = AFFORDABLE[figures[place].layout.scene ? "space" : "plane"];
  if (performance.now() > known.end + patience * known.cost) draw(place);
}

async function drawAll() {
  await drawing;
  figures.forEach((_, place) => { if (!drawn[place] || drawn[place].stale) draw(place); });
}

function draw(place) {
  const { names, layout } = figures[place], plot = plotAt(place), begin = performance.now();
  endLive(plot, layout.meta);
  window.Plotly.react(plot, names.map(inked), { ...zoomed(painted(layout), place), width: plot.clientWidth });
  const known = { names, layout, frame: frameOf(layout, true), stale: false };
  const clock = () => Object.assign(known, { end: performance.now(), cost: performance.now() - begin });
  const first = !drawn[place];
  drawn[place] = known;
  linkPlot(plot);
  if (first) keepZoom(plot, place);
  ringPlots();
  clock();
  requestAnimationFrame(() => requestAnimationFrame(clock)); // with what the browser spends on painting
}

// What moved in a figure since its full drawing: places of Plotly's traces that are no more, and traces that are new.
function changes(place) {
  const { names, layout } = figures[place], before = drawn[place];
  const gone = before.names.flatMap((name, i) => (names.includes(name) ? [] : [i]));
  const traces = names.filter((name) => !before.names.includes(name)).map(inked);
  return { gone, traces, wanted: names.map((name) => kept.get(name)), layout, framed: before.layout, sameFrame: frameOf(layout) === frameOf(before.layout) };
}

// All of a layout that a canvas over the axes does not show by itself; with ranges, all that Plotly shows.
function frameOf({ meta, ...layout }, ranges = false) {
  const bare = ({ range, ...axis } = {}) => (ranges ? { range, ...axis } : axis);
  return JSON.stringify({ ...layout, xaxis: bare(layout.xaxis), yaxis: bare(layout.yaxis) });
}

const same = (a, b) => a.length === b.length && a.every((name, i) => name === b[i]);
function visible(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

const inkOf = () => (dark.matches ? "#e6e8ea" : "#1c2126");
const LIGHTER = { "#0072B2": "#56B4E9" }; // blue is too dark for a dark page; its lighter neighbour in the same palette
// A trace or a shape with the colours of its parts for this page.
function shaded(whole) {
  const parts = ["line", "marker"].filter((part) => whole[part] && LIGHTER[whole[part].color] && dark.matches);
  return { ...whole, ...Object.fromEntries(parts.map((part) => [part, { ...whole[part], color: LIGHTER[whole[part].color] }])) };
}

// A trace in the colours of the page.
function inked(name) {
  const trace = kept.get(name);
  if (trace.meta && trace.meta.ink) return { ...trace, line: { ...trace.line, color: inkOf() } };
  return shaded(trace);
}

// A layout in the colours and the size of the page.
function painted(layout) {
  const ink = inkOf(), [grid, line] = dark.matches ? ["#2b3138", "#77808b"] : ["#e4e6e9", "#8a8f98"];
  const result = { ...layout, font: { ...layout.font, color: ink, size: narrow.matches ? 11 : layout.font.size },
                   modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink } };
  // margins that do not follow the legend leave room for as many rows as a phone needs
  if (narrow.matches && layout.margin.autoexpand === false) result.margin = { ...layout.margin, l: 40, r: 10, t: 1.4 * layout.margin.t };
  for (const key of Object.keys(layout)) {
    if (/^[xy]axis/.test(key)) result[key] = { ...layout[key], gridcolor: grid, linecolor: line, tickcolor: line, zerolinecolor: line };
  }
  if (layout.shapes) result.shapes = layout.shapes.map(shaded);
  if (layout.scene) result.scene = paintedSpace(layout.scene, ink, grid);
  return result;
}

function paintedSpace(space, ink, grid) {
  const result = { ...space }, away = narrow.matches ? 1.2 : 1; // room for the labels of a small cube
  for (const axis of ["xaxis", "yaxis", "zaxis"]) result[axis] = { ...space[axis], gridcolor: grid, color: ink };
  const { x, y, z } = space.camera.eye;
  result.camera = { ...space.camera, eye: { x: away * x, y: away * y, z: away * z } };
  return result;
}

// Another width or other colours: draw again.
function drawAgain(changed) {
  drawn.forEach((known, place) => { known.stale = known.stale || changed(plotAt(place)); });
  drawAll();
}
for (const screen of [dark, narrow]) screen.addEventListener("change", () => drawAgain(() => true));
window.addEventListener("resize", () => drawAgain((plot) => plot._fullLayout.width !== plot.clientWidth));

// The points of a cube, x slowest, from which level surfaces are drawn (as in a report's page).
function placed(trace) {
  if (!trace.meta || !trace.meta.grid) return trace;
  const [reach, side] = trace.meta.grid;
  const axes = [0, 1, 2].map(() => new Float32Array(side ** 3));
  for (let i = 0; i < side ** 3; i++) {
    [Math.floor(i / side ** 2), Math.floor(i / side) % side, i % side].forEach((at, axis) => {
      axes[axis][i] = reach * (2 * at / (side - 1) - 1);
    });
  }
  return { ...trace, x: axes[0], y: axes[1], z: axes[2] };
}
