// Tabs, deep links and paper. Without this script the browser itself opens the tab that a link names.

const TABS = all(".tab");
const PAPER = 680; // the width of what is printed, in pixels
let printing = false;

// "#metrics/equalized_odds" is a line of a tab.
function placeOf(hash) {
  let words = hash.replace(/^#/, "");
  try {
    words = decodeURIComponent(words);
  } catch {
    // An address that nobody can decode is read as it is.
  }
  const [name, ...rest] = words.split("/");
  const within = $(name) && $(name).closest(".tab");
  return { tab: within || TABS[0], line: rest.join("/") };
}

function openTab(hash) {
  const { tab, line } = placeOf(hash),
    before = document.documentElement.dataset.tab;
  document.documentElement.dataset.tab = tab.id;
  for (const each of TABS) each.classList.toggle("open", each === tab);
  for (const link of all(".tabs a"))
    if (link.getAttribute("href") === `#${tab.id}`) {
      link.setAttribute("aria-current", "page");
      link.parentNode.scrollLeft = link.offsetLeft - 40; // on a phone the tabs are one row, which scrolls
    } else link.removeAttribute("aria-current");
  if (before !== tab.id) {
    widths.clear();
    for (const id in sections)
      if (tab.contains($(id))) {
        const isNew = late.has(id) && late.get(id).has("set");
        catchUp(id);
        if (!isNew) draw(id, "width");
      }
  }
  if (line && tab.id === "metrics") openLine(line);
}

function openLine(metric) {
  const node = all("#lines details.metric").find((each) => each.dataset.metric === metric);
  if (!node) return;
  node.open = true;
  node.scrollIntoView({ block: "center" });
}

function goTo(hash) {
  try {
    history.pushState(null, "", hash);
  } catch {
    // The frame of a notebook has no address of its own.
  }
  openTab(hash);
  const top = document.querySelector(".top").offsetHeight;
  if (window.scrollY > top) window.scrollTo({ top, behavior: "instant" });
}

function followLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(link.getAttribute("href"));
  });
  for (const name of ["popstate", "hashchange"]) window.addEventListener(name, () => openTab(location.hash));
  for (const link of all(".tabs a")) if (!$(link.getAttribute("href").slice(1))) link.remove();
  openTab(location.hash);
}

// On paper every tab is shown, as wide as the sheet.
function paper() {
  const lay = (on) => () => {
    if (!on && !printing) return;
    printing = on;
    update("set");
    for (const box of all("[data-appendix] .explain")) box.open = on;
  };
  window.addEventListener("beforeprint", lay(true));
  window.addEventListener("afterprint", lay(false));
}

start().catch((error) => {
  MAIN.prepend(
    h("p", { class: "moved" }, "The plots could not be drawn here; every number stands in the tables below."),
  );
  throw error;
});
