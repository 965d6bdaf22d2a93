"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("report-data").textContent);

  // Numbers as the rest of the page writes them.
  const nothing = "–";
  const count = (value) => {
    const whole = Math.abs(value - Math.round(value)) < 1e-9;
    const [head, tail] = value.toFixed(whole ? 0 : 1).split(".");
    const spaced = head.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return tail ? `${spaced}.${tail}` : spaced;
  };
  const ratio = (part, total) => (total > 0 ? (part / total).toFixed(3) : nothing);

  const themes = () => {
    const button = byId("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const show = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colors`);
    };
    try {
      const kept = localStorage.getItem("rankwise-theme");
      if (kept === "dark" || kept === "light") root.dataset.theme = kept;
    } catch { /* a page from disk may have no storage */ }
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("rankwise-theme", root.dataset.theme); } catch { /* as above */ }
      show();
    });
    system.addEventListener("change", show);
    show();
  };

  const sorting = () => {
    const table = byId("result-table");
    if (!table) return;
    const body = table.tBodies[0];
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const other = now === "ascending" ? "descending" : "ascending";
        const order = now === "none" ? head.dataset.first : other;
        const sign = order === "ascending" ? 1 : -1;
        const words = column === 0;
        const rows = all("tr", body).map((row) => [row.cells[column].dataset.value, row]);
        rows.sort(([a], [b]) => {
          // What has no value comes last either way.
          if (a === "" || b === "") return (a === "") - (b === "");
          return sign * (words ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
        });
        heads.forEach((each) => each.setAttribute("aria-sort", each === head ? order : "none"));
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  const hidden = new Set();
  const legends = () => {
    // On a phone a legend is folded: its charts come first.
    const narrow = matchMedia("(max-width: 36rem)");
    const fold = () => { for (const each of all(".legend")) each.open = !narrow.matches; };
    narrow.addEventListener("change", fold);
    fold();
    for (const key of all("[data-toggle]")) {
      key.addEventListener("click", () => {
        const number = key.dataset.toggle;
        const off = !hidden.has(number);
        hidden[off ? "add" : "delete"](number);
        for (const each of all(`[data-toggle="${number}"]`)) {
          each.setAttribute("aria-pressed", String(!off));
        }
        for (const each of all(`[data-series="${number}"]`)) each.classList.toggle("off", off);
      });
    }
    for (const box of all("[data-bands]")) {
      box.addEventListener("change", () => {
        document.body.classList.toggle("all-bands", box.checked);
      });
    }
  };

  // Reading values off a chart: the nearest place of its grid, by mouse, finger or arrow keys.
  const reading = (svg) => {
    const chart = data.charts[svg.dataset.chart];
    const tip = svg.parentElement.querySelector(".tip");
    const cross = svg.querySelector(".cross");
    const width = svg.viewBox.baseVal.width;
    let place = Math.round(chart.px.length / 4);
    const line = (color, name, value) => {
      const row = document.createElement("div");
      const dot = document.createElement("i");
      const number = document.createElement("span");
      row.className = color;
      number.textContent = value;
      row.append(dot, name, number);
      return row;
    };
    const show = () => {
      const head = document.createElement("b");
      head.textContent = `${chart.title} ${chart.x[place]}`;
      const shown = chart.series.filter(({ number }) => !hidden.has(String(number)));
      shown.sort((a, b) => b.y[place] - a.y[place]);
      tip.replaceChildren(head, ...shown.map(({ number, y }) => (
        line(data.colors[number], data.names[number], y[place].toFixed(chart.digits)))));
      tip.hidden = false;
      svg.classList.add("reading");
      for (const end of ["x1", "x2"]) cross.setAttribute(end, chart.px[place]);
      // On the side that the pointer is not on.
      const share = chart.px[place] / width;
      const scale = svg.clientWidth;
      tip.style.left = share > 0.5 ? "auto" : `${share * scale + 12}px`;
      tip.style.right = share > 0.5 ? `${(1 - share) * scale + 12}px` : "auto";
    };
    const hide = () => {
      tip.hidden = true;
      svg.classList.remove("reading");
    };
    const follow = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * width;
      let best = 0;
      chart.px.forEach((each, n) => {
        if (Math.abs(each - x) < Math.abs(chart.px[best] - x)) best = n;
      });
      place = best;
      show();
    };
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    // A finger that is lifted has left, but its owner still reads.
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const last = chart.px.length - 1;
      const to = {
        ArrowLeft: place - 1, ArrowRight: place + 1, PageDown: place - 10, PageUp: place + 10,
        Home: 0, End: last,
      }[event.key];
      if (event.key === "Escape") hide();
      if (to === undefined) return;
      event.preventDefault();
      place = Math.min(last, Math.max(0, to));
      show();
    });
  };

  const explorer = () => {
    const rows = data.charts.threshold;
    const slider = byId("threshold-slider");
    if (!rows || !slider) return;
    const shown = (value) => (value === null ? "none" : String(value));
    const price = (key) => Math.max(0, Number(byId(`cost-${key}`).value) || 0);
    const costs = () => rows.tp.map((tp, n) => (
      price("fp") * rows.fp[n] + price("fn") * (rows.positives - tp)));
    const cheapest = (values) => values.lastIndexOf(Math.min(...values));
    const write = (id, text) => { byId(id).textContent = text; };
    const move = (id, place) => {
      for (const end of ["x1", "x2"]) byId(id).setAttribute(end, rows.px[place]);
    };

    const show = () => {
      const at = Number(slider.value);
      const tp = rows.tp[at];
      const fp = rows.fp[at];
      const fn = rows.positives - tp;
      const precision = ratio(tp, tp + fp);
      const recall = ratio(tp, rows.positives);
      write("at-threshold", shown(rows.threshold[at]));
      write("at-flagged", count(tp + fp));
      write("at-precision", precision);
      write("at-recall", recall);
      for (const name of ["precision", "recall"]) {
        const [low, high] = rows[`${name}_ends`][at];
        write(`at-${name}-95`, `${low.toFixed(2)}–${high.toFixed(2)}`);
      }
      write("at-f1", ratio(2 * tp, tp + fp + rows.positives));
      write("at-tp", count(tp));
      write("at-fp", count(fp));
      write("at-fn", count(fn));
      write("sum-fp", count(price("fp") * fp));
      write("sum-fn", count(price("fn") * fn));
      write("sum-total", count(price("fp") * fp + price("fn") * fn));
      slider.setAttribute(
        "aria-valuetext",
        `threshold ${shown(rows.threshold[at])}, precision ${precision}, recall ${recall}`,
      );
      move("threshold-marker", at);
    };
    const price_again = () => {
      const values = costs();
      const most = Math.max(...values);
      const least = cheapest(values);
      const threshold = rows.threshold[least];
      const where = threshold === null ? "no row flagged" : `a threshold of ${shown(threshold)}`;
      write("cheapest-summary", `Cheapest: ${count(values[least])} at ${where}.`);
      move("cheapest-marker", least);
      const height = rows.bottom - rows.top;
      const points = values.map((value, n) => (
        `${rows.px[n]} ${(rows.bottom - (most ? value / most : 0) * height).toFixed(1)}`));
      byId("cost-line").setAttribute("d", `M${points.join("L")}`);
      show();
    };
    const go = (place) => {
      slider.value = String(place);
      show();
    };

    slider.addEventListener("input", show);
    const by_rule = byId("by-rule");
    if (by_rule) by_rule.addEventListener("click", () => go(rows.rule));
    byId("best-f1").addEventListener("click", () => go(rows.best));
    byId("cheapest").addEventListener("click", () => go(cheapest(costs())));
    for (const key of ["fp", "fn"]) byId(`cost-${key}`).addEventListener("input", price_again);
    price_again();
  };

  const copying = () => {
    for (const button of all("[data-copy]")) {
      button.addEventListener("click", async () => {
        const source = byId(button.dataset.copy);
        try {
          await navigator.clipboard.writeText(source.textContent);
          button.textContent = "Copied";
        } catch {
          // Without the clipboard, as on a page from disk: select it for the reader's own keys.
          getSelection().selectAllChildren(source);
          button.textContent = "Selected";
        }
      });
    }
  };

  // A box that is wider than the screen says so.
  const scrolling = () => {
    const measure = () => {
      for (const box of all(".scroll")) {
        box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
      }
    };
    addEventListener("resize", measure);
    for (const each of all("details")) each.addEventListener("toggle", measure);
    measure();
  };

  const printing = () => {
    addEventListener("beforeprint", () => { for (const each of all("details")) each.open = true; });
  };

  themes();
  sorting();
  legends();
  all("svg[data-chart]").forEach(reading);
  explorer();
  copying();
  scrolling();
  printing();
})();
