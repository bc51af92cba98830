/** Trades and transfers of a wallet, page by page. */
import { useRef } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useTracker } from "../data/useLive.ts"
import { usePages } from "../data/usePages.ts"
import { Amount } from "../parts/Amount.tsx"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import type { Column } from "../parts/Table.tsx"
import { because, timeText } from "../parts/words.ts"

type TradesAnswer = Answer<"GET /api/v1/wallets/:wallet/trades">
type Trade = TradesAnswer["data"][number]
type Transfer = Answer<"GET /api/v1/wallets/:wallet/transfers">["data"][number]

const READ_MS = 20_000
/** Shortest time between two reads after the tracker reported trades. */
const SOON_MS = 3000
const ROWS = 50

const PRICE = "the price of the other token is unknown"

const tradeColumns: ReadonlyArray<Column<Trade>> = [
  { name: "Time", cell: ({ timeMs }) => <When atMs={timeMs} /> },
  { name: "Side", cell: ({ side }) => <span class={side === "buy" ? "up" : "down"}>{side}</span> },
  { name: "Token", cell: ({ legs: { token } }) => <TokenLink mint={token.mint} /> },
  {
    name: "Amount",
    isNumber: true,
    cell: ({ legs: { token } }) => <Units amount={token.amount} decimals={token.decimals} aligned />
  },
  { name: "Value", isNumber: true, cell: ({ volumeUsd }) => <Amount of={volumeUsd} unit="usd" why={PRICE} short /> },
  { name: "Price", isNumber: true, cell: ({ priceUsd }) => <Amount of={priceUsd} unit="usd" why={PRICE} priced /> },
  { name: "Venue", cell: ({ dex, pool }) => dex ?? (pool === null ? "several pools" : "–") }
]

const transferColumns: ReadonlyArray<Column<Transfer>> = [
  { name: "Time", cell: ({ timeMs }) => <When atMs={timeMs} /> },
  {
    name: "Direction",
    cell: ({ direction }) => <span class={direction === "in" ? "up" : "down"}>{direction}</span>
  },
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  {
    name: "Amount",
    isNumber: true,
    cell: ({ amount, decimals }) => <Units amount={amount} decimals={decimals} aligned />
  },
  {
    name: "From or to",
    cell: ({ direction, from, to }) => {
      const other = direction === "in" ? from : to
      return other === null ? "not known" : <WalletLink wallet={other} />
    }
  }
]

const captionOf = (meta: TradesAnswer["meta"] | undefined): string => {
  if (meta === undefined) {
    return "Newest first."
  }
  const from = meta.coveredFromMs === null ? "" : ` Recorded from ${timeText(meta.coveredFromMs)} on.`
  return `Newest first.${from}${meta.coverage.complete ? "" : ` Some may be missing${because(meta.coverage)}.`}`
}

/** Trades of the wallet. Those of a tracked wallet appear as they happen. */
export const WalletTrades = ({ isTracked, wallet }: { readonly wallet: string; readonly isTracked: boolean }) => {
  const readMs = useRef(0)
  const pages = usePages(
    `wallet trades ${wallet}`,
    (cursor, signal) =>
      call("GET /api/v1/wallets/:wallet/trades", { path: { wallet }, query: { cursor, limit: ROWS }, signal }),
    ({ id }) => id,
    READ_MS
  )
  useTracker(isTracked ? null : undefined, (event) => {
    if (event.type === "add" && event.trade.wallet === wallet && Date.now() > readMs.current + SOON_MS) {
      readMs.current = Date.now()
      pages.read.again()
    }
  })
  return (
    <PagedTable
      pages={pages}
      what="its trades"
      height={8}
      isDense
      caption={captionOf(pages.read.answer?.meta)}
      columns={tradeColumns}
      keyOf={({ id }) => id}
      empty="No trade of this wallet is stored."
    />
  )
}

/** What came to the wallet or left it without a trade. */
export const WalletTransfers = ({ wallet }: { readonly wallet: string }) => {
  const pages = usePages(
    `wallet transfers ${wallet}`,
    (cursor, signal) =>
      call("GET /api/v1/wallets/:wallet/transfers", { path: { wallet }, query: { cursor, limit: ROWS }, signal }),
    ({ id }) => id,
    READ_MS
  )
  return (
    <PagedTable
      pages={pages}
      what="its transfers"
      height={8}
      isDense
      caption="Newest first. Of each token they are recorded from the wallet's first trade in it on."
      columns={transferColumns}
      keyOf={({ id }) => id}
      empty="No transfer of this wallet is stored."
    />
  )
}
