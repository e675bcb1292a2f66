"use strict";
// Figures take the colours of text and lines from the page, now and when the reader switches between light and dark.
(function () {
  const narrow = window.matchMedia("(max-width: 46rem)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displayModeBar: "hover" };

  // Paper is white, also when the reader's screen is dark and the page's width changes while it prints.
  let printing = false;
  function colours() {
    return printing || window.matchMedia("print").matches || !dark.matches ? { ink: "#1c2126", grid: "#e4e6e9", line: "#8a8f98", paper: "#fdfdfb" }
                                  : { ink: "#e6e8ea", grid: "#2b3138", line: "#77808b", paper: "#15181c" };
  }

  function dressed(layout, c) {
    const result = JSON.parse(JSON.stringify(layout));
    Object.assign(result, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" });
    result.font = Object.assign({}, result.font, { color: c.ink, size: narrow.matches ? 11 : 13 });
    result.hoverlabel = Object.assign({}, result.hoverlabel, { bgcolor: c.paper, bordercolor: c.line, font: { color: c.ink } });
    for (const key of Object.keys(result)) {
      if (/^[xy]axis\d*$/.test(key)) Object.assign(result[key], { gridcolor: c.grid, linecolor: c.line, tickcolor: c.line, zerolinecolor: c.line });
      if (/^scene\d*$/.test(key)) for (const axis of ["xaxis", "yaxis", "zaxis"]) result[key][axis] = Object.assign({}, result[key][axis], { gridcolor: c.grid, color: c.ink });
    }
    for (const menu of result.updatemenus || []) Object.assign(menu, { bgcolor: c.paper, bordercolor: c.line, font: { color: c.ink } });
    if (narrow.matches && result.margin) result.margin = Object.assign({}, result.margin, { l: Math.min(result.margin.l, 44), r: 8 });
    return result;
  }

  function inked(data, c) {
    return data.map((trace) => trace.meta && trace.meta.ink
      ? Object.assign({}, trace, { line: Object.assign({}, trace.line, { color: c.ink }) }) : trace);
  }

  // The points of a cube, x slowest: what level surfaces are drawn from.
  const cubes = {};
  function cube(reach, side) {
    const key = reach + "/" + side;
    if (!cubes[key]) {
      const axes = [0, 1, 2].map(() => new Float32Array(side ** 3));
      for (let i = 0; i < side ** 3; i++) {
        [Math.floor(i / side ** 2), Math.floor(i / side) % side, i % side].forEach((place, axis) => {
          axes[axis][i] = reach * (2 * place / (side - 1) - 1);
        });
      }
      cubes[key] = { x: axes[0], y: axes[1], z: axes[2] };
    }
    return cubes[key];
  }
  function placed(trace) {
    return trace.meta && trace.meta.grid ? Object.assign({}, trace, cube(...trace.meta.grid)) : trace;
  }

  const plots = [];
  for (const script of document.querySelectorAll("script[data-for]")) {
    plots.push({ place: document.getElementById(script.dataset.for), figure: JSON.parse(script.textContent) });
    plots[plots.length - 1].figure.data = plots[plots.length - 1].figure.data.map(placed);
  }
  function draw() {
    const c = colours();
    for (const { place, figure } of plots) {
      Plotly.react(place, inked(figure.data, c), dressed(figure.layout, c), config);
    }
  }
  draw();
  document.querySelectorAll("script[data-landscape]").forEach(landscapeOf);
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  // What was folded when it was drawn had no width; a link to a folded part unfolds it.
  for (const part of document.querySelectorAll("details")) {
    part.addEventListener("toggle", () => {
      if (part.open) for (const place of part.querySelectorAll(".js-plotly-plot")) Plotly.Plots.resize(place);
    });
  }
  function unfold() {
    const part = location.hash && document.querySelector(`${location.hash} > details`);
    if (part) part.open = true;
  }
  unfold();
  window.addEventListener("hashchange", unfold);
  // Paper cannot unfold anything.
  let unfolded = [];
  window.addEventListener("beforeprint", () => {
    printing = true;
    draw();
    unfolded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const part of unfolded) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    draw();
    for (const part of unfolded) part.open = false;
  });

  // Pointing at a point of the landscape marks its row, and the other way round.
  function landscapeOf(script) {
    const host = document.getElementById(script.dataset.landscape);
    const article = document.getElementById(host.id.replace("landscape", "problem")), beside = host.closest(".comparison > div");
    const picture = shallowsLandscape(host, JSON.parse(script.textContent));
    const rows = Array.from(article.querySelectorAll("table.sortable tbody tr"));
    const mark = (number) => rows.forEach((row) => row.classList.toggle("linked", row.cells[0].dataset.value === String(number)));
    picture.onhover(mark);
    for (const row of rows) {
      row.addEventListener("pointerenter", () => { picture.highlight(Number(row.cells[0].dataset.value)); });
      row.addEventListener("pointerleave", () => picture.highlight(null));
    }
    for (const { place } of plots) if (article.contains(place) || (beside && beside.contains(place))) {
      place.on("plotly_hover", ({ points: [point] }) => { if (Array.isArray(point.customdata)) { picture.highlight(point.customdata[0]); mark(point.customdata[0]); } });
      place.on("plotly_unhover", () => { picture.highlight(null); mark(null); });
    }
    new IntersectionObserver((seen, observer) => { if (seen[0].isIntersecting) { picture.roll(); observer.disconnect(); } }).observe(host);
  }

  function sortBy(table, column, direction) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row, place) => ({ row, place, value: row.cells[column].dataset.value }));
    const numeric = rows.every(({ value }) => value === "" || value === "-inf" || !Number.isNaN(Number(value)));
    const key = (value) => (value === "-inf" || value === "" ? -Infinity : Number(value));
    rows.sort((a, b) => {
      const order = numeric ? (key(a.value) === key(b.value) ? 0 : key(a.value) < key(b.value) ? -1 : 1) : a.value.localeCompare(b.value);
      return direction * order || a.place - b.place;
    });
    body.append(...rows.map(({ row }) => row));
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        sortBy(table, column, down ? -1 : 1);
      });
    });
  }
  document.documentElement.dataset.ready = "true";
})();
