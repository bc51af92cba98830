import { CopyText } from "../parts/CopyText.tsx"

const COMMANDS = ["npm ci", "npm start"]

/** What a visitor without a session sees. */
export const SignedOut = () => (
  <section class="card welcome">
    <h1>Solana market data that says how well it is known</h1>
    <p>
      One HTTP API on your own machine: quotes exact to the unit, candles, wallets, alerts and funding. Every number
      says where it comes from, how old it is and what is missing. Without a node, Fathom follows a simulated market, so
      everything here is live from the first start.
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
