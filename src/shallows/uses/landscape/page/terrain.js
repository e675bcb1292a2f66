// The loss as colour and height: deep blue valleys, pale tops, lines of equal loss, light from the upper left.
const RAMP = [[9, 36, 78], [18, 78, 128], [52, 132, 170], [128, 186, 200], [205, 224, 217], [247, 241, 224]];
const TINTS = [null, [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66], [138, 143, 152]];
const LEVELS = 14, TINT = 0.22, LIGHT = 0.42;

function rampAt(t, out) {
  const at = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(at), RAMP.length - 2), f = at - i;
  for (let c = 0; c < 3; c++) out[c] = RAMP[i][c] + f * (RAMP[i + 1][c] - RAMP[i][c]);
}

// Losses as shares of their range; equal losses everywhere are in the middle.
function scaleOf([low, high]) {
  const span = high - low;
  return span > 1e-9 * Math.max(Math.abs(high), TINY) ? (loss) => (loss - low) / span : () => 0.5;
}

// Adds a basin's colour to a mixture: red, green, blue and how much of it.
function tintOf(label, weight, mixed, first) {
  const tint = label > 1 ? TINTS[(label - 1) % TINTS.length] : null;
  if (first) mixed.fill(0);
  if (tint) { for (let c = 0; c < 3; c++) mixed[c] += weight * tint[c]; mixed[3] += weight; }
}
const tinted = (colour, mixed) => { for (let c = 0; c < 3; c++) colour[c] += TINT * (mixed[c] - mixed[3] * colour[c]); };

// Which basin a place of the disc belongs to.
function basinsOf(basins) {
  if (!basins) return null;
  const labels = Uint8Array.from(atob(basins.labels), (letter) => letter.charCodeAt(0)), side = basins.side;
  const last = side - 1, inside = (value) => Math.min(Math.max(value, 0), last);
  // the tint of a place is a mixture of its four neighbours', so that borders are soft
  return (x, y, mixed) => {
    const across = inside((x + 1) / 2 * last), along = inside((1 - y) / 2 * last), column = Math.floor(across), row = Math.floor(along);
    const [f, g] = [across - column, along - row], right = Math.min(column + 1, last), below = Math.min(row + 1, last);
    const corners = [labels[row * side + column], labels[row * side + right], labels[below * side + column], labels[below * side + right]];
    if (corners[0] === corners[1] && corners[0] === corners[2] && corners[0] === corners[3]) { tintOf(corners[0], 1, mixed, true); return; }
    [(1 - f) * (1 - g), f * (1 - g), (1 - f) * g, f * g].forEach((weight, i) => tintOf(corners[i], weight, mixed, i === 0));
  };
}

// Paint a round picture of `size` pixels; `at(x, y)` with x, y in [−1, 1] is [share of the range, place on the disc].
function paintRound(brush, size, at, basin, bulge) {
  const image = brush.createImageData(size, size), data = image.data, wide = size + 2, half = size / 2;
  const heights = new Float32Array(wide * wide).fill(NaN), tints = basin ? new Float32Array(4 * size * size) : null;
  const place = [0, 0], mixed = [0, 0, 0, 0];
  for (let row = 0; row < wide; row++) {
    const y = (half - row + 0.5) / half;
    for (let column = 0; column < wide; column++) {
      const x = (column - 0.5 - half) / half;
      if (x * x + y * y > 1.03) continue;
      const r = Math.hypot(x, y), k = r > 0.9995 ? 0.9995 / r : 1;
      heights[row * wide + column] = at(x * k, y * k, place);
      if (tints && row && column && row <= size && column <= size) { basin(place[0], place[1], mixed); tints.set(mixed, 4 * ((row - 1) * size + column - 1)); }
    }
  }
  const colour = [0, 0, 0];
  for (let row = 0; row < size; row++) for (let column = 0; column < size; column++) {
    const x = (column + 0.5 - half) / half, y = (half - row - 0.5) / half, r = Math.hypot(x, y), i = 4 * (row * size + column);
    const edge = (1 - r) * half; // the rim is smooth
    if (edge < -0.5) continue;
    const here = (row + 1) * wide + column + 1, t = heights[here];
    const dx = (heights[here + 1] - heights[here - 1]) * size / 8 || 0, dy = (heights[here - wide] - heights[here + wide]) * size / 8 || 0;
    rampAt(t, colour);
    if (tints) { for (let c = 0; c < 4; c++) mixed[c] = tints[i + c]; tinted(colour, mixed); }
    const slope = Math.hypot(dx, dy) * 8 / size * LEVELS, level = t * LEVELS, off = Math.abs(level - Math.round(level));
    const line = slope > 0 && t < 1.01 ? Math.max(0, 1 - off / Math.max(slope, 1e-6) * 1.6) * 0.28 : 0;
    // a lamp at the upper left: steep slopes that face it are lighter
    let light = 1 + LIGHT * (dx - dy) * -0.5 / Math.sqrt(1 + dx * dx + dy * dy);
    if (bulge) light *= 0.72 + 0.34 * Math.max(0, (-0.45 * x + 0.5 * y + 0.75 * Math.sqrt(Math.max(0, 1 - r * r))));
    for (let c = 0; c < 3; c++) data[i + c] = Math.min(255, colour[c] * light * (1 - line));
    data[i + 3] = 255 * Math.min(1, edge + 0.5);
  }
  brush.putImageData(image, 0, 0);
}

// Hills: quads of rings and sectors of the disc, from the farthest to the nearest.
const RINGS = 34, SECTORS = 84;
function hillsOf(at, basin) {
  const place = [0, 0], nodes = [];
  for (let ring = 0; ring <= RINGS; ring++) for (let sector = 0; sector < SECTORS; sector++) {
    const r = ring / RINGS, angle = 2 * Math.PI * sector / SECTORS, x = r * Math.cos(angle), y = r * Math.sin(angle);
    nodes.push([x, y, Math.min(1.15, at(0.9995 * x, 0.9995 * y, place))]);
  }
  const quads = [];
  for (let ring = 0; ring < RINGS; ring++) for (let sector = 0; sector < SECTORS; sector++) {
    const next = (sector + 1) % SECTORS, corners = [ring * SECTORS + sector, (ring + 1) * SECTORS + sector, (ring + 1) * SECTORS + next, ring * SECTORS + next];
    const [a, b, c, d] = corners.map((i) => nodes[i]);
    quads.push({ corners, x: (a[0] + b[0] + c[0] + d[0]) / 4, y: (a[1] + b[1] + c[1] + d[1]) / 4, t: (a[2] + b[2] + c[2] + d[2]) / 4 });
    if (basin) { const mixed = [0, 0, 0, 0]; basin(quads[quads.length - 1].x, quads[quads.length - 1].y, mixed); quads[quads.length - 1].mixed = mixed; }
    const u = [b[0] - d[0], b[1] - d[1], b[2] - d[2]], v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
    const N = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...N) || 1;
    quads[quads.length - 1].normal = N.map((value) => value / size * (N[2] < 0 ? -1 : 1));
  }
  return { nodes, quads };
}

function paintHills(brush, hills, lens, pixels) {
  const points = hills.nodes.map(([x, y, t]) => lens.place(x, y, t));
  const order = hills.quads.map((quad) => [lens.depth(quad.x, quad.y), quad]).sort((a, b) => a[0] - b[0]);
  const lamp = lens.lamp(), colour = [0, 0, 0];
  brush.clearRect(0, 0, pixels, pixels);
  brush.lineWidth = 1;
  brush.lineJoin = "round";
  for (const [, { corners, t, normal, mixed }] of order) {
    rampAt(t, colour);
    if (mixed) tinted(colour, mixed);
    const light = 0.62 + 0.55 * Math.max(0, dot(normal, lamp)), band = Math.round(t * LEVELS) % 2 ? 0.965 : 1;
    brush.fillStyle = brush.strokeStyle = `rgb(${colour.map((value) => Math.round(Math.min(255, value * light * band))).join()})`;
    brush.beginPath();
    corners.forEach((i, k) => brush[k ? "lineTo" : "moveTo"](points[i][0], points[i][1]));
    brush.closePath();
    brush.fill();
    brush.stroke();
  }
}
