/** What the page shows on paper, where nothing can be opened: what is closed stands open, behind the points where it is long. */

import { h } from "./dom";

/** Most characters of what is opened where it stands. Longer ones would push the figures off the first five pages. */
const SHORT = 400;

/** Opens what is closed, and copies what is long into an appendix. The answer takes all of that back. */
export function open(main: HTMLElement): () => void {
  const opened: HTMLDetailsElement[] = [];
  const parts: HTMLElement[] = [];
  const marks: HTMLElement[] = [];
  for (const details of main.querySelectorAll("details")) {
    if (details.open) continue;
    const summary = details.querySelector("summary");
    const whole = details.textContent ?? "";
    if (!summary || whole.length - (summary.textContent ?? "").length <= SHORT) {
      details.open = true;
      opened.push(details);
      continue;
    }
    const mark = h("small", {}, " (in the appendix)");
    const title = h("h3", {}, summary.textContent ?? "");
    summary.append(mark);
    marks.push(mark);
    const copy = details.cloneNode(true) as HTMLDetailsElement;
    copy.querySelector("summary")?.remove();
    // An id names one element of a page.
    for (const named of copy.querySelectorAll("[id]")) named.removeAttribute("id");
    parts.push(title, h("div", { class: "folded" }, ...copy.childNodes));
  }
  const title = h("h2", {}, "Appendix: what is folded on the screen");
  const appendix = h("section", { id: "appendix" }, title, ...parts);
  if (parts.length > 0) main.append(appendix);
  return () => {
    appendix.remove();
    for (const mark of marks) mark.remove();
    for (const details of opened) details.open = false;
  };
}
