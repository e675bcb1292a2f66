// Lines, markers and labels that moved, on a canvas over a figure's axes; Plotly's own drawings of them are hidden until
// it draws again. Symbols and dashes are as Plotly's, so that nothing jumps when the hand rests.
const TURN = 2 * Math.PI;
const polygon = (count, radius, turn = -Math.PI / 2) =>
  Array.from({ length: count }, (_, i) => [radius(i) * Math.cos(turn + TURN * i / count), radius(i) * Math.sin(turn + TURN * i / count)]);
const ARM = 0.8 / Math.SQRT2;
// corners at radius one; a circle has none
const SYMBOLS = {
  circle: null,
  star: polygon(10, (i) => 1.4 * (i % 2 ? 0.382 : 1)),
  diamond: polygon(4, () => 1.3),
  "diamond-open": polygon(4, () => 1.3),
  square: polygon(4, () => Math.SQRT2, Math.PI / 4),
  "triangle-up": [[-2 / Math.sqrt(3), 0.5], [2 / Math.sqrt(3), 0.5], [0, -1]],
  x: [[0, 1], [1, 2], [2, 1], [1, 0], [2, -1], [1, -2], [0, -1], [-1, -2], [-2, -1], [-1, 0], [-2, 1], [-1, 2]].map(([x, y]) => [x * ARM, y * ARM]),
};
const DASHES = { dot: 1, dash: 3 };

// Draw `traces` instead of Plotly's traces in the places `gone`; false when a canvas cannot show that.
function showLive(plot, { gone, traces, wanted, layout, framed, sameFrame }) {
  const { xaxis, yaxis, scene: space } = plot._fullLayout;
  if (space || !sameFrame || !traces.every(drawable)) return false;
  const lines = traces.map((trace) => ({ trace, x: numbers(trace.x), y: numbers(trace.y) }));
  const fits = (axis, letter) => JSON.stringify(layout[`${letter}axis`].range) === JSON.stringify(framed[`${letter}axis`].range)
    && layout[`${letter}axis`].range !== undefined || lines.every((line) => within(axis, line[letter]));
  if (!fits(xaxis, "x") || !fits(yaxis, "y")) return false;
  countLegend(plot, wanted);
  hide(plot, gone);
  const brush = brushOn(plot, xaxis, yaxis);
  for (const line of lines) stroke(brush, line, xaxis, yaxis);
  plot.layout.meta = layout.meta; // where its handles are now
  return true;
}

const drawable = ({ type, marker, mode = "", fill, opacity = 1 }) =>
  type === "scatter" && !fill && opacity === 1 && (!mode.includes("markers") || (marker.symbol || "circle") in SYMBOLS);

function numbers(value) {
  if (!value || !value.bdata) return value;
  return new Float32Array(Uint8Array.from(atob(value.bdata), (letter) => letter.charCodeAt(0)).buffer);
}

function within(axis, found) {
  const [low, high] = [...axis.range].sort((a, b) => a - b);
  return found.every((value) => { const at = axis.d2l(value); return !Number.isFinite(at) || (at >= low && at <= high); });
}

// The legend keeps up with the hand: entries are named "kind (count)", and one whose kind is gone counts zero. A kind
// that has no entry yet gets one when the hand rests.
const bare = (name = "") => name.replace(/ \(\d+\)$/, "");
function countLegend(plot, wanted) {
  const entries = [...plot.querySelectorAll(".legendtext")].map((node) => [node, bare(node.dataset.before || node.textContent)]);
  const names = new Map(wanted.filter((trace) => trace.showlegend !== false && trace.name).map((trace) => [bare(trace.name), trace.name]));
  for (const [node, name] of entries) {
    node.dataset.before = node.dataset.before || node.textContent;
    write(node, names.get(name) || (node.dataset.before === name ? name : `${name} (0)`));
  }
}
function endCounting(plot) {
  for (const node of plot.querySelectorAll(".legendtext[data-before]")) { node.textContent = node.dataset.before; delete node.dataset.before; }
}

function hide(plot, gone) {
  const uids = new Set(gone.map((i) => `trace${plot._fullData[i].uid}`));
  for (const node of plot.querySelectorAll(".scatterlayer > .trace")) {
    const hidden = [...node.classList].some((name) => uids.has(name)) ? "hidden" : "";
    if (node.style.visibility !== hidden) node.style.visibility = hidden;
  }
}

// A clean brush in the pixels of the axes; the canvas stands on whole pixels of the page, or it would be blurred.
function brushOn(plot, xaxis, yaxis) {
  let canvas = plot.querySelector("canvas.live");
  if (!canvas) {
    canvas = make("canvas", { className: "live" });
    plot.querySelector(".svg-container").append(canvas);
    plot.classList.add("moving");
  }
  const sharp = window.devicePixelRatio, left = Math.floor(xaxis._offset), top = Math.floor(yaxis._offset);
  const [x, y] = [xaxis._offset - left, yaxis._offset - top];
  const [width, height] = [Math.ceil(x + xaxis._length), Math.ceil(y + yaxis._length)];
  const box = [left, top, width, height, sharp].join();
  if (canvas.dataset.box !== box) {
    canvas.dataset.box = box;
    Object.assign(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
    Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  }
  const brush = canvas.getContext("2d");
  brush.setTransform(sharp, 0, 0, sharp, sharp * x, sharp * y);
  brush.clearRect(-1, -1, width + 1, height + 1);
  return brush;
}

function endLive(plot, meta) {
  const canvas = plot.querySelector("canvas.live");
  if (!canvas) return;
  canvas.remove();
  plot.classList.remove("moving");
  endCounting(plot);
  hide(plot, []);
  plot.layout.meta = meta;
}

function stroke(brush, { trace, x, y }, xaxis, yaxis) {
  const points = Array.from(x, (value, i) => [xaxis.d2p(value), yaxis.d2p(y[i])]);
  const mode = trace.mode || "lines";
  if (mode.includes("lines")) strokeLine(brush, points, trace.line);
  const own = (value, i) => (Array.isArray(value) ? value[i] : value); // a marker may have a colour and a size of its own
  if (mode.includes("markers")) points.forEach((point, i) => stamp(brush, point, { ...trace.marker, color: own(trace.marker.color, i), size: own(trace.marker.size, i) }));
  if (mode.includes("text")) points.forEach((point, i) => label(brush, point, trace.text[i], trace.marker));
}

function strokeLine(brush, points, { color, width = 2, dash }) {
  brush.beginPath();
  let down = false;
  for (const [x, y] of points) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) { down = false; continue; }
    if (down) brush.lineTo(x, y); else brush.moveTo(x, y);
    down = true;
  }
  brush.setLineDash(dash in DASHES ? [DASHES[dash] * Math.max(width, 3)] : []);
  Object.assign(brush, { strokeStyle: color, lineWidth: width, lineJoin: "round" });
  brush.stroke();
  brush.setLineDash([]);
}

function stamp(brush, [x, y], { color, size, symbol = "circle", line }) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  const corners = SYMBOLS[symbol], radius = size / 2;
  brush.beginPath();
  if (!corners) brush.arc(x, y, radius, 0, TURN);
  else for (const [i, [a, b]] of corners.entries()) brush[i ? "lineTo" : "moveTo"](x + radius * a, y + radius * b);
  brush.closePath();
  if (!symbol.endsWith("-open")) { brush.fillStyle = color; brush.fill(); }
  if (!line || !line.width) return;
  Object.assign(brush, { strokeStyle: line.color, lineWidth: line.width, lineJoin: "miter" });
  brush.stroke();
}

// Above its point, as `textposition: top center`.
function label(brush, [x, y], text, { size }) {
  Object.assign(brush, { fillStyle: inkOf(), font: `13px ${getComputedStyle(document.body).fontFamily}`, textAlign: "center", textBaseline: "bottom" });
  brush.fillText(text, x, y - size / 2 - 1);
}
