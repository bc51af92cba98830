/** The style sheet and the logo of the share pages, served from this service. */
import { Hash } from "effect"

/** The logo: a sounding line over water. */
export const sign = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img" aria-label="Fathom">
<rect width="32" height="32" rx="9" fill="#0b7a75"/>
<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round">
<path d="M5.5 9.5c1.75 1.9 3.5 1.9 5.25 0s3.5-1.9 5.25 0 3.5 1.9 5.25 0 3.5-1.9 5.25 0"/>
<path d="M9 16c1.75 1.6 3.5 1.6 5.25 0M17.75 16c1.75-1.6 3.5-1.6 5.25 0" stroke-opacity=".45"/>
<path d="M16 10.5v9.5"/>
</g>
<path d="M16 19l3 5.2a3.4 3.4 0 1 1-6 0z" fill="#ffd27a"/>
</svg>
`

/** The style sheet. */
export const css = `:root {
  color-scheme: light dark;
  --ground: #f3f5f4;
  --glow: #dcebe8;
  --card: #ffffff;
  --line: #e0e6e4;
  --ink: #10211f;
  --soft: #566a67;
  --accent: #0b7a75;
  --quiet: #f6f8f7;
  --shadow: 0 1px 2px rgb(16 33 31 / 6%), 0 18px 44px -18px rgb(16 33 31 / 22%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0b1413;
    --glow: #12312f;
    --card: #131f1e;
    --line: #243633;
    --ink: #ecf3f1;
    --soft: #9db2ae;
    --accent: #5fd0c5;
    --quiet: #182726;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 22px 54px -20px rgb(0 0 0 / 70%);
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: flex;
  flex-direction: column;
  padding: 0 max(1rem, env(safe-area-inset-right)) 0 max(1rem, env(safe-area-inset-left));
  background: radial-gradient(70rem 32rem at 50% -14rem, var(--glow), transparent) no-repeat var(--ground);
  color: var(--ink);
  font: 1rem/1.55 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: inherit; text-underline-offset: 0.18em; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
.top, .end { width: 100%; max-width: 42rem; margin-inline: auto; }
.top { padding: 1.25rem 0; }
.brand { display: inline-flex; align-items: center; gap: 0.6rem; font-weight: 650; letter-spacing: -0.01em; text-decoration: none; }
.brand img { width: 1.75rem; height: 1.75rem; display: block; }
main { width: 100%; max-width: 42rem; margin: auto; padding: 0.25rem 0 1.5rem; }
.card { overflow: hidden; background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem; box-shadow: var(--shadow); }
.call { padding: 1.5rem 1.5rem 1.75rem; }
.who { display: flex; align-items: center; gap: 0.8rem; min-width: 0; }
.who > div:last-child { min-width: 0; line-height: 1.35; }
.name { display: block; font-weight: 650; overflow-wrap: anywhere; }
.by { color: var(--soft); font-size: 0.875rem; overflow-wrap: anywhere; }
.face { flex: none; display: grid; grid-template: 100% / 100%; width: 2.75rem; height: 2.75rem; overflow: hidden; border-radius: 50%; color: #fff; font-weight: 650; }
.face > * { grid-area: 1 / 1; place-self: center; }
/* Stretched and not sized: a picture that never comes then leaves no broken one behind. */
.face > img { place-self: stretch; min-width: 0; min-height: 0; object-fit: cover; }
.coin { width: 3.25rem; height: 3.25rem; font-size: 1.2rem; border-radius: 1rem; }
.hue-0 { background: #0b7a75; } .hue-1 { background: #3d5a98; } .hue-2 { background: #7a4b94; } .hue-3 { background: #a8456b; }
.hue-4 { background: #a85c2c; } .hue-5 { background: #7a6a1f; } .hue-6 { background: #3f7a3a; } .hue-7 { background: #4a6572; }
.token { display: flex; align-items: center; gap: 0.9rem; margin-top: 1.5rem; min-width: 0; }
.token > div:last-child { min-width: 0; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.02em; overflow-wrap: anywhere; text-wrap: balance; }
.symbol { color: var(--accent); font-weight: 650; font-size: 0.9375rem; overflow-wrap: anywhere; }
.words { margin: 1.25rem 0 0; font-size: 1.1875rem; line-height: 1.55; white-space: pre-line; overflow-wrap: anywhere; }
dl { margin: 0; }
dt { color: var(--soft); font-size: 0.8125rem; }
dd { margin: 0.1rem 0 0; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.sums { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1px; background: var(--line); border-block: 1px solid var(--line); }
.sums > div { padding: 0.9rem 1.5rem; background: var(--quiet); }
.sums dd { font-size: 1.1875rem; letter-spacing: -0.01em; }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: 0.9rem 1.5rem; padding: 1.25rem 1.5rem 1.5rem; font-size: 0.9375rem; }
.facts dd { font-weight: 500; }
.facts code { font: 0.8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; user-select: all; }
.facts > .wide { grid-column: 1 / -1; }
.fine, .end { color: var(--soft); font-size: 0.8125rem; }
.fine { margin: 1rem 0.25rem 0; text-wrap: pretty; }
.end { margin-top: auto; padding: 0.5rem 0 calc(1.5rem + env(safe-area-inset-bottom)); }
.lost { padding: 3rem 1.5rem; text-align: center; }
.lost p:last-child { margin: 0.75rem auto 0; max-width: 26rem; color: var(--soft); text-wrap: balance; }
.code { color: var(--accent); font-weight: 650; letter-spacing: 0.06em; font-size: 0.875rem; margin: 0 0 0.5rem; }
@media (max-width: 30rem) {
  main { margin-block: 0; }
  .top { padding: 1rem 0 0.75rem; }
  .call { padding: 1.15rem 1.15rem 1.35rem; }
  .sums > div { padding: 0.75rem 1.15rem; }
  .facts { padding: 1.1rem 1.15rem 1.25rem; }
  .sums { grid-template-columns: 1fr 1fr; }
  .words { font-size: 1.0625rem; }
  h1 { font-size: 1.3125rem; }
}
@media print { body { background: none; } .card { box-shadow: none; } }
`

const version = (Hash.string(css + sign) >>> 0).toString(36)

/** Path of the style sheet. It changes with the content, so the response is immutable. */
export const cssPath = `/assets/callout-${version}.css` as const

/** Path of the logo. */
export const signPath = `/assets/fathom-${version}.svg` as const
