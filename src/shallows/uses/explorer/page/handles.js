// A handle is at (x, y) of its figure's axes; dragging it by (Δx, Δy) sets field f to f₀ + fₓΔx + f_yΔy.
const CLOSE = 22; // pixels around a handle that count as on it

let dragged = null, pointer = null;
const halo = make("div", { className: "halo" });

// The handle of the figure under the pointer that is nearest to it.
function handleAt({ target, clientX, clientY }) {
  const plot = target.closest && target.closest(".js-plotly-plot");
  if (!plot || !plot._fullLayout || !plot.layout.meta) return null;
  const { xaxis, yaxis } = plot._fullLayout, frame = plot.getBoundingClientRect();
  const x = clientX - frame.left - xaxis._offset, y = clientY - frame.top - yaxis._offset;
  let best = null, distance = CLOSE;
  for (const handle of plot.layout.meta.handles) {
    const away = Math.hypot(x - xaxis.d2p(handle.x), y - yaxis.d2p(handle.y));
    if (away <= distance) { best = { plot, handle }; distance = away; }
  }
  return best;
}

// In the scale of the moment when the handle was lifted: axes may grow while a curve is pulled.
function valuesAt(x, y) {
  const { handle, from, scale } = dragged, dx = (x - from[0]) / scale[0], dy = (y - from[1]) / scale[1];
  return Object.fromEntries(Object.entries(handle.moves).map(([name, [start, alongX, alongY]]) => {
    const { min, max, step } = controls.get(name).slider;
    const near = Math.round((start + alongX * dx + alongY * dy) / step) * step;
    return [name, String(Number(Math.min(Math.max(near, min), max).toFixed(6)))];
  }));
}

function carried() {
  if (dragged && pointer) move(valuesAt(...pointer));
  pointer = null;
}

function lift(event) {
  dragged = event.isPrimary ? handleAt(event) : null;
  if (!dragged) return;
  const { xaxis, yaxis } = dragged.plot._fullLayout;
  Object.assign(dragged, { from: [event.clientX, event.clientY], scale: [xaxis._m, yaxis._m] });
  event.preventDefault(); // or the figure would zoom
  event.stopPropagation();
  placeHalo(event);
  document.body.append(halo);
  document.body.classList.add("dragging");
}

function placeHalo(event) {
  halo.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
}

function carry(event) {
  if (!dragged) {
    document.body.classList.toggle("over-handle", event.pointerType === "mouse" && handleAt(event) !== null);
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  placeHalo(event);
  if (!pointer) requestAnimationFrame(carried);
  pointer = [event.clientX, event.clientY];
}

function drop() {
  if (!dragged) return;
  carried();
  dragged = null;
  halo.remove();
  document.body.classList.remove("dragging");
}

const first = { capture: true, passive: false };
document.addEventListener("pointerdown", lift, first);
document.addEventListener("pointermove", carry, first);
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop, first);
// A finger on a handle neither scrolls the page nor reaches the figure.
for (const touch of ["touchstart", "touchmove"]) {
  document.addEventListener(touch, (event) => { if (dragged) { event.preventDefault(); event.stopPropagation(); } }, first);
}
