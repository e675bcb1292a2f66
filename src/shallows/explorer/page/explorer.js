"use strict";
// What the page does by itself: it asks for the newest state and for nothing twice, paints figures in the colours of the
// page, joins sliders and boxes, and lets handles be dragged. Everything is computed by the server.
(() => {
  const CLOSE = 22; // pixels around a handle that count as on it
  const PATIENCE = 60_000; // milliseconds until an answer is given up
  const SILENCE = "The explorer does not answer. Is `shallows explore` still running? Move something to ask again.";
  const set = (id, props) => window.dash_clientside.set_props(id, props);
  const none = () => window.dash_clientside.no_update;
  const dark = window.matchMedia("(prefers-color-scheme: dark)"), narrow = window.matchMedia("(max-width: 40rem)");

  // One question at a time. While an answer is under way only the newest state is kept, so a slow machine answers
  // fewer states and is never behind by more than one.
  let wanted = null, asked = null, busy = false;
  function ask(boxes, ids, view) {
    wanted = JSON.stringify({ view, values: Object.fromEntries(ids.map((id, i) => [id.name, boxes[i]])) });
    run();
    return wanted;
  }
  async function run() {
    if (busy) return;
    busy = true;
    document.documentElement.dataset.busy = "true";
    while (wanted !== asked) {
      asked = wanted;
      try { show(await answer(asked)); } catch (error) { set("message", { children: SILENCE }); }
    }
    document.documentElement.dataset.busy = "false";
    busy = false;
  }
  async function answer(question) {
    const body = JSON.stringify({ ...JSON.parse(question), known: [...kept.keys()] });
    const response = await fetch("/scene", { method: "POST", headers: { "Content-Type": "application/json" }, body,
                                             signal: AbortSignal.timeout(PATIENCE) });
    return response.json();
  }

  // Traces are named by their content; one that the page has comes as its name alone.
  let kept = new Map(), figures = [];
  function show(scene) {
    set("message", { children: scene.message });
    if (scene.message) return;
    for (const figure of scene.figures) for (const [name, trace] of figure.data) if (trace) kept.set(name, placed(trace));
    figures = scene.figures.map(({ data, layout }) => ({ names: data.map(([name]) => name), layout }));
    kept = new Map(figures.flatMap(({ names }) => names).map((name) => [name, kept.get(name)]));
    paint();
    set("facts", { children: scene.facts.map(([value, label]) => tag("Div", [tag("Strong", value), tag("Span", label)])) });
    set("table", { children: table(scene.headings, scene.rows) });
    set("code", { children: scene.code });
    history.replaceState(null, "", scene.query);
  }

  const tag = (type, children) => ({ namespace: "dash_html_components", type, props: { children } });
  function table(headings, rows) {
    const head = tag("Thead", tag("Tr", headings.map((text) => tag("Th", text))));
    return tag("Table", [head, tag("Tbody", rows.map((row) => tag("Tr", row.map((text) => tag("Td", text)))))]);
  }

  function paint() {
    const [ink, grid, line] = dark.matches ? ["#e6e8ea", "#2b3138", "#77808b"] : ["#1c2126", "#e4e6e9", "#8a8f98"];
    const inked = (trace) => (trace.meta && trace.meta.ink ? { ...trace, line: { ...trace.line, color: ink } } : trace);
    figures.forEach(({ names, layout }, place) => {
      const painted = { ...layout, font: { ...layout.font, color: ink, size: narrow.matches ? 11 : layout.font.size } };
      // margins that do not follow the legend leave room for as many rows as a phone needs
      if (narrow.matches && layout.margin.autoexpand === false) painted.margin = { ...layout.margin, l: 40, r: 10, t: 128 };
      for (const key of Object.keys(layout)) {
        if (/^[xy]axis/.test(key)) painted[key] = { ...layout[key], gridcolor: grid, linecolor: line, tickcolor: line, zerolinecolor: line };
      }
      if (layout.scene) {
        painted.scene = { ...layout.scene };
        for (const axis of ["xaxis", "yaxis", "zaxis"]) painted.scene[axis] = { ...layout.scene[axis], gridcolor: grid, color: ink };
      }
      set({ type: "graph", place }, { figure: { data: names.map((name) => inked(kept.get(name))), layout: painted } });
    });
  }
  for (const screen of [dark, narrow]) screen.addEventListener("change", paint);

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

  // A slider writes its box; a box that holds a number moves its slider.
  function join(slider, box) {
    const by = window.dash_clientside.callback_context.triggered_id;
    if (by && by.type === "slider") return String(slider) === String(box) ? [none(), none()] : [String(slider), none()];
    const value = Number(box);
    const same = String(box).trim() === "" || Number.isNaN(value) || value === Number(slider);
    return same ? [none(), none()] : [none(), value];
  }
  // Several boxes at once, so that no state is asked for in which only some have moved.
  function move(values, ids) {
    return ids.map((id) => (values && id.name in values ? values[id.name] : none()));
  }
  // A control that matters under one choice only makes that choice when it is moved.
  document.addEventListener("input", (event) => {
    const field = event.target.closest("[data-selects]");
    if (!field) return;
    const [name, value] = field.dataset.selects.split("=");
    set("moved", { data: { [name]: value } });
  });

  // A handle is at (x, y) of its figure's axes; dragging it by (Δx, Δy) sets field f to f₀ + fₓΔx + f_yΔy.
  let dragged = null, pointer = null;
  const ring = document.createElement("div");
  ring.className = "ring";
  function handleAt(x, y) {
    let best = null, distance = CLOSE;
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      const handles = (plot.layout && plot.layout.meta && plot.layout.meta.handles) || [];
      if (!handles.length || !plot._fullLayout) continue;
      const { xaxis, yaxis } = plot._fullLayout, frame = plot.getBoundingClientRect();
      for (const handle of handles) {
        const away = Math.hypot(x - frame.left - xaxis._offset - xaxis.d2p(handle.x), y - frame.top - yaxis._offset - yaxis.d2p(handle.y));
        if (away <= distance) { best = { plot, handle }; distance = away; }
      }
    }
    return best;
  }
  // In the scale of the moment when the handle was lifted: axes may grow while a curve is pulled.
  function valuesAt(x, y) {
    const { handle, from, scale } = dragged, dx = (x - from[0]) / scale[0], dy = (y - from[1]) / scale[1];
    return Object.fromEntries(Object.entries(handle.moves).map(([name, [start, alongX, alongY]]) => {
      const { min, max, step } = document.querySelector(`[data-field="${name}"] input[type=range]`);
      const near = Math.round((start + alongX * dx + alongY * dy) / step) * step;
      return [name, String(Number(Math.min(Math.max(near, min), max).toFixed(6)))];
    }));
  }
  function follow() {
    if (dragged && pointer) set("moved", { data: valuesAt(...pointer) });
    pointer = null;
  }
  function lift(event) {
    dragged = event.isPrimary ? handleAt(event.clientX, event.clientY) : null;
    if (!dragged) return;
    const { xaxis, yaxis } = dragged.plot._fullLayout;
    Object.assign(dragged, { from: [event.clientX, event.clientY], scale: [xaxis._m, yaxis._m] });
    event.preventDefault(); // or the figure would zoom
    event.stopPropagation();
    placeRing(event);
    document.body.append(ring);
    document.body.classList.add("dragging");
  }
  function placeRing(event) {
    ring.style.left = `${event.clientX}px`;
    ring.style.top = `${event.clientY}px`;
  }
  function carry(event) {
    if (!dragged) {
      document.body.classList.toggle("over-handle", event.pointerType === "mouse" && handleAt(event.clientX, event.clientY) !== null);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    placeRing(event);
    if (!pointer) requestAnimationFrame(follow);
    pointer = [event.clientX, event.clientY];
  }
  function drop() {
    if (!dragged) return;
    follow();
    dragged = null;
    ring.remove();
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

  // Run counts the steps up as long as its button is pressed; Split notes the present step.
  const press = (clicks) => { const on = (clicks || 0) % 2 === 1; return [!on, on ? "Pause" : "Run"]; };
  const step = (tick, steps) => (tick ? String(Number(steps) + 20) : none());
  const split = (clicks, steps) => (clicks ? String(Math.max(1, Number(steps))) : none());

  window.dash_clientside = Object.assign(window.dash_clientside || {}, { shallows: { ask, join, move, press, step, split } });
})();
