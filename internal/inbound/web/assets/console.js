// What the console adds where scripts run; every page works without it.
(() => {
  const said = document.getElementById("said");
  const say = (text) => { if (said) { said.textContent = text; } };

  // Copy buttons stand beside texts that can be selected by hand as well.
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  const copy = async (element) => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch { // plain http on another host, or not allowed
      select(element);
      try { return document.execCommand("copy"); } catch { return false; }
    }
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    const label = button.querySelector("[data-copy-label]");
    const source = document.getElementById(button.dataset.copy);
    let timer;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const copied = await copy(source);
      label.textContent = copied ? "Copied" : "Selected";
      button.classList.toggle("copied", copied);
      say(copied ? "Copied." : "It is selected. Press Control and C, or Command and C, to copy it.");
      clearTimeout(timer);
      timer = setTimeout(() => { label.textContent = "Copy"; button.classList.remove("copied"); say(""); }, 2500);
    });
  }

  // A secret that was left must not come back with the page.
  addEventListener("pagehide", () => {
    for (const place of document.querySelectorAll("[data-secret]")) {
      place.textContent = "It was shown once and is gone.";
    }
  });

  // The address of a page that was the answer to a form becomes that of the
  // page after it, so that a reload does not send the form again.
  const then = document.querySelector("[data-then]");
  if (then) { history.replaceState(null, "", then.dataset.then); }

  // The answer to a second click would lack the secret that the first one
  // shows, or find gone what the first one deleted.
  let sent;
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-once]")) { return; }
    if (sent === event.target) { event.preventDefault(); }
    sent = event.target;
  });
  addEventListener("pageshow", () => { sent = undefined; });

  document.querySelector("[data-focus]")?.focus();

  // A question that htmx has put into this page takes the focus, and gives it
  // back when it is dismissed.
  const ask = document.getElementById("ask");
  let asked;
  const dismiss = () => { ask.replaceChildren(); asked?.focus(); };
  document.addEventListener("htmx:after:swap", (event) => {
    const link = event.target.closest?.("a[hx-target='#ask']");
    if (!ask || !link) { return; }
    const question = ask.firstElementChild;
    if (!question) { location.assign(link.href); return; } // no question came: show what did
    asked = link;
    question.focus();
    question.scrollIntoView({ block: "nearest" });
  });
  ask?.addEventListener("click", (event) => {
    if (event.target.closest("[data-dismiss]")) { event.preventDefault(); dismiss(); }
  });
  ask?.addEventListener("keydown", (event) => { if (event.key === "Escape") { dismiss(); } });
})();
