// Restores what was typed into a form that was submitted too late, after signing in again, or
// that was too large, after the page that says so. Passwords and secrets are not restored.
(() => {
  const typed = (form) => [...form.elements].filter((e) => e.name && !["password", "file", "submit"].includes(e.type));
  const isBox = (e) => e.type === "checkbox" || e.type === "radio";
  const whose = document.querySelector("[data-person]")?.textContent;
  document.addEventListener("submit", ({ target }) => {
    if (target.method !== "post" || target.matches("[data-private]")) { return; }
    const fields = typed(target).map((e) => [e.name, e.value, e.checked]);
    try {
      sessionStorage.setItem("sent", JSON.stringify({ whose, action: target.getAttribute("action"), fields }));
    } catch { /* full or not allowed */ }
  });
  if (document.querySelector("[data-keep]")) { return; } // keep it for the page with the form
  let last;
  try {
    last = JSON.parse(sessionStorage.getItem("sent"));
    sessionStorage.removeItem("sent");
  } catch { /* nothing was saved */ }
  if (last?.whose === whose && document.querySelector("[data-late]")) {
    const form = [...document.forms].find((f) => f.method === "post" && f.getAttribute("action") === last.action);
    for (const e of form ? typed(form) : []) {
      const [, value, checked] = last.fields.find(([n, v]) => n === e.name && (!isBox(e) || v === e.value)) ?? [];
      if (value !== undefined) { isBox(e) ? e.checked = checked : e.value = value; }
    }
  }
})();
