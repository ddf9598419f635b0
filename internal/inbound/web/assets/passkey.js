// A form with data-passkey asks the server for a challenge, lets the browser show a
// passkey or make one, and sends the answer with its other fields.
(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) { return; }

  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const named = (list) => (list ?? []).map((key) => ({ ...key, id: bytes(key.id) }));

  // What the server sends and gets is JSON, with bytes in base64url.
  const make = async (options) => {
    const key = await navigator.credentials.create({ publicKey: {
      ...options, challenge: bytes(options.challenge), user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: named(options.excludeCredentials),
    } });
    return { id: key.id, rawId: text(key.rawId), type: key.type, response: {
      clientDataJSON: text(key.response.clientDataJSON), attestationObject: text(key.response.attestationObject),
    } };
  };
  const show = async (options) => {
    const key = await navigator.credentials.get({ publicKey: {
      ...options, challenge: bytes(options.challenge), allowCredentials: named(options.allowCredentials),
    } });
    const { clientDataJSON, authenticatorData, signature, userHandle } = key.response;
    return { id: key.id, rawId: text(key.rawId), type: key.type, response: {
      clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature),
      ...(userHandle?.byteLength ? { userHandle: text(userHandle) } : {}),
    } };
  };

  const problems = {
    NotAllowedError: "No passkey was used. Try again when you are ready.",
    InvalidStateError: "This device already has a passkey for you.",
    SecurityError: "Passkeys do not work at this address. Open the page at the school’s own address.",
  };

  for (const element of document.querySelectorAll("[data-without-passkeys]")) { element.hidden = true; }
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const said = form.querySelector("[role=alert]");
    let busy = false;
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (busy) { return; }
      busy = true;
      said.hidden = true;
      try {
        const answer = await fetch(form.dataset.passkey, {
          method: "POST", body: new URLSearchParams({ for: form.dataset.for }),
        });
        if (answer.redirected) { location.replace(answer.url); return; } // to show who it is
        if (!answer.ok) { location.replace(location.href); return; } // the page says why
        const { publicKey } = await answer.json();
        form.elements.passkey.value = JSON.stringify(await (form.dataset.for === "add" ? make : show)(publicKey));
        form.submit();
      } catch (error) {
        said.textContent = problems[error.name] ?? "The passkey could not be used. Try again.";
        said.hidden = false;
      } finally {
        busy = false;
      }
    });
  }
})();
