import { CopyText } from "./CopyText.tsx"

const COMMANDS = ["npm ci", "npm start"]

/** The first page of a visitor. */
export const SignedOut = () => (
  <section class="card welcome">
    <h1>Solana market data that says how well it is known</h1>
    <p>
      Quotes exact to the unit, candles, wallets, alerts and funding over one HTTP API that runs on your own machine.
      Every number carries its source, its age and what is missing. The default start follows a simulated market, so
      that everything here is alive before a node is configured.
    </p>
    <pre>
      <code>{COMMANDS.join("\n")}</code>
    </pre>
    <CopyText text={COMMANDS.join("\n")} what="the two commands" />
    <p>
      <a class="button" href="/sign-in">
        Sign in
      </a>{" "}
      <a href="/docs">Read the reference</a>
    </p>
  </section>
)
