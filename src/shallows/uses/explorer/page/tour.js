// The guided opening: steps that one clicks or plays through, and states worth seeing.
const PLAY_SECONDS = 9, PLAY_TICK = 110; // of a sweep, and milliseconds between its places
let own = false, steps = [], at = 0, playing = 0, counted = null;

function openTour() {
  const place = document.getElementById("opening");
  if (!place) return;
  steps = JSON.parse(place.dataset.tour);
  const presets = JSON.parse(place.dataset.presets);
  if (steps.length) place.append(make("div", { className: "tour" }, [
    make("div", { className: "tour-text", ariaLive: "polite" }, [make("strong"), make("p"), make("p", { className: "news" })]),
    make("div", { className: "tour-buttons" }, [
      make("button", { type: "button", className: "action", id: "back", textContent: "Back", onclick: () => go(at - 1) }),
      make("button", { type: "button", className: "action main", id: "play", textContent: "▶ Play", onclick: play }),
      make("button", { type: "button", className: "action", id: "next", textContent: "Next", onclick: () => go(at + 1) }),
      make("span", { className: "tour-count" }),
    ]),
  ]));
  if (presets.length) place.append(make("div", { className: "presets", role: "group", ariaLabel: "Presets" },
    [make("span", { textContent: "Try:" }), ...presets.map((preset) => make("button", { type: "button", className: "preset", textContent: preset.label, onclick: () => choose(preset) }))]));
  own = steps.length > 0 && !steps.some(({ values: texts }) => isHere(texts));
  at = Math.max(0, steps.findLastIndex(({ values: texts, play: sweep }) => !sweep && isHere(texts)));
  if (steps.length) tell();
}

// Whether the controls stand at these values: a shared address may begin elsewhere than the tour.
const isHere = (texts) => Object.entries(texts).every(([name, text]) => controls.get(name).get() === text);
const OWN = { title: "A state of your own", text: "This address begins elsewhere than the guided opening. Move anything, or press Start." };

function tell() {
  const { title, text, play: sweep } = own ? OWN : steps[at], [heading, body] = document.querySelectorAll(".tour-text > *");
  write(heading, title);
  write(body, text);
  write(document.querySelector(".news"), "");
  write(document.querySelector(".tour-count"), own ? "" : `${at + 1} of ${steps.length}`);
  write(document.getElementById("next"), own ? "Start" : "Next");
  document.getElementById("back").disabled = own || at === 0;
  document.getElementById("next").disabled = !own && at === steps.length - 1;
  document.getElementById("play").hidden = !sweep && !(pictured && pictured.trains());
  write(document.getElementById("play"), sweep ? "▶ Play" : "▶ Train");
}

function go(step) {
  halt();
  at = own ? 0 : Math.min(Math.max(step, 0), steps.length - 1);
  own = false;
  tell();
  move(steps[at].values);
}

function halt() {
  clearInterval(playing);
  playing = 0;
  const button = document.getElementById("play");
  if (button && steps.length) write(button, steps[at].play ? "▶ Play" : "▶ Train");
}

// Play moves a slider from end to end, evenly in its logarithm where it stays positive.
function play() {
  if (playing) { halt(); return; }
  const sweep = own ? null : steps[at].play;
  if (!sweep) { if (pictured) pictured.roll(); return; }
  const [name, from, to] = sweep, begin = performance.now(), { step } = controls.get(name).slider;
  const between = from > 0 && to > 0 ? (t) => from * (to / from) ** t : (t) => from + (to - from) * t;
  counted = null;
  move(steps[at].values);
  write(document.getElementById("play"), "⏸ Pause");
  playing = setInterval(() => {
    const t = Math.min(1, (performance.now() - begin) / (1000 * PLAY_SECONDS));
    move({ [name]: String(Number((Math.round(between(t) / step) * step).toFixed(6))) });
    if (t === 1) halt();
  }, PLAY_TICK);
}

// While a slider plays: what has just happened to the number of critical points.
function news({ facts, landscape: picture }) {
  if (!steps.length || !picture) return;
  const count = picture.points.filter((point) => point.u && !point.family).length;
  if (playing && counted !== null && count !== counted) {
    const control = controls.get(steps[at].play[0]), value = control.get();
    const change = Math.abs(count - counted), many = ["", "one", "two", "three", "four"][change] || String(change);
    write(document.querySelector(".news"), count > counted
      ? `At ${value}: ${many} new critical points have just been born: ${counted} → ${count}.`
      : `At ${value}: critical points have just met, and ${many} are gone: ${counted} → ${count}.`);
  }
  counted = count;
}

function choose({ values: texts, view: other, label }) {
  halt();
  if (other) { location.search = new URLSearchParams({ view: other, ...texts }); return; }
  if (Object.keys(texts).length) { move(texts); return; }
  const random = [...controls].filter(([name, { slider }]) => slider && /^t\d/.test(name));
  move(Object.fromEntries(random.map(([name, { slider }]) => [name, ((Math.random() - 0.5) * Math.min(4, slider.max - slider.min)).toFixed(2)])));
}

const reset = () => { halt(); move(initial); };
