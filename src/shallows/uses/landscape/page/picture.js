// One landscape in one element: `landscape(element, picture)` returns { update, highlight, roll, onhover, state }.
const MODES = { 3: [["map", "Map"], ["hills", "Hills"], ["globe", "Globe"]], 2: [["map", "Map"], ["hills", "Hills"]] };
const LAYERS = [["paths", "paths"], ["basins", "basins"], ["runs", "training"]];
const SECONDS = 3.6, CLOSE = 18, MOST_PIXELS = 480, QUICK_PIXELS = 240, HEIGHT = 0.8;
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

function element(type, properties = {}, children = []) {
  const made = document.createElement(type), { aria = {}, ...rest } = properties;
  Object.assign(made, rest);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function landscape(host, first) {
  let picture = null, loss = null, share = null, basin = null, hills = null, chosen = null, listener = () => {};
  const shown = { mode: "map", paths: true, basins: true, runs: true, turn: null, azimuth: 0.5, tilt: 0.95 };
  let rolling = 1, begun = 0, frame = 0, held = null, coarse = false;

  const terrain = element("canvas"), marks = element("canvas"), tip = element("div", { className: "landscape-tip", aria: { role: "status" } });
  const stage = element("div", { className: "landscape-stage", tabIndex: 0, aria: { role: "group" } }, [terrain, marks, tip]);
  const modes = element("div", { className: "landscape-modes", aria: { role: "group", "aria-label": "How it is drawn" } });
  const play = element("button", { type: "button", className: "landscape-roll", textContent: "▶ Train", title: "Let gradient descent roll down from random starts" });
  const boxes = Object.fromEntries(LAYERS.map(([name]) => [name, element("input", { type: "checkbox", checked: true })]));
  const layers = element("div", { className: "landscape-layers" }, LAYERS.map(([name, text]) => element("label", {}, [boxes[name], text])));
  const legend = element("div", { className: "landscape-legend" });
  host.classList.add("landscape");
  host.replaceChildren(element("div", { className: "landscape-bar" }, [modes, layers, play]), stage, legend);

  // --- where things are: places are pixels of the picture, from its upper left
  const side = () => stage.clientWidth;
  const lens = {
    place(x, y, t) {
      const [c, s] = [Math.cos(shown.azimuth), Math.sin(shown.azimuth)], half = side() / 2, k = 0.93 * half;
      const across = c * x - s * y, along = s * x + c * y, height = HEIGHT * (t - 0.35);
      return [half + k * across, half * 1.02 - k * (along * Math.cos(shown.tilt) + height * Math.sin(shown.tilt))];
    },
    depth: (x, y) => -(Math.sin(shown.azimuth) * x + Math.cos(shown.azimuth) * y),
    lamp() { // fixed above the reader's left shoulder
      const [c, s] = [Math.cos(shown.azimuth), Math.sin(shown.azimuth)], [x, y] = [-0.55, -0.15];
      return [c * x + s * y, -s * x + c * y, 0.82];
    },
  };
  const discOf = (u, length) => (picture.n === 2 ? [u[0] * length / picture.radius, u[1] * length / picture.radius] : toDisc(picture.frame, u));
  const heightAt = (u, length) => share(picture.n === 2 ? loss(u[0] * length, u[1] * length) : loss(...u));
  function placeOf(u, length = 0) {
    const half = side() / 2;
    if (shown.mode === "globe") {
      const [x, y, z] = shown.turn.map((row) => dot(row, u));
      return z >= -0.02 ? [half + 0.96 * half * x, half - 0.96 * half * y] : null;
    }
    const [x, y] = discOf(u, length);
    if (x * x + y * y > 1.02) return null;
    return shown.mode === "hills" ? lens.place(x, y, heightAt(u, length)) : [half + 0.96 * half * x, half - 0.96 * half * y];
  }
  // Both of u and −u: on the plane they are two places, on the globe one of them is seen.
  const placesOf = (u, length) => (picture.n === 2 || shown.mode === "globe" ? [u, u.map((value) => -value)] : [u]).map((v) => placeOf(v, length)).filter(Boolean);

  // --- drawing
  const draw = () => { if (!frame) frame = requestAnimationFrame(render); };
  function render(now) {
    frame = 0;
    if (!picture || !side()) return;
    if (rolling < 1) rolling = Math.min(1, begun ? (now - begun) / (1000 * SECONDS) : 0);
    if (rolling < 1 && !begun) begun = now;
    if (stale) paintTerrain();
    paintMarks();
    if (rolling < 1) draw();
  }
  let stale = true;
  function again() { stale = true; draw(); }
  function sized(canvas, pixels) { if (canvas.width !== pixels) canvas.width = canvas.height = pixels; return canvas.getContext("2d"); }
  function paintTerrain() {
    stale = false;
    const sharp = Math.min(window.devicePixelRatio || 1, 2), full = Math.round(side() * sharp);
    const seen = shown.basins ? basin : null;
    if (shown.mode === "hills") {
      hills = hills || hillsOf(onDisc, seen);
      const brush = sized(terrain, full);
      brush.setTransform(full / side(), 0, 0, full / side(), 0, 0);
      paintHills(brush, hills, lens, side());
      return;
    }
    const pixels = Math.min(Math.round(0.96 * full), coarse ? QUICK_PIXELS : MOST_PIXELS), sheet = element("canvas");
    const paper = sized(sheet, pixels);
    paintRound(paper, pixels, shown.mode === "globe" ? onGlobe : onDisc, seen, shown.mode === "globe");
    const brush = sized(terrain, full);
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, full, full);
    brush.imageSmoothingQuality = "high";
    brush.drawImage(sheet, 0.02 * full, 0.02 * full, 0.96 * full, 0.96 * full);
  }
  function onDisc(x, y, place) {
    place[0] = x; place[1] = y;
    if (picture.n === 2) return share(loss(x * picture.radius, y * picture.radius));
    const u = fromDisc(picture.frame, x, y);
    return share(loss(u[0], u[1], u[2]));
  }
  function onGlobe(x, y, place) {
    const z = Math.sqrt(Math.max(0, 1 - x * x - y * y)), [a, b, c] = shown.turn;
    const u = [0, 1, 2].map((j) => x * a[j] + y * b[j] + z * c[j]);
    if (basin && shown.basins) [place[0], place[1]] = toDisc(picture.frame, u);
    return share(loss(u[0], u[1], u[2]));
  }

  function paintMarks() {
    const sharp = Math.min(window.devicePixelRatio || 1, 2), brush = sized(marks, Math.round(side() * sharp)), break_ = side() / 5;
    brush.setTransform(sharp, 0, 0, sharp, 0, 0);
    brush.clearRect(0, 0, side(), side());
    const signs = picture.n === 2 || shown.mode === "globe" ? [1, -1] : [1];
    const line = (places, lengths, how) => { for (const s of signs) strokePlaces(brush, places.map((u, i) => placeOf(u.map((v) => s * v), lengths ? lengths[i] : 0)), { ...how, break_ }); };
    if (shown.basins && picture.basins && picture.basins.numbers.length > 1) for (const border of picture.borders) {
      const rays = picture.n === 2, lengths = rays ? border.map((v) => Math.hypot(...v)) : null;
      const units = rays ? border.map((v, i) => v.map((value) => value / (lengths[i] || 1))) : border;
      line(units, lengths, { width: 1.2, colour: "#fff", dash: [4, 4], alpha: 0.85 });
    }
    if (shown.paths) for (const path of picture.paths) {
      line(path.line, path.lengths, { width: path.join ? 4.4 : 2.6, colour: "#fff", alpha: 0.75 });
      line(path.line, path.lengths, { width: path.join ? 2.6 : 1.2, colour: "#1c2126" });
    }
    if (shown.runs) for (const run of picture.runs) paintRun(brush, run, line);
    for (const point of picture.points) if (point.u) {
      const [colour, shape] = picture.styles[point.kind], radius = point.family ? 4 : chosen === point.number ? 11 : 8;
      for (const [x, y] of placesOf(point.u, point.length)) {
        if (chosen === point.number) { brush.beginPath(); brush.arc(x, y, 17, 0, 2 * Math.PI); Object.assign(brush, { strokeStyle: "#fff", lineWidth: 5 }); brush.stroke(); brush.strokeStyle = BALL; brush.lineWidth = 2.5; brush.stroke(); }
        stampMark(brush, x, y, radius, shape, colour, "#fff");
      }
    }
    labelAxes(brush);
  }
  function paintRun(brush, { line: places, lengths, died }, line) {
    const colour = died ? DEAD : BALL;
    const at = rolling * (places.length - 1), whole = Math.floor(at), part = at - whole;
    const trail = places.slice(0, whole + 1), long = lengths ? lengths.slice(0, whole + 1) : null;
    if (whole + 1 < places.length) { // between two steps, the short way round
      const [a, b] = [places[whole], places[whole + 1]], s = picture.n === 3 && dot(a, b) < 0 ? -1 : 1;
      const mixed = a.map((value, i) => value + part * (s * b[i] - value)), size = Math.hypot(...mixed) || 1;
      trail.push(mixed.map((value) => value / size));
      if (long) long.push(lengths[whole] + part * (lengths[whole + 1] - lengths[whole]));
    }
    line(trail, long, { width: 1.3, colour, alpha: rolling < 1 ? 0.75 : 0.35 });
    const end = trail.length - 1;
    for (const [x, y] of placesOf(trail[end], long ? long[end] : 0).slice(0, picture.n === 2 ? 1 : 2)) stampMark(brush, x, y, rolling < 1 ? 4.5 : 3, "circle", colour, "#fff", rolling < 1 ? 1 : 0.7);
  }
  function labelAxes(brush) {
    if (picture.n === 2 && shown.mode === "map") return;
    Object.assign(brush, { font: `600 12px ${getComputedStyle(host).fontFamily}`, textAlign: "center", textBaseline: "middle" });
    picture.axes.forEach((name, i) => {
      const unit = Array.from({ length: picture.n }, (_, j) => Number(i === j));
      for (const place of placesOf(unit, 0.97 * picture.radius)) {
        brush.lineWidth = 3; brush.strokeStyle = "rgba(255,255,255,0.8)"; brush.fillStyle = "#1c2126";
        brush.strokeText(name, place[0], place[1] - 17); brush.fillText(name, place[0], place[1] - 17);
      }
    });
  }

  // --- controls
  function furnish() {
    modes.replaceChildren(...MODES[picture.n].map(([name, text]) => element("button", { type: "button", textContent: text, onclick: () => setMode(name), aria: { "aria-pressed": String(shown.mode === name), "data-mode": name } })));
  }
  function setMode(name) {
    shown.mode = name;
    hills = null;
    stage.style.touchAction = name === "map" ? "pan-y" : "none";
    for (const button of modes.children) button.setAttribute("aria-pressed", String(button.dataset.mode === name));
    again();
  }
  for (const [name] of LAYERS) boxes[name].addEventListener("change", () => { shown[name] = boxes[name].checked; hills = null; again(); });
  play.addEventListener("click", () => roll());
  function roll() {
    shown.runs = boxes.runs.checked = true;
    if (still.matches) { rolling = 1; draw(); return; }
    rolling = begun = 0;
    draw();
  }
  function describe() {
    const seen = picture.points.filter((point) => point.u && !point.family), kinds = new Map();
    for (const point of seen) kinds.set(point.kind, (kinds.get(point.kind) || 0) + 1);
    const items = [...kinds].map(([kind, count]) => element("span", { className: "landscape-item" }, [symbolOf(kind), `${kind} (${count})`]));
    if (picture.points.some((point) => point.family)) items.push(element("span", { textContent: "dots: a whole family of critical points" }));
    const joins = picture.paths.filter((path) => path.join).length / 2;
    if (joins) items.push(element("span", { className: "landscape-item" }, [element("i", { className: "landscape-stroke" }), "lowest path between two valleys"]));
    const dead = picture.runs.filter((run) => run.died).length;
    if (picture.runs.length) items.push(element("span", { className: "landscape-item" }, [dotOf(BALL), "training"]));
    if (dead) items.push(element("span", { className: "landscape-item", title: "Its outer weight began with the wrong sign: the neuron shrinks to nothing, at the zero network." }, [dotOf(DEAD), `ended at the zero network (${dead})`]));
    const [low, high] = picture.range;
    items.push(element("span", { className: "landscape-scale" }, [shortNumber(low), element("i"), shortNumber(high), " loss"]));
    legend.replaceChildren(...items);
    const text = [...kinds].map(([kind, count]) => `${count} × ${kind}`).join(", ");
    stage.setAttribute("aria-label", `Landscape of the loss over all directions of the neuron: ${text || "every direction is alike"}. Arrow keys go through the points, or turn it.`);
  }
  const dotOf = (colour) => element("i", { className: "landscape-dot", style: `background:${colour}` });
  function symbolOf(kind) {
    const canvas = element("canvas", { width: 36, height: 36 }), brush = canvas.getContext("2d");
    stampMark(brush, 18, 18, 13, picture.styles[kind][1], picture.styles[kind][0], "rgba(255,255,255,0.9)");
    return canvas;
  }

  // --- pointing and turning
  function nearest(event) {
    const box = stage.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, distance = CLOSE;
    for (const point of picture.points) if (point.u) for (const place of placesOf(point.u, point.length)) {
      const away = Math.hypot(place[0] - x, place[1] - y);
      if (away < distance) { best = point.number; distance = away; }
    }
    return best;
  }
  function highlight(number, told = false) {
    if (number === chosen) return;
    chosen = number;
    const point = picture.points.find((one) => one.number === number), place = point && point.u && placesOf(point.u, point.length)[0];
    tip.textContent = point ? wordsOf(point) : "";
    tip.hidden = !point;
    if (place) {
      tip.style.left = `${Math.min(Math.max(place[0], 90), side() - 90)}px`;
      tip.style.top = `${place[1] + (place[1] > side() - 70 ? -58 : 20)}px`;
    } else Object.assign(tip.style, { left: "50%", top: "50%" });
    draw();
    if (told) listener(number);
  }
  stage.addEventListener("pointermove", (event) => {
    if (!picture) return;
    if (!held) { highlight(nearest(event), true); return; }
    const k = 2.2 / side(), [dx, dy] = [(event.clientX - held[0]) * k, (event.clientY - held[1]) * k];
    held = [event.clientX, event.clientY];
    turn(dx, dy);
  });
  function turn(dx, dy) {
    if (shown.mode === "globe") shown.turn = turned(shown.turn, -dx, dy);
    if (shown.mode === "hills") Object.assign(shown, { azimuth: shown.azimuth + dx, tilt: Math.min(Math.max(shown.tilt + dy, 0.25), 1.35) });
    again();
  }
  stage.addEventListener("pointerdown", (event) => {
    if (shown.mode === "map") { highlight(nearest(event), true); return; }
    held = [event.clientX, event.clientY];
    coarse = true;
    stage.setPointerCapture(event.pointerId);
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { if (held) { held = null; coarse = false; again(); } });
  stage.addEventListener("pointerleave", () => { if (!held) highlight(null, true); });
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  stage.addEventListener("keydown", (event) => {
    if (event.key === " " || event.key === "Enter") { event.preventDefault(); roll(); return; }
    if (event.key === "Escape") { highlight(null, true); return; }
    if (!(event.key in ARROWS) || !picture) return;
    event.preventDefault();
    const [dx, dy] = ARROWS[event.key];
    if (shown.mode !== "map") { turn(0.12 * dx, 0.12 * dy); return; }
    const numbers = [...new Set(picture.points.map((point) => point.number))].sort((a, b) => a - b), at = numbers.indexOf(chosen);
    highlight(numbers[(at + dx + dy + numbers.length + (at < 0 && dx + dy < 0 ? 1 : 0)) % numbers.length], true);
  });

  function update(next) {
    const fresh = !picture || picture.n !== next.n;
    picture = next;
    loss = lossOf(picture);
    share = scaleOf(picture.range);
    basin = basinsOf(picture.basins);
    hills = null;
    if (picture.n === 3 && !shown.turn) { const [a, b, c] = picture.frame; shown.turn = [b, c, a]; }
    if (fresh) { if (!MODES[picture.n].some(([name]) => name === shown.mode)) shown.mode = "map"; furnish(); }
    const trained = picture.runs.length > 0;
    play.hidden = !trained;
    for (const [name, there] of [["runs", trained], ["basins", Boolean(picture.basins)]]) boxes[name].parentElement.hidden = !there;
    if (chosen !== null) { const number = chosen; chosen = null; highlight(number); }
    describe();
    again();
  }
  new ResizeObserver(again).observe(stage);
  tip.hidden = true;
  if (first) update(first);
  return { update, highlight, roll, onhover: (call) => { listener = call; }, setMode,
           state: () => ({ ...shown }), restore: (given) => { Object.assign(shown, given); for (const [name] of LAYERS) boxes[name].checked = shown[name]; setMode(shown.mode); },
           places: () => picture.points.filter((point) => point.u).map((point) => ({ ...point, places: placesOf(point.u, point.length) })), rolling: () => rolling, trains: () => picture.runs.length > 0, lossAt: (...u) => loss(...u) };
}
