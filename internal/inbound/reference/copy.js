// A button on each sample that copies it. Without scripts there is none, and
// nothing is missing: samples can be selected.
(() => {
  "use strict";

  const told = document.createElement("p");
  told.className = "told";
  told.setAttribute("role", "status");
  document.body.append(told);

  // Where the page did not come by https or from the own machine, a browser
  // has no clipboard for it, but copies what is selected.
  const copy = async (pre) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(pre.textContent);
    getSelection().selectAllChildren(pre);
    if (!document.execCommand("copy")) throw new Error("not copied");
    getSelection().removeAllRanges();
  };

  for (const panel of document.querySelectorAll(".panel")) {
    const pre = panel.querySelector("pre");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + pre.getAttribute("aria-label"));
    button.addEventListener("click", async () => {
      try {
        await copy(pre);
        told.textContent = button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        told.textContent = button.textContent = "Selected; copy it with the keyboard";
      }
      setTimeout(() => { button.textContent = "Copy"; told.textContent = ""; }, 3000);
    });
    panel.querySelector(".panel-title").append(button);
  }
})();
