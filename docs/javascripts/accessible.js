/* Names and keyboard focus that the theme leaves out. */
document.querySelector("[data-md-component=search][role=dialog]")?.setAttribute("aria-label", "Search");

/* The theme wraps tables when the page has loaded. Where a wrapper scrolls, the keyboard must reach it. */
const heading = (place) => {
  const before = [...document.querySelectorAll(".md-content :is(h1, h2, h3, h4)")].filter(
    (each) => each.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return before.length ? before.at(-1).firstChild.textContent.trim() : document.title;
};

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) {
      target.setAttribute("tabindex", "0");
      target.setAttribute("role", "group");
      target.setAttribute("aria-label", `Table: ${heading(target)}`);
    } else {
      ["tabindex", "role", "aria-label"].forEach((name) => target.removeAttribute(name));
    }
  }
});

const seen = new WeakSet();
const look = () => {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (!seen.has(each)) {
      seen.add(each);
      sizes.observe(each);
    }
  }
};
look();
new MutationObserver(look).observe(document.querySelector(".md-content"), { childList: true, subtree: true });
