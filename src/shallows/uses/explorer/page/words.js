// Texts of the page; an element is touched only when its text changes.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// As many children as there are items, each filled by `fill(child, item)`.
function fill(parent, type, items, put) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  while (parent.children.length < items.length) parent.append(document.createElement(type));
  items.forEach((item, i) => put(parent.children[i], item));
}

// A word of the glossary becomes a link to what explains it, with the sentence as a tooltip.
let words = {};
function explain(element, text) {
  if (element.textContent === text) return;
  if (!(text in words)) { write(element, text); return; }
  element.replaceChildren(make("a", { className: "word", href: `/words#${text.replace(" ", "-")}`, target: "_blank", textContent: text, data: { tip: words[text] } }));
}

function showFacts(facts) {
  fill(document.getElementById("facts"), "div", facts, (tile, [value, label]) => {
    if (!tile.children.length) tile.append(make("strong"), make("span"));
    write(tile.children[0], value);
    explain(tile.children[1], label);
  });
}

function showTable(headings, rows) {
  const place = document.getElementById("table");
  if (!place.children.length) place.append(make("table", {}, [make("thead", {}, [make("tr")]), make("tbody")]));
  const [head, body] = place.firstElementChild.children;
  fill(head.firstElementChild, "th", headings, explain);
  fill(body, "tr", rows, (line, row) => { line.tabIndex = pictured ? 0 : -1; fill(line, "td", row, write); });
  linkTable(place.firstElementChild);
}
