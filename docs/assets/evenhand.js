// The theme puts the copy button of every block of code into a landmark of its own. A page has dozens of them, which a
// screen reader would list beside the navigation: they are none.
const unmark = () => document.querySelectorAll("nav.md-code__nav:not([role])").forEach((nav) => nav.setAttribute("role", "none"));
new MutationObserver(unmark).observe(document.body, { childList: true, subtree: true });
unmark();
