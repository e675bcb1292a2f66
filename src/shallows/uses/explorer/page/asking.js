// One question at a time, and then a pause of twice what its answer took: where many pages share a machine they take
// turns instead of queueing, and each asks for its newest state, not for one that grew old in a queue. What is cheap to
// draw follows every answer; the rest waits until the hand rests.
const PATIENCE = 60_000; // milliseconds until an answer is given up
const REST = 200; // milliseconds without a move or an answer after which everything is drawn in full
const LATEST = 3000; // milliseconds after which the address follows even a hand that does not rest: a costly change
const PAUSE = 2, LONGEST_PAUSE = 1000; // after an answer, in its own time, and at most in milliseconds
const SILENCE = "The explorer does not answer. Is `shallows explore` still running? Move something to ask again.";

let view = "", wanted = null, asked = null, busy = false, resting = 0, scene = null, noted = 0, earliest = 0;

function ask() {
  wanted = JSON.stringify({ view, values: values() });
  wait();
  run();
}

async function run() {
  if (busy) return;
  busy = true;
  try {
    while (wanted !== asked) await askOnce();
  } finally { busy = false; }
}

async function askOnce() {
  await new Promise((done) => setTimeout(done, Math.max(0, earliest - performance.now())));
  asked = wanted;
  const begin = performance.now();
  const found = await answer("/scene", { ...JSON.parse(asked), known: [...kept.keys()] });
  earliest = performance.now() + Math.min(PAUSE * (performance.now() - begin), LONGEST_PAUSE);
  wait();
  show(found);
}

// What the server says; when it says nothing, a message about that.
async function answer(path, question) {
  try {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" },
                                         body: JSON.stringify(question), signal: AbortSignal.timeout(PATIENCE) });
    return await response.json();
  } catch (error) {
    console.warn(error);
    return { message: SILENCE };
  }
}

function show(found) {
  write(document.getElementById("message"), found.message);
  if (!found.figures) return; // a remark comes with its picture, a refusal leaves the last one
  scene = found;
  showFacts(scene.facts);
  showLandscape(scene.landscape);
  news(scene);
  receive(scene.figures);
  if (visible(document.getElementById("table"))) showTable(scene.headings, scene.rows);
  if (performance.now() > noted + LATEST) note();
}

function wait() {
  if (document.documentElement.dataset.busy !== "true") {
    document.documentElement.dataset.busy = "true";
    noted = performance.now();
  }
  clearTimeout(resting);
  resting = setTimeout(rest, REST);
}

async function rest() {
  if (busy) return; // the answer that is under way waits again
  const since = resting;
  if (scene) {
    write(document.getElementById("code"), scene.code);
    showTable(scene.headings, scene.rows);
    await drawAll();
    if (since !== resting) return; // the hand moved on
    note();
  }
  document.documentElement.dataset.busy = "false";
}

function note() {
  noted = performance.now();
  keep("state", scene.query);
  if (location.search !== scene.query) history.replaceState(null, "", scene.query);
}

async function download(button) {
  button.disabled = true;
  const { message, name, text } = await answer("/report", { view, values: values() });
  button.disabled = false;
  write(document.getElementById("message"), message);
  if (!message) save(name, text);
}

function save(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/html" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), PATIENCE);
}

// Dash puts the page in place; then it is furnished.
function start() {
  const panel = document.getElementById("panel");
  if (!panel) return false;
  view = panel.dataset.view;
  furnish(panel);
  words = JSON.parse(panel.dataset.words);
  recallMenu();
  openTour();
  document.querySelector("nav [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
  for (const [id, action] of [["run", press], ["split", split], ["report", download], ["reset", reset]]) {
    const button = document.getElementById(id);
    if (button) button.addEventListener("click", () => action(button));
  }
  ask();
  return true;
}
new MutationObserver((_, observer) => { if (start()) observer.disconnect(); }).observe(document.body, { childList: true, subtree: true });

window.shallows = { move, landscape: () => pictured };
