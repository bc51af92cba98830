import { useLocation } from "preact-iso"
import { useRead } from "../data/useRead.ts"
import type { Answer } from "../data/contract.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Facts } from "../parts/Facts.tsx"
import { tidyDecimal } from "../parts/numbers.ts"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { ageWords } from "../parts/words.ts"
import "../style/landing.css"

const EVERY_MS = 3000

const COMMANDS = ["npm ci", "npm start"]

const subjects = [
  [
    "Quotes",
    "One SOL, priced by the arithmetic of the program that will execute it, to the unit. Routes, exits, and streams that re-quote.",
    "/docs/spot.quote"
  ],
  [
    "Market",
    "Candles, trades, movers, launches with their first buyers, holders, risk signals.",
    "/docs/market.movement"
  ],
  [
    "Wallets",
    "Lots and profit of a wallet, its days, and a live tracker of the wallets you follow.",
    "/docs/wallets.positions"
  ],
  [
    "Alerts",
    "Price, volume, liquidity, a wallet's trade: in every open page, by webhook and over a socket.",
    "/docs/alerts.create"
  ]
] as const

/** A quote as the reference has it, with the keys that say how well it is known. */
const QUOTE = `{
  "inAmount": "1000000000",
  "outAmount": "1940725304883",
  "minOutAmount": "1931021678358",
  "priceImpactPct": 0.628754,
  "venues": ["pumpswap"],
  "stateSlot": 528478226,
  "stateAgeMs": 193,
  "engineTimeMs": 0.376
}`

type Source = Answer<"GET /freshness">["data"][number]

/** What the service says about itself; null where it does not know. */
const lookAt = (sources: ReadonlyArray<Source>) => {
  const decoding = sources.find(({ decoding: found }) => found !== undefined)?.decoding ?? null
  const chain = sources.find(({ source }) => source === "chain")
  // A service that no request has needed yet is neither current nor behind.
  const asked = sources.filter(({ failedAtMs, observedAtMs }) => failedAtMs !== null || observedAtMs !== null)
  return {
    slot: chain?.slot ?? null,
    lagMs: chain?.lagMs ?? null,
    venues: sources.find(({ programs }) => programs !== undefined)?.programs?.length ?? null,
    decoding,
    swaps: decoding === null ? null : decoding.reduce((sum, { swaps }) => sum + swaps, 0),
    asked: asked.length,
    current: asked.filter(({ status }) => status === "known").length
  }
}

type Decoded = NonNullable<ReturnType<typeof lookAt>["decoding"]>[number]

const columns: ReadonlyArray<Column<Decoded>> = [
  { name: "Venue", cell: ({ dex }) => dex },
  { name: "Swaps", isNumber: true, cell: ({ swaps }) => tidyDecimal(String(swaps)) },
  {
    name: "Confirmed",
    isNumber: true,
    cell: ({ confirmedShare }) => (confirmedShare === null ? "–" : `${Math.floor(1000 * confirmedShare) / 10} %`)
  }
]

const MOST_VENUES = 6

/** A live look at this service, from what it tells everybody. */
const RightNow = () => {
  const read = useRead("GET /freshness", {}, EVERY_MS)
  return (
    <Panel title="This service, right now" read={read} everyMs={EVERY_MS} rows={10}>
      {({ data }) => {
        const { asked, current, decoding, lagMs, slot, swaps, venues } = lookAt(data)
        return (
          <>
            <Facts
              of={[
                ["Newest slot", slot === null ? "–" : tidyDecimal(String(slot))],
                ["Heard", lagMs === null ? "–" : `${ageWords(lagMs)} ago`],
                ["Swaps in 10 min", swaps === null ? "–" : tidyDecimal(String(swaps))],
                ["Venues quoted", venues === null ? "–" : String(venues)],
                ["Sources current", `${current} of ${asked}`]
              ]}
            />
            <Table
              isDense
              caption="Swaps decoded in the last ten minutes. A swap is confirmed when the program's event or the balances of its vaults agree."
              columns={columns}
              rows={(decoding ?? []).toSorted((a, b) => b.swaps - a.swaps).slice(0, MOST_VENUES)}
              keyOf={({ dex }) => dex}
              empty="No swap has been seen yet."
            />
            <p class="soft">
              <a href="/status">Every source with its state</a>
            </p>
          </>
        )
      }}
    </Panel>
  )
}

/** What a visitor without a session sees: what Fathom is, and a live look at this service. */
export const SignedOut = () => {
  const { path } = useLocation()
  useTitle("Solana market data")
  return (
    <div class="landing">
      <section class="lead">
        <h1>Solana market data that says how well it is known</h1>
        <p>
          One HTTP API on your own machine: quotes exact to the unit, candles, wallets, alerts and funding. Every number
          says where it comes from, how old it is and what is missing. Without a node, Fathom follows a simulated
          market, so everything is live from the first start.
        </p>
        <p class="row">
          <a class="button" href="/sign-in">
            {path === "/" ? "Sign in" : "Sign in to see this page"}
          </a>
          <a href="/docs">Read the reference</a>
        </p>
      </section>
      <div class="pair">
        <RightNow />
        <section class="card">
          <h2>An answer</h2>
          <p class="soft">
            One SOL into a token, from <a href="/docs/spot.quote">the reference</a>, shortened. Amounts are whole units
            as text, so that nothing is rounded on the way.
          </p>
          <pre>
            <code>{QUOTE}</code>
          </pre>
        </section>
      </div>
      <ul class="subjects">
        {subjects.map(([name, words, href]) => (
          <li class="card" key={name}>
            <h2>
              <a href={href}>{name}</a>
            </h2>
            <p>{words}</p>
          </li>
        ))}
      </ul>
      <section class="card">
        <h2>Run your own</h2>
        <pre>
          <code>{COMMANDS.join("\n")}</code>
        </pre>
        <CopyText text={COMMANDS.join("\n")} what="the two commands" />
        <p class="soft">It prints a link that signs this browser in. Nothing here signs, sends or moves funds.</p>
      </section>
    </div>
  )
}
