// Each view's state, zoom and way of drawing stay in this browser tab while one looks at other views.
const storeKey = (what, name = view) => `shallows:${what}:${name}`;
function keep(what, value) {
  try { sessionStorage.setItem(storeKey(what), JSON.stringify(value)); } catch { /* storage may be switched off */ }
}
function recall(what, name = view) {
  try { return JSON.parse(sessionStorage.getItem(storeKey(what, name))); } catch { return null; }
}

// The menu leads to where each view was left.
function recallMenu() {
  for (const tab of document.querySelectorAll("nav a")) {
    const query = recall("state", new URLSearchParams(tab.search).get("view"));
    if (query && tab.getAttribute("aria-current") !== "page") tab.search = query;
  }
}

function recallLandscape() {
  const shown = recall("landscape");
  if (shown) pictured.restore(shown);
}
window.addEventListener("pagehide", () => { if (pictured) keep("landscape", pictured.state()); });

// What a hand has zoomed or turned in a plot, by place; Plotly names the ends of axes and cameras.
const ZOOM = /^([xy]axis\d?\.(range(\[\d\])?|autorange)|scene\.camera)$/;
function keepZoom(plot, place) {
  plot.on("plotly_relayout", (changed) => {
    const zooms = recall("zoom") || {}, mine = Object.entries(changed).filter(([name]) => ZOOM.test(name));
    if (!mine.length) return;
    zooms[place] = mine.some(([name]) => name.endsWith("autorange")) ? {} : { ...zooms[place], ...Object.fromEntries(mine) };
    keep("zoom", zooms);
  });
}
// A layout as the hand has left it; every full drawing begins from here.
function zoomed(layout, place) {
  const mine = (recall("zoom") || {})[place] || {}, result = { ...layout };
  for (const [name, value] of Object.entries(mine)) {
    const [, part, key, end] = name.match(/^(\w+)\.(\w+)(?:\[(\d)\])?$/);
    if (!result[part]) continue;
    const old = [...(result[part][key] || [])];
    if (end !== undefined) old[Number(end)] = value;
    result[part] = { ...result[part], [key]: end === undefined ? value : old, ...(key === "range" ? { autorange: false } : {}) };
  }
  return result;
}
