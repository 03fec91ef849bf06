// What the page can do beside being read: find, choose and sort claims, show figures in full size, copy commands.
// Without it everything is visible.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const NOT_RUN = "not run at this scale";
  const CHOICES = ["study", "kind", "verdict"];

  function button(label) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    return made;
  }

  function claims(table, form) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase().replace(/\s+/g, " ")]));
    const untested = rows.filter((row) => row.dataset.verdict === NOT_RUN).length;

    function choose() {
      const asked = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
      const everything = asked.length > 0 || form.verdict.value !== "";
      for (const row of rows) {
        const fits = asked.every((word) => words.get(row).includes(word));
        const chosen = CHOICES.every((name) => ["", row.dataset[name]].includes(form[name].value));
        row.hidden = !(fits && chosen && (everything || row.dataset.verdict !== NOT_RUN));
      }
      const shown = rows.filter((row) => !row.hidden).length;
      const more = untested && !everything ? `; those ${NOT_RUN} come up when they are searched for or chosen` : "";
      form.querySelector("output").value = `${shown} of ${rows.length} shown${more}`;
    }

    function ask(chosen) {
      form.words.value = "";
      for (const name of CHOICES) form[name].value = chosen[name] ?? "";
      choose();
    }

    function sort(head, column) {
      const down = head.getAttribute("aria-sort") === "ascending";
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
      const numbers = head.dataset.sort === "number";
      const compare = numbers ? (a, b) => a - b : new Intl.Collator("en", { numeric: true }).compare;
      const filled = (row) => key(row) !== "";
      const sorted = rows.filter(filled).sort((a, b) => (down ? -1 : 1) * compare(key(a), key(b)));
      body.append(...sorted, ...rows.filter((row) => !filled(row)));
      for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    }

    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const press = button(head.textContent);
      press.addEventListener("click", () => sort(head, column));
      head.replaceChildren(press);
    });
    form.hidden = false;
    form.addEventListener("input", choose);
    form.addEventListener("change", choose);
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      ask({});
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const link of all("a[data-verdict]")) {
      link.addEventListener("click", () => ask(link.dataset));
    }

    function reveal() {
      const row = document.getElementById(location.hash.slice(1)); // names of claims have nothing to be decoded
      if (!row?.hidden || !words.has(row)) return;
      ask({ verdict: row.dataset.verdict === NOT_RUN ? NOT_RUN : "" });
      row.scrollIntoView();
    }
    choose();
    reveal();
    addEventListener("hashchange", reveal);
  }

  function zoom(image, dialog) {
    const press = button("");
    press.setAttribute("aria-label", `${image.alt}: full size`);
    image.replaceWith(press);
    press.append(image);
    press.addEventListener("click", () => {
      const large = dialog.querySelector("img");
      large.src = image.src;
      large.alt = image.alt;
      dialog.showModal();
    });
  }

  function copying(code) {
    const press = button("Copy");
    press.addEventListener("click", async () => {
      getSelection().selectAllChildren(code);
      try {
        await navigator.clipboard.writeText(code.textContent);
        press.textContent = "Copied";
      } catch {
        press.textContent = "Selected";
      }
    });
    code.after(press);
  }

  function following(links) {
    const places = new Map(links.map((link) => [document.getElementById(link.getAttribute("href").slice(1)), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) places.get(target).setAttribute("aria-current", "true");
        else places.get(target).removeAttribute("aria-current");
      }
    }, { rootMargin: "-15% 0px -75% 0px" });
    for (const place of places.keys()) seen.observe(place);
  }

  const table = document.querySelector("table.claims");
  if (table) claims(table, document.querySelector(".filters"));
  const dialog = document.getElementById("zoom");
  for (const image of all("figure img")) zoom(image, dialog);
  for (const code of all("code.command")) copying(code);
  following(all("nav li > a"));
})();
