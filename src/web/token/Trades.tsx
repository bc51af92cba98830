import { useEffect, useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useMarket } from "../data/useLive.ts"
import { usePages } from "../data/usePages.ts"
import { Amount } from "../parts/Amount.tsx"
import { Choice } from "../parts/Choice.tsx"
import { states, Units } from "../parts/Figure.tsx"
import { TimeOfDay, WalletLink } from "../parts/Links.tsx"
import { EMPTY_SO_FAR, More } from "../parts/More.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because, shortAddress } from "../parts/words.ts"

type TradesAnswer = Answer<"GET /api/v1/tokens/:chain/:address/trades">
type Trade = TradesAnswer["data"][number]
type Denom = "usd" | "sol"

/** Milliseconds between two reads, without and with the socket. */
const EVERY_MS = 5000
const LIVE_MS = 60_000
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

const sizes = [
  ["", "Any size"],
  ["100", "$100"],
  ["1000", "$1K"],
  ["10000", "$10K"]
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
    cell: ({ legs: { token } }) => <Units amount={token.amount} decimals={token.decimals} aligned />
  },
  {
    name: "Value",
    isNumber: true,
    cell: ({ volumeSol, volumeUsd }) => (
      <Amount
        of={denom === "usd" ? volumeUsd : volumeSol}
        unit={denom}
        aligned
        why="the price of the other token is unknown"
      />
    )
  },
  {
    name: "Price",
    isNumber: true,
    cell: ({ priceSol, priceUsd }) => <Amount of={denom === "usd" ? priceUsd : priceSol} unit={denom} priced />
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
  return `Newest first, ${where}; ${states[status]}${because(coverage)}.`
}

/** What the user wants to see. */
interface Filter {
  readonly side: (typeof sides)[number][0]
  /** Least value in dollars; empty for every trade. */
  readonly minUsd: (typeof sizes)[number][0]
  /** The only wallet; empty for all. */
  readonly wallet: string
}

const everything: Filter = { side: "", minUsd: "", wallet: "" }

/** True for a trade that the service would list with this filter. */
const passes = ({ side, volumeUsd, wallet }: Trade, filter: Filter): boolean =>
  (filter.side === "" || filter.side === side) &&
  (filter.wallet === "" || filter.wallet === wallet) &&
  (filter.minUsd === "" || (volumeUsd !== null && Number(volumeUsd) >= Number(filter.minUsd)))

/** Most trades of the socket that are shown before the list is read again. */
const MOST_NEW = 100

/** The list of trades with those that the socket brought since its last read. */
const useTrades = (mint: string, pool: string, filter: Filter) => {
  const key = `trades ${mint} ${pool} ${JSON.stringify(filter)}`
  const [fresh, setFresh] = useState<{ readonly key: string; readonly trades: ReadonlyArray<Trade> }>({
    key,
    trades: []
  })
  const isLive = useMarket({ channel: "trades", ...(pool === "" ? { mint } : { pool }) }, (event) => {
    if (event.type === "trade" && event.data.legs.token.mint === mint && passes(event.data, filter)) {
      const { data } = event
      setFresh((before) => ({
        key,
        trades: [data, ...(before.key === key ? before.trades : [])].slice(0, MOST_NEW)
      }))
    }
  })
  const pages = usePages(
    key,
    (cursor, signal) =>
      call("GET /api/v1/tokens/:chain/:address/trades", {
        path: { chain: "solana", address: mint },
        query: { cursor, pool, limit: ROWS, ...filter },
        signal
      }),
    ({ id }) => id,
    () => (isLive ? LIVE_MS : EVERY_MS)
  )
  const known = new Set(pages.items.map(({ id }) => id))
  const newer = fresh.key === key ? fresh.trades.filter(({ id }) => !known.has(id)) : []
  const { again, readAtMs } = pages.read
  const askedMs = useRef(0)
  useEffect(() => {
    // The socket brought more than is shown: only the list has the trades in between.
    const nowMs = Date.now()
    if (newer.length === MOST_NEW && nowMs - Math.max(askedMs.current, readAtMs ?? nowMs) >= EVERY_MS) {
      askedMs.current = nowMs
      again()
    }
  }, [fresh])
  const items = [...newer, ...pages.items].toSorted((a, b) => b.slot - a.slot || b.index - a.index)
  return { isLive, pages: { ...pages, items } }
}

/** Swaps of one token, newest first. Swaps of one pool unless `pool` is empty. */
export const Trades = ({ mint, pool }: { readonly mint: string; readonly pool: string }) => {
  const [denom, setDenom] = useState<Denom>("usd")
  const [filter, setFilter] = useState(everything)
  const [typed, setTyped] = useState("")
  const { isLive, pages } = useTrades(mint, pool, filter)
  const change = (part: Partial<Filter>) => setFilter((before) => ({ ...before, ...part }))
  const choose = (event: SubmitEvent) => {
    event.preventDefault()
    change({ wallet: typed.trim() })
  }
  return (
    <Panel
      title="Trades"
      read={pages.read}
      everyMs={EVERY_MS}
      isLive={isLive}
      rows={ROWS}
      isWide
      controls={
        <form class="row" onSubmit={choose}>
          <Choice label="Unit of trades" options={denoms} value={denom} onChange={setDenom} />
          <Choice label="Side of trades" options={sides} value={filter.side} onChange={(side) => change({ side })} />
          <Choice label="Least value" options={sizes} value={filter.minUsd} onChange={(minUsd) => change({ minUsd })} />
          <input
            class="wallet-filter"
            aria-label="Only this wallet"
            placeholder="Wallet"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onChange={() => change({ wallet: typed.trim() })}
          />
        </form>
      }
    >
      {({ meta }) =>
        pages.items.length === 0 && pages.more === null ? (
          <Empty>No matching trade is stored.</Empty>
        ) : (
          <>
            <Table
              isDense
              caption={captionOf(meta, pool)}
              columns={columnsOf(denom)}
              rows={pages.items}
              keyOf={({ id }) => id}
              empty={EMPTY_SO_FAR}
            />
            <More of={pages} />
          </>
        )
      }
    </Panel>
  )
}
