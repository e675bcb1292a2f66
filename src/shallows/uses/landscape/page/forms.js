// The loss of the best neuron in every direction, zero − p(u)²/q(u): forms of degree d and 2d in two or three variables,
// their coefficients in lexicographic order; and the disc of directions (Lambert's map of half a sphere).
function exponentsOf(n, degree) {
  const found = [];
  const add = (row, first, left) => {
    if (!left) { found.push(row); return; }
    for (let i = first; i < n; i++) add(row.map((e, j) => e + (i === j)), i, left - 1);
  };
  add(Array(n).fill(0), 0, degree);
  return found;
}

// u ↦ Σ c_I u^I, by tables of powers; n = 2 has no third variable.
function formOf(coefficients, n, degree) {
  const table = exponentsOf(n, degree), flat = new Uint8Array(3 * table.length), c = Float64Array.from(coefficients);
  table.forEach((row, i) => row.forEach((e, j) => { flat[3 * i + j] = e; }));
  const X = new Float64Array(degree + 1), Y = new Float64Array(degree + 1), Z = new Float64Array(degree + 1);
  X[0] = Y[0] = Z[0] = 1;
  return (x, y, z) => {
    for (let i = 1; i <= degree; i++) { X[i] = X[i - 1] * x; Y[i] = Y[i - 1] * y; Z[i] = Z[i - 1] * z; }
    let sum = 0;
    for (let i = 0, k = 0; i < c.length; i++, k += 3) sum += c[i] * X[flat[k]] * Y[flat[k + 1]] * Z[flat[k + 2]];
    return sum;
  };
}

const TINY = 1e-300;
// The loss at a direction (three dimensions) or at a neuron (two), as a function of its coordinates.
function lossOf({ n, degree, p, q, zero, sign }) {
  const P = formOf(p, n, degree), Q = formOf(q, n, 2 * degree);
  const allowed = sign ? (value) => Math.max(sign * value, 0) : Math.abs;
  if (n === 2) return (x, y) => zero - 2 * allowed(P(x, y, 0)) + Q(x, y, 0);
  return (x, y, z) => zero - allowed(P(x, y, z)) ** 2 / Math.max(Q(x, y, z), TINY);
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
function toDisc(frame, u) {
  let [x, y, z] = frame.map((row) => dot(row, u));
  if (x < 0) [x, y, z] = [-x, -y, -z];
  const size = Math.sqrt(1 + x);
  return [y / size, z / size];
}
function fromDisc(frame, x, y) {
  const square = x * x + y * y, size = Math.sqrt(Math.max(2 - square, 0)), a = 1 - square, b = x * size, c = y * size;
  return [0, 1, 2].map((j) => a * frame[0][j] + b * frame[1][j] + c * frame[2][j]);
}

// Rotations of the globe, as three rows: right, up, towards the eye.
const turned = (rows, across, along) => {
  const [c, s, e, f] = [Math.cos(across), Math.sin(across), Math.cos(along), Math.sin(along)];
  const mix = (a, b, p, q) => a.map((value, i) => p * value + q * b[i]);
  const [right, eye] = [mix(rows[0], rows[2], c, s), mix(rows[2], rows[0], c, -s)];
  return [right, mix(rows[1], eye, e, -f), mix(eye, rows[1], e, f)];
};
