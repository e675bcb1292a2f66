// What stands on the terrain: critical points, paths over passes, borders of basins, balls. Drawn by a pen that knows
// where a direction is in the picture.
const BALL = "#D55E00", DEAD = "#8a8f98";
const spikes = (count, radius) => Array.from({ length: count }, (_, i) => {
  const angle = 2 * Math.PI * i / count - Math.PI / 2;
  return [radius(i) * Math.cos(angle), radius(i) * Math.sin(angle)];
});
const SHAPES = {
  star: spikes(10, (i) => (i % 2 ? 0.55 : 1.3)), diamond: spikes(4, () => 1.15), circle: null,
  "triangle-up": spikes(3, () => 1.2), x: spikes(8, (i) => (i % 2 ? 0.5 : 1.2)), square: spikes(4, () => 1.2),
};

function stampMark(brush, x, y, radius, shape, colour, rim, alpha = 1) {
  brush.globalAlpha = alpha;
  brush.beginPath();
  if (SHAPES[shape]) SHAPES[shape].forEach(([a, b], i) => brush[i ? "lineTo" : "moveTo"](x + radius * a, y + radius * b));
  else brush.arc(x, y, 0.85 * radius, 0, 2 * Math.PI);
  brush.closePath();
  Object.assign(brush, { fillStyle: colour, strokeStyle: rim, lineWidth: 1.6, lineJoin: "round" });
  brush.fill();
  brush.stroke();
  brush.globalAlpha = 1;
}

// A line of places, broken where it leaves the picture (behind the globe, or over the rim of the disc).
function strokePlaces(brush, places, { width, colour, dash = [], alpha = 1, break_ }) {
  brush.beginPath();
  let last = null;
  for (const place of places) {
    if (place && last && Math.hypot(place[0] - last[0], place[1] - last[1]) < break_) brush.lineTo(place[0], place[1]);
    else if (place) brush.moveTo(place[0], place[1]);
    last = place;
  }
  brush.setLineDash(dash);
  Object.assign(brush, { strokeStyle: colour, lineWidth: width, lineJoin: "round", lineCap: "round", globalAlpha: alpha });
  brush.stroke();
  brush.setLineDash([]);
  brush.globalAlpha = 1;
}

const WAYS = ["the bottom of a valley", "a pass: down on two sides", "a top: down on all sides"];
const shortNumber = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4))));
function wordsOf(point) {
  const where = point.u ? (WAYS[point.index] || `${point.index} ways down`) : "no neuron at all: it has no direction";
  return `${point.number}: ${point.kind}${point.family ? " (a whole family)" : ""}, loss ${shortNumber(point.loss)}; ${where}`;
}
