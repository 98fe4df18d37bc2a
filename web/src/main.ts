/** Brings the report's page to life. Without this script the page still shows its figures, warnings and a picture. */

import "./style.css";
import { chosen } from "./chosen";
import { read, seriesOf } from "./data";
import { byId, h } from "./dom";
import { graphsOf } from "./graphs";
import { Panel } from "./panel";
import { open } from "./paper";
import { copyButtons, points } from "./points";
import { download } from "./raw";
import { State } from "./state";
import { axes, layers, paths, range, theme } from "./toolbar";

/** Width of a graph on paper, in the pixels of a page of about 18 cm. */
const PAPER = 760;

function start(): void {
  const page = read(byId("data").textContent ?? "");
  const state = new State(seriesOf(page));
  const live = h("p", { class: "say", role: "status", "aria-live": "polite" });
  let fade = 0;
  const say = (words: string) => {
    live.textContent = words;
    clearTimeout(fade);
    fade = window.setTimeout(() => (live.textContent = ""), 8000);
  };
  document.body.append(live);

  byId("theme").append(theme());
  byId("tools").append(paths(page, state), axes(state), layers(state), range(state));
  const soak = page.runs.some((run) => run.soak === true);
  const curves = graphsOf(state, page.graphs);
  const panels = [...curves.map((graph) => new Panel(graph, state, say)), ...chosen(state, say, soak)];
  // The summary stands between the first graph over sizes, if there is one, and the others.
  const roots = panels.map((p) => p.root);
  const first = curves.length > 0 ? 1 : 0;
  byId("graphs").replaceChildren(...roots.slice(0, first));
  byId("more").replaceChildren(...roots.slice(first));
  panels.forEach((p) => p.fit());
  panels.forEach((p) => p.draw());
  points(byId("points"), page.columns, state, say);
  copyButtons(say);
  page.runs.forEach((run, r) => byId("downloads").append(download(run, r, page.runs.length > 1, say)));

  // Ink is dark, and paper is narrower than most screens.
  let close = () => {};
  window.addEventListener("beforeprint", () => {
    for (const p of panels) p.draw(byId("more").contains(p.root) ? PAPER / 2 - 12 : PAPER);
    close();
    close = open(document.querySelector("main") ?? document.body);
  });
  window.addEventListener("afterprint", () => {
    for (const p of panels) p.draw();
    close();
    close = () => {};
  });
}

start();
