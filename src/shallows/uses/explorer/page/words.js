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

function showFacts(facts) {
  fill(document.getElementById("facts"), "div", facts, (tile, [value, label]) => {
    if (!tile.children.length) tile.append(make("strong"), make("span"));
    write(tile.children[0], value);
    write(tile.children[1], label);
  });
}

function showTable(headings, rows) {
  const place = document.getElementById("table");
  if (!place.children.length) place.append(make("table", {}, [make("thead", {}, [make("tr")]), make("tbody")]));
  const [head, body] = place.firstElementChild.children;
  fill(head.firstElementChild, "th", headings, write);
  fill(body, "tr", rows, (line, row) => fill(line, "td", row, write));
}
