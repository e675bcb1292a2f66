// The search's weights: a section called exactly what was asked for comes first, so that "Theorem 35" leads to it.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename]) => {
    const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    const section = title.split(" > ").pop().toLowerCase();
    return section === asked ? score + 1000 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
