// The page of an invitation: shows the company's current legal texts, and lets the candidate accept them and go on.

const form = document.querySelector("#invitation");
const [status, texts, next, button] =
  ["[role=status]", ".texts", ".next", "button"].map(selector => form.querySelector(selector));
const { api, key } = form.dataset;
const NAMES = { privacy_policy: "Privacy policy", consent: "Consent" };
const STEPS = { invited: "Confirm", confirmed: "Start the interview" };

async function call(method, url, body) {
  const headers = { Authorization: `ActivationKey ${key}`, "Content-Type": "application/json" };
  const response = await fetch(url, { method, headers, cache: "no-store", body: body && JSON.stringify(body) });
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(answer.detail ?? Object.entries(answer).map(([field, messages]) => `${field}: ${messages.join(" ")}`).join("\n"));
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Texts are the company's: they are shown as text, and only an https URL becomes a link.
function wording(text, lang) {
  const url = /^https:\/\/\S+$/.test(text) && URL.canParse(text);
  const link = () => element("a", { href: text, rel: "noopener noreferrer", target: "_blank", textContent: text });
  return element("div", { className: "wording", lang, tabIndex: 0 }, url ? link() : text);
}

function legalText(one, language, isAccepted) {
  const lang = [language, "en", ...Object.keys(one.texts)].find(known => known in one.texts);
  const box = element("input", { type: "checkbox", required: one.is_required, checked: isAccepted, disabled: isAccepted });
  Object.assign(box.dataset, { kind: one.kind, version: one.version, language: lang });
  const version = element("small", {}, `version ${one.version}`);
  const accept = one.is_required ? " I accept it" : " I accept it (optional)";
  return element("section", {}, element("h2", {}, `${NAMES[one.kind] ?? one.kind} `, version),
    wording(one.texts[lang], lang), element("label", {}, box, accept));
}

async function show() {
  const candidate = await call("GET", `${api}/whoami/candidate/`);
  const [published, accepted] = await Promise.all([
    call("GET", `${candidate.company.resource_uri}legal/?current=true`),
    call("GET", `${candidate.resource_uri}consents/`),
  ]);
  const isAccepted = one => accepted.objects.some(({ kind, version }) => kind === one.kind && version === one.version);
  const sections = published.objects.map(one => legalText(one, candidate.project.support_lang, isAccepted(one)));
  texts.replaceChildren(...sections);
  const step = STEPS[candidate.status];
  status.textContent = `${candidate.company.name}: ${candidate.project.name}. ${candidate.first_name} ${candidate.last_name}, you are ${candidate.status}.`;
  button.textContent = step ?? "";
  next.hidden = !step;
  return candidate;
}

async function advance() {
  const { resource_uri: own } = candidate;
  for (const { dataset } of form.querySelectorAll("input:checked:enabled")) {
    const { kind, version, language } = dataset;
    await call("PUT", `${own}consents/${kind}/`, { version: Number(version), language });
  }
  if (form.password) await call("PATCH", own, { password: form.password.value });
  const { status: now } = await call("PATCH", `${own}status/advance/`);
  if (!form.password) return show();
  // The key has ended. From now on the candidate logs in.
  texts.replaceChildren();
  next.remove();
  status.textContent = `You are ${now}. Log in with your email address and password from now on.`;
}

async function attempt(step) {
  button.disabled = true;
  status.className = "";
  try {
    return await step();
  } catch (error) {
    status.className = "fails";
    status.textContent = error.message;
    status.scrollIntoView({ block: "nearest" });
  } finally {
    button.disabled = false;
  }
}

form.addEventListener("submit", event => {
  event.preventDefault();
  attempt(advance);
});
const candidate = await attempt(show);
