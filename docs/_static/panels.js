"use strict";
// Figures with several panels: one below the other on a narrow page, and titles that fit their panel on a wide one.
const sitePanels = (function () {
  const PANEL = 230, ABOVE = 44, BELOW = 46;   // pixels on a narrow page
  const LETTER = 0.58;                         // mean width of a letter, in font sizes

  // The panels of a layout in reading order: each has its domains and what is to be moved with them.
  function find(layout) {
    const found = [];
    for (const key of Object.keys(layout)) {
      const box = layout[key];
      if (/^scene\d*$/.test(key) && box.domain) found.push({ x: box.domain.x, y: box.domain.y, scene: box });
      if (!/^xaxis\d*$/.test(key) || !box.domain) continue;
      const name = (box.anchor || "y").replace("y", "yaxis");
      const other = layout[name];
      if (other && other.domain) found.push({ x: box.domain, y: other.domain, axes: [box, other] });
    }
    return found.sort((a, b) => b.y[1] - a.y[1] || a.x[0] - b.x[0]);
  }

  // make_subplots writes titles as annotations: centred above their panel, in the coordinates of the page.
  function titles(layout) {
    return (layout.annotations || []).filter((a) => a.xref === "paper" && a.yref === "paper" && !a.showarrow && a.yanchor === "bottom");
  }

  function titleOf(panel, all) {
    const middle = (panel.x[0] + panel.x[1]) / 2;
    return all.find((a) => Math.abs(a.x - middle) < 0.03 && Math.abs(a.y - panel.y[1]) < 0.03);
  }

  function wrapped(text, letters) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const line = lines[lines.length - 1];
      if (line && line.length + word.length + 1 > letters) lines.push(word);
      else lines[lines.length - 1] = line ? line + " " + word : word;
    }
    return lines;
  }

  function fit(title, width, size) {
    const lines = wrapped(title.text, width / (LETTER * size));
    title.text = lines.join("<br>");
    title.font = Object.assign({}, title.font, { size });
    return lines.length;
  }

  // Axes that share their labels with a neighbour get their own.
  function alone(panels) {
    for (const panel of panels) {
      if (!panel.axes) continue;
      panel.axes.forEach((axis, i) => {
        const like = panels.filter((p) => p.axes && (i ? p.y[1] === panel.y[1] : p.x[0] === panel.x[0])).map((p) => p.axes[i]);
        const named = like.find((other) => other.title && other.title.text);
        if (named && axis.visible !== false) axis.title = JSON.parse(JSON.stringify(named.title));
        axis.showticklabels = true;
      });
    }
  }

  function stack(layout, panels, width) {
    const all = titles(layout), row = PANEL + ABOVE + BELOW, inner = row * panels.length;
    layout.margin = Object.assign({}, layout.margin, { t: 4, b: 30 });
    layout.height = inner + 64;   // the legend has the rest
    alone(panels);
    for (const panel of panels) panel.title = titleOf(panel, all);
    panels.forEach((panel, i) => {
      const x = [0, 1], top = 1 - (i * row + ABOVE) / inner, y = [1 - ((i + 1) * row - BELOW) / inner, top];
      if (panel.scene) panel.scene.domain = { x, y };
      else { panel.axes[0].domain = x; panel.axes[1].domain = y; }
      if (panel.title) { Object.assign(panel.title, { x: 0.5, y: top }); fit(panel.title, width - 60, 12); }
    });
    if (layout.legend && layout.legend.yref !== "container") layout.legend.y = -BELOW / inner;
  }

  function shrink(layout, panels, width) {
    const all = titles(layout);
    let most = 1;
    for (const panel of panels) {
      const title = titleOf(panel, all);
      if (title) most = Math.max(most, fit(title, (panel.x[1] - panel.x[0]) * (width - 80) * 1.1, 13));
    }
    if (most > 1) layout.margin = Object.assign({}, layout.margin, { t: ((layout.margin || {}).t || 40) + 16 * (most - 1) });
  }

  function arrange(layout, width, narrow) {
    const panels = find(layout);
    if (panels.length < 2) return;
    const columns = new Set(panels.map((panel) => panel.x[0])).size;
    const tiles = columns > 2 && panels.every((panel) => panel.axes && panel.axes[0].visible === false);
    if (narrow && columns > 1 && !tiles) stack(layout, panels, width);
    else shrink(layout, panels, width);
  }

  return { arrange };
})();
