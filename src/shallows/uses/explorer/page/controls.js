// The controls of a view, made from its fields: a number has a box and a slider that follow each other, a choice has
// radio buttons. They are plain elements, because a framework would spend more on a move than drawing does.
const DEBOUNCE = 300; // milliseconds after the last key until a box is read

const controls = new Map(); // field's name -> { get, set, slider }
let initial = {}; // the texts with which a view begins

function make(type, properties = {}, children = []) {
  const { data = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(type), rest);
  Object.assign(element.dataset, data);
  element.append(...children);
  return element;
}

function furnish(panel) {
  const fields = JSON.parse(panel.dataset.fields);
  initial = Object.fromEntries(fields.map((field) => [field.name, field.initial]));
  panel.querySelector(".controls").append(...fields.map((field) => (field.choices.length ? choiceOf(field) : numberOf(field))));
  relevant();
}

// A number that the present choices leave without a meaning has no slider.
function relevant() {
  for (const { needs, place } of controls.values()) if (needs) place.hidden = controls.get(needs[0]).get() !== needs[1];
}

function choiceOf({ name, label, value, choices }) {
  const inputs = choices.map((text) => make("input", { type: "radio", name, value: text, checked: text === value, onchange: () => { relevant(); ask(); } }));
  const labels = inputs.map((input) => make("label", {}, [input, input.value]));
  controls.set(name, {
    get: () => inputs.find((input) => input.checked).value,
    set: (text) => { for (const input of inputs) input.checked = input.value === text; },
  });
  const group = make("div", { className: "choices", role: "radiogroup", ariaLabel: label }, labels);
  return make("div", { className: "field" }, [make("span", { className: "name", textContent: label }), group]);
}

function numberOf({ name, label, value, low, high, step, selects, needs }) {
  const box = make("input", { type: "text", className: "box", id: `box-${name}`, value, inputMode: "decimal", autocomplete: "off" });
  const slider = make("input", { type: "range", className: "slider", min: low, max: high, step, value, ariaLabel: label });
  let waiting = 0;
  const choose = () => { if (selects) controls.get(selects[0]).set(selects[1]); };
  slider.addEventListener("input", () => { box.value = slider.value; choose(); ask(); });
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { follow(slider, box.value); choose(); ask(); }, DEBOUNCE);
  });
  const top = make("div", { className: "top" }, [make("label", { htmlFor: box.id, textContent: label }), box]);
  const place = make("div", { className: "field", data: { field: name } }, [top, slider]);
  controls.set(name, { slider, needs, place, get: () => box.value, set: (text) => { box.value = text; follow(slider, text); } });
  return place;
}

// A slider goes where its box says, when that is a number.
function follow(slider, text) {
  if (text.trim() !== "" && !Number.isNaN(Number(text))) slider.value = text;
}

const values = () => Object.fromEntries([...controls].map(([name, control]) => [name, control.get()]));

// Several controls at once, so that no state is asked for in which only some have moved.
function move(texts) {
  for (const [name, text] of Object.entries(texts)) controls.get(name).set(text);
  relevant();
  ask();
}

// Run counts the steps up as long as its button is pressed; Split notes the present step.
const STEPS = 20, TICK = 350;
let running = 0;
function press(button) {
  const tick = () => move({ steps: String(Number(controls.get("steps").get()) + STEPS) });
  if (running) clearInterval(running);
  running = running ? 0 : setInterval(tick, TICK);
  button.textContent = running ? "Pause" : "Run";
}
const split = () => move({ split: String(Math.max(1, Number(controls.get("steps").get()))) });
