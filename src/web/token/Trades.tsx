import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { usePages } from "../data/usePages.ts"
import { Amount } from "../parts/Amount.tsx"
import { Choice } from "../parts/Choice.tsx"
import { Units } from "../parts/Figure.tsx"
import { TimeOfDay, WalletLink } from "../parts/Links.tsx"
import { More } from "../parts/More.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because, shortAddress } from "../parts/words.ts"

type TradesAnswer = Answer<"GET /api/v1/tokens/:chain/:address/trades">
type Trade = TradesAnswer["data"][number]
type Denom = "usd" | "sol"

const EVERY_MS = 5000
const ROWS = 50

const denoms = [
  ["usd", "USD"],
  ["sol", "SOL"]
] as const
const sides = [
  ["", "Both"],
  ["buy", "Buys"],
  ["sell", "Sells"]
] as const

const columnsOf = (denom: Denom): ReadonlyArray<Column<Trade>> => [
  {
    name: "Time",
    cell: ({ slot, timeMs }) => <TimeOfDay atMs={timeMs} note={`, slot ${slot}`} />
  },
  { name: "Side", cell: ({ side }) => <span class={side === "buy" ? "up" : "down"}>{side}</span> },
  { name: "Wallet", cell: ({ wallet }) => <WalletLink wallet={wallet} /> },
  {
    name: "Amount",
    isNumber: true,
    cell: ({ legs: { token } }) => <Units amount={token.amount} decimals={token.decimals} />
  },
  {
    name: "Value",
    isNumber: true,
    cell: ({ volumeSol, volumeUsd }) => (
      <Amount of={denom === "usd" ? volumeUsd : volumeSol} unit={denom} why="the price of the other token is unknown" />
    )
  },
  {
    name: "Price",
    isNumber: true,
    cell: ({ priceSol, priceUsd }) => <Amount of={denom === "usd" ? priceUsd : priceSol} unit={denom} />
  },
  {
    name: "Venue",
    cell: ({ dex, isWhole, pool }) => (
      <span class="venue" title={pool ?? undefined}>
        {dex ?? (pool === null ? "–" : shortAddress(pool))}
        {!isWhole && <span class="soft"> part of a route</span>}
      </span>
    )
  }
]

const captionOf = ({ coverage, status }: TradesAnswer["meta"], pool: string): string => {
  const where = pool === "" ? "of all pools" : `of the pool ${shortAddress(pool)}`
  return `Newest first, ${where}; ${status}${because(coverage)}.`
}

/** Swaps of one token, newest first. Swaps of one pool unless `pool` is empty. */
export const Trades = ({ mint, pool }: { readonly mint: string; readonly pool: string }) => {
  const [denom, setDenom] = useState<Denom>("usd")
  const [side, setSide] = useState<(typeof sides)[number][0]>("")
  const pages = usePages(
    `trades ${mint} ${pool} ${side}`,
    (cursor, signal) =>
      call("GET /api/v1/tokens/:chain/:address/trades", {
        path: { chain: "solana", address: mint },
        query: { cursor, pool, side, limit: ROWS },
        signal
      }),
    ({ id }) => id,
    EVERY_MS
  )
  return (
    <Panel
      title="Trades"
      read={pages.read}
      everyMs={EVERY_MS}
      rows={ROWS}
      isWide
      controls={
        <div class="row">
          <Choice label="Unit of trades" options={denoms} value={denom} onChange={setDenom} />
          <Choice label="Side of trades" options={sides} value={side} onChange={setSide} />
        </div>
      }
    >
      {({ meta }) =>
        pages.items.length === 0 && pages.more === null ? (
          <Empty>No matching trade is stored.</Empty>
        ) : (
          <>
            <Table
              caption={captionOf(meta, pool)}
              columns={columnsOf(denom)}
              rows={pages.items}
              keyOf={({ id }) => id}
            />
            <More of={pages} />
          </>
        )
      }
    </Panel>
  )
}
