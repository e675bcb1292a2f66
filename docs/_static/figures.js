"use strict";
// Figures take the colours of text and lines from the page, now and when the reader switches between light and dark.
// plotly.js is loaded from beside this file, and only when the page has a figure.
(function () {
  const here = document.currentScript.src;
  const places = Array.from(document.querySelectorAll(".site-figure"));
  if (!places.length) return;
  const narrow = window.matchMedia("(max-width: 46rem)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displayModeBar: "hover" };
  const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8f98", "#F0E442"]; // theme.CYCLE
  const figures = places.map((place) => JSON.parse(place.querySelector("script").textContent));

  function isDark() {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && dark.matches);
  }

  // A legend below the panels begins under the title of the axis. What it takes away from them is not known: a third.
  function below(layout) {
    const margin = Object.assign({ t: 100, b: 80 }, layout.margin);
    const inner = ((layout.height || 450) - margin.t - margin.b) * 2 / 3;
    Object.assign(layout.legend, { y: Math.min(layout.legend.y, -50 / inner), yanchor: "top" });
    for (const key of Object.keys(layout)) if (/^xaxis\d*$/.test(key) && layout[key].title) layout[key].title.standoff = 6;
  }

  function dressed(figure, width) {
    const c = isDark() ? { ink: "#d6dade", grid: "#2b3138", line: "#77808b", paper: "#15181c" }
                       : { ink: "#1c2126", grid: "#e4e6e9", line: "#8a8f98", paper: "#ffffff" };
    const layout = JSON.parse(JSON.stringify(figure.layout || {}));
    const clear = "rgba(0,0,0,0)";
    Object.assign(layout, { paper_bgcolor: clear, plot_bgcolor: clear });
    layout.colorway = layout.colorway || COLOURS;
    delete layout.width;
    layout.font = Object.assign({}, layout.font, { color: c.ink, size: narrow.matches ? 11 : 13 });
    layout.hoverlabel = Object.assign({}, layout.hoverlabel, { bgcolor: c.paper, bordercolor: c.line, font: { color: c.ink } });
    layout.xaxis = layout.xaxis || {};
    layout.yaxis = layout.yaxis || {};
    for (const key of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(key)) Object.assign(layout[key], { gridcolor: c.grid, linecolor: c.line, tickcolor: c.line, zerolinecolor: c.grid });
      if (/^scene\d*$/.test(key)) for (const axis of ["xaxis", "yaxis", "zaxis"]) layout[key][axis] = Object.assign({}, layout[key][axis], { gridcolor: c.grid, color: c.ink, backgroundcolor: clear });
    }
    if (layout.legend) layout.legend.bgcolor = clear;
    if (layout.legend && layout.legend.orientation === "h" && layout.legend.y < 0) below(layout);
    if (narrow.matches) {
      layout.margin = Object.assign({}, layout.margin, { l: 48, r: 10 });
      const foot = layout.legend && layout.legend.yref === "container" ? {} : { y: -0.22, yanchor: "top" };
      layout.legend = Object.assign({}, layout.legend, { orientation: "h", x: 0, xanchor: "left" }, foot);
    }
    sitePanels.arrange(layout, width, narrow.matches);
    const data = figure.data.map((trace) => trace.meta && trace.meta.ink
      ? Object.assign({}, trace, { line: Object.assign({}, trace.line, { color: c.ink }) }) : trace);
    return { data, layout };
  }

  function draw() {
    places.forEach((place, i) => {
      const { data, layout } = dressed(figures[i], place.clientWidth);
      if (layout.height) place.style.minHeight = layout.height + "px";
      Plotly.react(place, data, layout, config);
    });
  }

  const library = document.createElement("script");
  library.src = new URL("plotly.min.js", here).href;
  library.onload = function () {
    draw();
    dark.addEventListener("change", draw);
    narrow.addEventListener("change", draw);
    new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  };
  document.head.append(library);
})();
