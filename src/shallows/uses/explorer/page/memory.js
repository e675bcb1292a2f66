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
    const kept_ = recall("zoom") || {}, mine = Object.entries(changed).filter(([name]) => ZOOM.test(name));
    if (!mine.length) return;
    kept_[place] = mine.some(([name]) => name.endsWith("autorange")) ? {} : { ...kept_[place], ...Object.fromEntries(mine) };
    keep("zoom", kept_);
  });
}
function recallZoom(plot, place) {
  const mine = (recall("zoom") || {})[place];
  if (mine && Object.keys(mine).length) window.Plotly.relayout(plot, mine);
}
